import CommandLineKit

/// A program with every kind of command that the kit must express.
enum Fixture {
    static let target = OptionSpec(
        "target", short: "t", value: "T", "Choose the targets", repeatable: true,
        commaSeparated: true, completion: .dynamic(.target))

    static let globals: [OptionSpec] = [
        OptionSpec(
            "vault", value: "FILE", "Use this vault", environment: "TOOL_VAULT", completion: .file),
        OptionSpec(
            "project", short: "p", value: "NAME", "Choose the project",
            environment: "TOOL_PROJECT", completion: .dynamic(.project)),
        OptionSpec(flag: "json", "Print JSON"),
        OptionSpec(flag: "quiet", short: "q", "Say less"),
        OptionSpec(flag: "yes", short: "y", "Answer every question with yes"),
        OptionSpec(flag: "dry-run", "Stop after the plan"),
        OptionSpec(
            "passphrase-fd", value: "N", "Read the passphrase from this descriptor",
            form: .integer(0...1_048_576)),
    ]

    static let set = CommandSpec(
        ["set"], "Create or change a variable",
        discussion: """
            The value is read from a hidden prompt on a terminal, otherwise from the standard input.

              printf %s "$VALUE" | tool set KEY
            """,
        arguments: [ArgumentSpec("KEY", .one, "Name of the variable", completion: .nothing)],
        options: [
            target,
            OptionSpec("branch", short: "b", value: "NAME", "Choose the git branch"),
            OptionSpec(
                "type", value: "TYPE", "Choose how the platform keeps it",
                form: .oneOf(["encrypted", "sensitive", "plain"])),
            OptionSpec("comment", value: "TEXT", "Note what it is for", allowsEmpty: true),
            OptionSpec("from-file", value: "FILE", "Read the value", completion: .file),
            OptionSpec("generate", value: "SPEC", "Make a random value"),
            OptionSpec("timeout", value: "TIME", "Wait no longer", form: .duration),
            OptionSpec(flag: "secret-flag", "Hidden", hidden: true),
        ],
        exclusive: [["from-file", "generate"]],
        examples: [CommandSpec.Example("tool set API_KEY", "Ask for the value")],
        exitCodes: [5])

    static let commands: [CommandSpec] = [
        CommandSpec(
            ["list"], "List variables",
            arguments: [ArgumentSpec("PATTERN", .optional, "Part of the name")],
            options: [target, OptionSpec("stale", value: "TIME", "Unchanged", form: .duration)],
            aliases: [["ls"]]),
        set,
        CommandSpec(
            ["reveal"], "Print values",
            arguments: [
                ArgumentSpec("KEY", .oneOrMore, "Names", completion: .dynamic(.variable))
            ],
            options: [
                OptionSpec("version", value: "N", "This version", form: .integer(1...Int.max))
            ]),
        CommandSpec(
            ["rename"], "Rename a variable",
            arguments: [
                ArgumentSpec("KEY", .one, "Old name"), ArgumentSpec("NEW", .one, "New name"),
            ]),
        CommandSpec(
            ["run"], "Run a command with variables",
            arguments: [ArgumentSpec("CMD", .restAfterDashes, "What to run")],
            options: [target, OptionSpec(flag: "override", "Let the vault win")]),
        CommandSpec(
            ["history"], "Show versions",
            arguments: [ArgumentSpec("KEY", .one, "Name")],
            options: [
                OptionSpec("limit", value: "N", "At most this many", form: .integer(1...1000))
            ]),
        CommandSpec(
            ["history", "prune"], "Remove old versions",
            arguments: [ArgumentSpec("KEY", .one, "Name")]),
        CommandSpec(
            ["slot", "add", "file"], "Add a key file",
            arguments: [ArgumentSpec("PATH", .one, "Key file", completion: .file)],
            options: [OptionSpec(flag: "values", "Open values too")]),
        CommandSpec(["slot", "list"], "List slots"),
        CommandSpec(
            ["deployment", "list"], "List deployments",
            options: [target, OptionSpec(flag: "failed", "Failed ones only")]),
        CommandSpec(
            ["deployment", "promote"], "Make a deployment current",
            arguments: [ArgumentSpec("ID", .one, "Which", completion: .dynamic(.deployment))],
            exitCodes: [9]),
        CommandSpec(
            ["watch"], "Watch deployments",
            options: [
                OptionSpec(
                    "project", short: "p", value: "NAME", "Watch this project", repeatable: true,
                    completion: .dynamic(.project))
            ]),
        CommandSpec(
            ["move"], "Move things",
            arguments: [
                ArgumentSpec("SOURCE", .oneOrMore, "From"),
                ArgumentSpec("TARGET", .one, "To", form: .oneOf(["here", "there"])),
            ]),
        CommandSpec.completionCallback,
    ]

    static let program = ProgramSpec(
        name: "tool", version: "1.2.3", summary: "A tool for tests",
        discussion: "It keeps nothing.",
        firstSteps: [CommandSpec.Example("tool set API_KEY", "Store a value")],
        globalOptions: globals,
        sections: [
            ProgramSpec.Section(
                "Variables", commands.filter { !["slot", "deployment"].contains($0.path[0]) }),
            ProgramSpec.Section("Vault", commands.filter { $0.path[0] == "slot" }),
            ProgramSpec.Section("Platform", commands.filter { $0.path[0] == "deployment" }),
        ],
        groups: [
            ProgramSpec.Group(["deployment"], "Look at deployments"),
            ProgramSpec.Group(["slot"], "What opens the vault"),
        ],
        exitCodes: [
            ProgramSpec.ExitCode(0, "done", common: true),
            ProgramSpec.ExitCode(2, "wrong arguments", common: true),
            ProgramSpec.ExitCode(5, "exists already"),
            ProgramSpec.ExitCode(9, "the deployment failed"),
        ],
        variables: [ProgramSpec.Variable("NO_COLOR", "No colours")])

    static let parser = ArgumentParser(program)

    /// The command that arguments parse to.
    static func command(_ arguments: [String]) throws -> ParsedCommand {
        guard case .command(let command) = try parser.parse(arguments) else {
            throw NoCommand()
        }
        return command
    }

    /// The error that arguments end in, or nil.
    static func failure(_ arguments: [String]) -> UsageError? {
        do throws(UsageError) {
            _ = try parser.parse(arguments)
            return nil
        } catch {
            return error
        }
    }

    struct NoCommand: Error {}
}
