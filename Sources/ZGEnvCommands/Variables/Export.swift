internal import CommandLineKit
internal import DotEnv
internal import Vault

/// `export`: writes the values of one place in a format that other programs read.
enum Export: Command {
    static let spec = CommandSpec(
        ["export"], "Write variables as a file that other programs read", section: "Variables",
        discussion: """
            Asks for the passphrase, and once more before values are shown on a terminal. Prefer \
            zg-env run, which leaves no file behind. A file is for its owner alone. What is written \
            is read back and compared first.
            """,
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "format", value: "FORMAT", "What to write",
                form: .oneOf(DotEnvFormat.allCases.map(\.rawValue))),
            OptionSpec(
                "output", short: "o", value: "FILE", "Write to this file", completion: .file),
            OptionSpec(flag: "force", "Replace a file that is there"),
            OptionSpec(
                flag: "merge", "Put the values into a .env file that is there, and keep the rest"),
            PlaceValues.allowMissing,
        ],
        exclusive: [["force", "merge"]],
        examples: [
            .init("zg-env export -p web -t production -o .env.production", "write a .env file"),
            .init("zg-env export -p web --merge -o .env", "bring a file up to date"),
            .init("zg-env export -p web --format json", "print one JSON object"),
        ],
        exitCodes: [ExitCode.conflict.rawValue] + ExitCode.ofOpening)

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let command = invocation.command
        let format = command.value("format").flatMap { DotEnvFormat(rawValue: $0) } ?? .dotenv
        let path = command.value("output")
        let merges = command.has("merge")
        if merges { try checkMerge(path, format) }
        if let path, !command.has("force"), !merges, try invocation.context.files.exists(path) {
            throw CommandError(
                .conflict, "\(DisplayText.safe(path)) is there already.",
                hint: "It was left as it is. Say --force to replace it, or name another file.")
        }
        if let path { try ExportTarget.check(path, invocation) }
        let found = try PlaceValues(invocation, allowsMissing: command.has("allow-missing"))
        if let remark = try found.remarkOnShared(invocation) {
            invocation.context.warn("shared-not-here", remark)
        }
        guard let path else { return try show(found, format, invocation) }
        if merges, let merged = try MergedFile(path, values: found.values) {
            return try write(merged, found, invocation)
        }
        let text = try ExportText(format: format, values: found.values)
        let result: JSONValue = [
            "file": .string(path), "format": .string(format.rawValue),
            "keys": .strings(found.values.map(\.name)),
            "dryRun": .bool(invocation.options.dryRun),
        ]
        if invocation.options.dryRun {
            return CommandResult(json: result, text: list(found.values))
        }
        try found.audit(invocation)
        try text.withBytes { try PrivateFile.write($0, to: path, replaces: command.has("force")) }
        try invocation.note("Wrote \(found.values.count) variables to \(path), in clear.")
        return CommandResult(json: result)
    }

    private static func checkMerge(_ path: String?, _ format: DotEnvFormat) throws {
        guard path != nil else {
            throw CommandError(
                .usage, "--merge changes a file, and none is named.", hint: "Name it with -o FILE.")
        }
        guard format == .dotenv else {
            throw CommandError(
                .usage, "Only a .env file can be changed in place, not \(format.rawValue).",
                hint: "Leave out --format, or replace the whole file with --force.")
        }
    }

    /// The names alone, for a run that gives nothing out.
    private static func list(_ values: [RevealedValue]) -> String {
        values.map { DisplayText.safe($0.name) + "\n" }.joined()
    }

    private static func show(
        _ found: PlaceValues, _ format: DotEnvFormat, _ invocation: Invocation
    ) throws -> CommandResult {
        let format = invocation.options.json ? .json : format
        let text = try ExportText(format: format, values: found.values)
        if invocation.options.dryRun {
            return CommandResult(
                json: [
                    "file": .null, "format": .string(format.rawValue),
                    "keys": .strings(found.values.map(\.name)), "dryRun": true,
                ], text: list(found.values))
        }
        let output = invocation.context.output
        if TerminalDevice.isTerminal(output.descriptor), !found.values.isEmpty {
            _ = try Confirmation.ask(
                invocation,
                plan: ["Show \(found.values.count) values of \(found.project.name), in clear"],
                question: "Show them on this terminal?")
        }
        try found.audit(invocation)
        return CommandResult { try text.write(to: output) }
    }

    private static func write(
        _ merged: consuming MergedFile, _ found: PlaceValues, _ invocation: Invocation
    ) throws -> CommandResult {
        let result = CommandResult(
            json: [
                "file": .string(merged.path), "format": "dotenv",
                "keys": .strings(found.values.map(\.name)),
                "added": .strings(merged.added), "changed": .strings(merged.changed),
                "unchanged": .strings(merged.unchanged), "kept": .strings(merged.kept),
                "dryRun": .bool(invocation.options.dryRun),
            ],
            text: invocation.options.quiet
                ? ""
                : merged.added.map { "added \(DisplayText.safe($0))\n" }.joined()
                    + merged.changed.map { "changed \(DisplayText.safe($0))\n" }.joined())
        if invocation.options.dryRun { return result }
        guard !merged.added.isEmpty || !merged.changed.isEmpty else {
            try invocation.note("\(merged.path) has these values already; it was left as it is.")
            return result
        }
        try found.audit(invocation)
        try merged.write()
        try invocation.note(
            "Wrote \(merged.added.count + merged.changed.count) variables to \(merged.path), in clear."
        )
        return result
    }
}
