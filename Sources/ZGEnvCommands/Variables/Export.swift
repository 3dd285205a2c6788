internal import CommandLineKit
internal import DotEnv
internal import Vault

/// `export`: writes the values of one place in a format that other programs read.
enum Export: Command {
    static let spec = CommandSpec(
        ["export"], "Write variables as a file that other programs read", section: "Variables",
        discussion: """
            Asks for the passphrase. Prefer zg-env run, which leaves no file behind. A file is for \
            its owner alone. What is written is read back and compared first.
            """,
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "format", value: "FORMAT", "What to write",
                form: .oneOf(DotEnvFormat.allCases.map(\.rawValue))),
            OptionSpec(
                "output", short: "o", value: "FILE", "Write to this file", completion: .file),
            OptionSpec(flag: "force", "Replace a file that is there"),
            PlaceValues.allowMissing,
        ],
        examples: [
            .init("zg-env export -p web -t production -o .env.production", "write a .env file"),
            .init("zg-env export -p web --format json", "print one JSON object"),
        ],
        exitCodes: [
            ExitCode.locked.rawValue, ExitCode.notFound.rawValue, ExitCode.conflict.rawValue,
        ])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let command = invocation.command
        let format = command.value("format").flatMap { DotEnvFormat(rawValue: $0) } ?? .dotenv
        let path = command.value("output")
        let output = invocation.context.output
        if let path, !command.has("force"), try invocation.context.files.exists(path) {
            throw CommandError(
                .conflict, "\(DisplayText.safe(path)) is there already.",
                hint: "It was left as it is. Say --force to replace it, or name another file.")
        }
        if let path { try ExportTarget.check(path, invocation) }
        let found = try PlaceValues(invocation, allowsMissing: command.has("allow-missing"))
        let json = invocation.options.json && path == nil
        let text = try ExportText(format: json ? .json : format, values: found.values)
        guard let path else {
            try found.audit(invocation)
            return CommandResult { try text.write(to: output) }
        }
        let result: JSONValue = [
            "file": .string(path), "format": .string(format.rawValue),
            "keys": .strings(found.values.map(\.variable.name)),
            "dryRun": .bool(invocation.options.dryRun),
        ]
        if invocation.options.dryRun { return CommandResult(json: result) }
        try found.audit(invocation)
        try text.withBytes { try PrivateFile.write($0, to: path, replaces: command.has("force")) }
        try invocation.note("Wrote \(found.values.count) variables to \(path), in clear.")
        return CommandResult(json: result)
    }
}
