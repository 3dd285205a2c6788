internal import CommandLineKit
internal import Sealing
internal import Vault

/// `run`: replaces itself by a program that has the variables in its environment.
enum Run: Command {
    static let spec = CommandSpec(
        ["run"], "Run a program with the variables in its environment", section: "Variables",
        discussion: """
            zg-env becomes the program: same process, same descriptors, its exit status and signals. \
            What the shell has set wins and is named. zg-env's own failures are 125; 126 means that \
            the program cannot be executed, 127 that there is none.
            """,
        arguments: [ArgumentSpec("CMD", .restAfterDashes, "The program and its arguments")],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "only", value: "K", "Hand over these variables and no others", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(
                "require", value: "K", "Fail unless these variables are there", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(flag: "override", "Let the vault win over what the shell has set"),
            OptionSpec(flag: "no-inherit", "Hand over nothing of the shell's environment"),
            PlaceValues.allowMissing,
        ],
        examples: [
            .init("zg-env run -- npm run dev", "run with the variables of development"),
            .init("zg-env run -p web -t production -- ./migrate", "run with those of production"),
        ],
        exitCodes: [125, 126, 127])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let command = invocation.command
        let only = command.values("only")
        let found = try PlaceValues(
            invocation, only: only.isEmpty ? nil : Set(only),
            allowsMissing: command.has("allow-missing"))
        let present = Set(found.values.map(\.variable.name))
        if let missing = command.values("require").first(where: { !present.contains($0) }) {
            throw CommandError(
                .notFound,
                "\(DisplayText.safe(missing)) is required, and \(DisplayText.safe(found.project.name)) has no value for it here."
            )
        }
        for value in found.values where value.variable.name.utf8.contains(0x3D) {
            throw CommandError(
                .usage,
                "\(DisplayText.safe(value.variable.name)) is no name for an environment variable.")
        }
        try checkLengths(found.values)
        let environment = try ChildEnvironment(
            inherited: command.has("no-inherit") ? [] : invocation.context.rawEnvironment,
            values: found.values, overrides: command.has("override"))
        try tellShadowed(environment, invocation)
        if invocation.options.dryRun {
            return CommandResult(
                json: [
                    "keys": .strings(found.values.map(\.variable.name)), "dryRun": true,
                ], text: found.values.map { DisplayText.safe($0.variable.name) + "\n" }.joined())
        }
        try found.audit(invocation, except: environment.keptFromShell)
        try invocation.context.output.flush()
        try invocation.context.messages.flush()
        let program = ProgramReplacement(
            invocation.context.arguments(from: command.restIndex),
            path: invocation.context.variable("PATH"))
        let failure = program.execute(
            environment: environment, hardening: invocation.context.hardening)
        // The line before says that values went out; where this one cannot be written, that stands.
        try? found.audit(
            invocation, except: environment.keptFromShell, outcome: AuditEntry.Outcome.failed)
        throw RunFailure(status: failure.status, message: failure.message)
    }

    /// The kernel takes no entry of an environment that is longer than 32 pages of 4 KiB.
    private static func checkLengths(_ values: [RevealedValue]) throws {
        let limit = 128 << 10
        for value in values
        where value.variable.name.utf8.count + 1 + value.value.count + 1 > limit {
            let name = DisplayText.safe(value.variable.name)
            throw CommandError(
                .usage, "The value of \(name) is longer than an environment can hold (128 KiB).",
                hint: "Name the variables to hand over with --only, and read this one with reveal.")
        }
    }

    private static func tellShadowed(
        _ environment: ChildEnvironment, _ invocation: Invocation
    ) throws {
        func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }
        if !environment.keptFromShell.isEmpty {
            try invocation.note(
                "Set by the shell, and kept: \(list(environment.keptFromShell)) (--override turns that round)."
            )
        }
        if !environment.overridden.isEmpty {
            try invocation.note(
                "Set by the shell, and overridden: \(list(environment.overridden)).")
        }
    }
}

/// A program that `run` could not become: exit status 126 or 127.
struct RunFailure: Error {
    let status: Int32
    let message: String
}
