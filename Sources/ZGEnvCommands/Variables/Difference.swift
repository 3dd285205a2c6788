internal import CommandLineKit

/// `diff`: how the vault stands against something else, without a value.
enum Difference: Command {
    static let spec = CommandSpec(
        ["diff"], "Compare the vault with the platform", section: "Variables",
        discussion: """
            Says of each key whether only the platform has it (added), only the vault (removed), or \
            both, differently (changed) or the same. A value that one side does not show is \
            unreadable. Without -t every record is compared, else what is seen in that target. Asks \
            for the passphrase, but not with --names. No value is shown.
            """,
        arguments: [ArgumentSpec("FILE", .optional, "The file", completion: .file)],
        options: [
            RemoteDifference.option, ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(flag: "names", "Compare names alone, without the passphrase"),
            OptionSpec(flag: "exit-code", "End with 1 where anything is not known to be the same"),
        ],
        examples: [
            .init("zg-env diff --remote -p web", "compare all records with the platform's"),
            .init("zg-env diff --remote -p web -t production --exit-code", "in a script"),
        ],
        exitCodes: [
            ExitCode.locked.rawValue, ExitCode.notFound.rawValue, ExitCode.unauthorized.rawValue,
            ExitCode.unavailable.rawValue,
        ])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        guard invocation.command.argument("FILE") == nil else {
            throw CommandError(
                .usage, "Comparing with a file is not there yet.",
                hint: "Compare with the platform: zg-env diff --remote")
        }
        guard invocation.command.has(RemoteDifference.option.name) else {
            throw CommandError(
                .usage, "Nothing is named to compare the vault with.",
                hint: "Compare with the platform: zg-env diff --remote")
        }
        return try RemoteDifference.run(invocation)
    }
}
