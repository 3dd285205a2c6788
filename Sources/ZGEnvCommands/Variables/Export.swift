internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import Vault

/// `export`: writes the values of one place in a format that other programs read.
struct Export: Command {
    static let spec = CommandSpec(
        ["export"], "Write variables as a file that other programs read", section: "Variables",
        discussion: """
            Asks for the passphrase, and once more before values are shown on a terminal. Prefer \
            zg-env run, which leaves no file behind. A file is for its owner alone. What is written \
            is read back and compared first. A value that readers of .env files disagree about is \
            written as motdotla/dotenv reads it, with a warning; --dialect writes the file for one \
            reader.
            """,
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "format", value: "FORMAT", "What to write",
                form: .oneOf(DotEnvFormat.allCases.map(\.rawValue))),
            OptionSpec(
                "dialect", value: "D", "Write the .env file for this reader alone",
                form: .oneOf(DotEnvWriter.writableDialects.map(\.rawValue))),
            OptionSpec(
                "only", value: "K", "Write these variables and no others", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(
                "except", value: "K", "Leave these variables out", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(
                "output", short: "o", value: "FILE", "Write to this file", completion: .file),
            OptionSpec(flag: "force", "Replace a file that is there"),
            OptionSpec(
                flag: "merge", "Put the values into a .env file that is there, and keep the rest"),
            PlaceValues.allowMissing,
        ],
        exclusive: [["force", "merge"], ["only", "except"], ["merge", "dialect"]],
        examples: [
            .init("zg-env export -p web -t production -o .env.production", "write a .env file"),
            .init("zg-env export -p web --merge -o .env", "bring a file up to date"),
            .init("zg-env export -p web --format json", "print one JSON object"),
            .init(
                "zg-env export -p web --only API_KEY --dialect next", "one variable, for Next.js"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let options: ScopeOptions
    private let format: DotEnvFormat
    private let dialect: DotEnvDialect?
    private let path: String?
    private let replaces: Bool
    private let merges: Bool
    private let only: Set<String>?
    private let except: Set<String>
    private let allowsMissing: Bool

    init(_ command: ParsedCommand) {
        options = ScopeOptions(command)
        format = command.choice("format") ?? .dotenv
        dialect = command.choice("dialect")
        path = command.value("output")
        replaces = command.has("force")
        merges = command.has("merge")
        let only = command.values("only")
        self.only = only.isEmpty ? nil : Set(only)
        except = Set(command.values("except"))
        allowsMissing = command.has("allow-missing")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if merges { try checkMerge() }
        guard dialect == nil || (format == .dotenv && !workspace.options.json) else {
            throw CommandError(
                .usage, "--dialect applies only to .env output.",
                hint: "Leave out --dialect, or --format and --json.")
        }
        if let path, !replaces, !merges, try workspace.context.files.exists(path) {
            throw CommandError(
                .conflict, "\(path) is there already.",
                hint: "It was left as it is. Say --force to replace it, or name another file.")
        }
        if let path { try ExportTarget.check(path, workspace) }
        let found = try PlaceValues(
            workspace, options, only: only, except: except, allowsMissing: allowsMissing)
        if let remark = try found.remarkOnShared(workspace) {
            workspace.context.warn("shared-not-here", remark)
        }
        guard let path else { return try show(found, workspace) }
        if merges, let merged = try MergedFile(path, values: found.values) {
            ExportText.warn(merged.unportable, remedy: Self.leaveOut, workspace)
            return try write(merged, found, workspace)
        }
        let text = try text(found, format, workspace)
        let result: JSONValue = [
            "file": .string(path), "format": .string(format.rawValue),
            "keys": .strings(found.values.map(\.name)),
            "dryRun": .bool(workspace.options.dryRun),
        ]
        if workspace.options.dryRun {
            return CommandResult(json: result, text: list(found.values))
        }
        try found.audit(workspace)
        try text.withBytes { try PrivateFile.write($0, to: path, replaces: replaces) }
        workspace.note("Wrote \(found.values.count) variables to \(path), in clear.")
        return CommandResult(json: result)
    }

    private static let leaveOut = "Leave such a variable out with --except NAME."

    /// Writes the values, and says what to do about one that cannot be written.
    private func text(
        _ found: PlaceValues, _ format: DotEnvFormat, _ workspace: Workspace
    ) throws -> ExportText {
        do {
            let text = try ExportText(format: format, for: dialect, values: found.values)
            ExportText.warn(
                text.unportable,
                remedy:
                    "Name the reader with --dialect (next, node, compose), or leave such a variable "
                    + "out with --except NAME.", workspace)
            return text
        } catch let error as DotEnvError {
            var failure = CommandError(mapping: error)
            if let key = error.key {
                let others = failure.hint.map { "\($0) " } ?? ""
                failure.hint = "\(others)Or leave it out: --except \(word: key)"
            }
            throw failure
        }
    }

    private func checkMerge() throws {
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
    private func list(_ values: [RevealedValue]) -> String {
        values.map { DisplayText.safe($0.name) + "\n" }.joined()
    }

    private func show(_ found: PlaceValues, _ workspace: Workspace) throws -> CommandResult {
        let format = workspace.options.json ? .json : self.format
        let text = try text(found, format, workspace)
        if workspace.options.dryRun {
            return CommandResult(
                json: [
                    "file": .null, "format": .string(format.rawValue),
                    "keys": .strings(found.values.map(\.name)), "dryRun": true,
                ], text: list(found.values))
        }
        let output = workspace.context.output
        if TerminalDevice.isTerminal(output.descriptor), !found.values.isEmpty {
            _ = try workspace.confirm(
                ["Show \(found.values.count) values of \(found.project.name), in clear"],
                "Show them on this terminal?")
        }
        try found.audit(workspace)
        return CommandResult { try text.write(to: output) }
    }

    private func write(
        _ merged: consuming MergedFile, _ found: PlaceValues, _ workspace: Workspace
    ) throws -> CommandResult {
        let result = CommandResult(
            json: [
                "file": .string(merged.path), "format": "dotenv",
                "keys": .strings(found.values.map(\.name)),
                "added": .strings(merged.added), "changed": .strings(merged.changed),
                "unchanged": .strings(merged.unchanged), "kept": .strings(merged.kept),
                "dryRun": .bool(workspace.options.dryRun),
            ],
            text: workspace.options.quiet
                ? ""
                : merged.added.map { "added \(DisplayText.safe($0))\n" }.joined()
                    + merged.changed.map { "changed \(DisplayText.safe($0))\n" }.joined())
        if workspace.options.dryRun { return result }
        guard !merged.added.isEmpty || !merged.changed.isEmpty else {
            workspace.note("\(merged.path) has these values already; it was left as it is.")
            return result
        }
        try found.audit(workspace)
        try merged.write()
        workspace.note(
            "Wrote \(merged.added.count + merged.changed.count) variables to \(merged.path), in clear."
        )
        return result
    }
}
