internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import Vault

struct Export: Command {
    static let spec = CommandSpec(
        ["export"], "Write variables to stdout or a file",
        discussion: """
            Asks for the passphrase unless the vault is unlocked, and for confirmation before it \
            shows values on a terminal. Prefer zg-env run, which does not leave a file behind. The \
            output file is readable only by its owner; --merge keeps owner, mode and access \
            control list. The output is parsed again and compared with the original values before \
            it is written. A value that .env parsers disagree about is written for \
            motdotla/dotenv, with a warning; --dialect writes the file for another parser. \
            --all-projects writes a file for each project, target and branch into the new or empty \
            directory of -o: it asks first, checks every value, and then writes.
            """,
        options: [
            ScopeOptions.target, ScopeOptions.branch, ExportText.format,
            OptionSpec(
                "dialect", value: "D", "Write the .env file for parser D",
                form: .oneOf(DotEnvWriter.writableDialects.map(\.rawValue))),
            VariableName.option("only", "Write only these variables"),
            VariableName.option("except", "Leave these variables out"),
            OutputPath.option, OutputPath.force,
            OptionSpec(
                flag: "merge", "Update an existing .env file and keep its other lines"),
            PlaceValues.allowMissing,
            OptionSpec(
                flag: "all-projects", "Write files for all projects and targets to directory -o"),
        ],
        exclusive: [["force", "merge"], ["only", "except"], ["merge", "dialect"]]
            + ["project", "target", "branch", "only", "except", "force", "merge"].map {
                ["all-projects", $0]
            },
        examples: [
            .init("zg-env export -p web -t production -o .env.production", "write a .env file"),
            .init("zg-env export -p web --merge -o .env", "update an existing .env file"),
            .init("zg-env export -p web --format json", "print one JSON object"),
            .init(
                "zg-env export -p web --only API_KEY --dialect next",
                "write one variable for Next.js"),
            .init("zg-env export --all-projects -o everything", "write all values to files"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = """
        Without -o:
        NAME: string
        With -o or --dry-run:
        file: string | null; format: \(oneOf: DotEnvFormat.self); keys: [string]
        added?, changed?, unchanged?, kept?: [string] (with --merge); dryRun: boolean
        With --all-projects:
        directory: string; format: \(oneOf: DotEnvFormat.self)
        files: [{
            file, project, target: string; branch: string | null; keys: [string]; written: boolean
        }]
        dryRun: boolean
        """

    private let options: ScopeOptions
    private let format: DotEnvFormat
    private let dialect: DotEnvDialect?
    private let path: String?
    private let replaces: Bool
    private let merges: Bool
    private let only: Set<String>?
    private let except: Set<String>
    private let allowsMissing: Bool
    private let exportsAll: Bool

    init(_ command: ParsedCommand) throws {
        try OutputPath.checkOptions(command)
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
        exportsAll = command.has("all-projects")
        guard !exportsAll || path != nil else {
            throw CommandError(
                .usage, "--all-projects needs a directory.", hint: "Add -o DIR.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if merges { try checkMerge() }
        let printsJSON = workspace.options.json && !exportsAll
        guard dialect == nil || (format == .dotenv && !printsJSON) else {
            throw CommandError(
                .usage, "--dialect applies only to .env output.",
                hint: "Leave out --dialect, or --format and --json.")
        }
        if exportsAll, let path {
            return try ExportAll(
                workspace, to: path, format: format, for: dialect, allowsMissing: allowsMissing
            ).run()
        }
        if let path, !replaces, !merges, try workspace.context.files.exists(path) {
            throw CommandError(
                .conflict, "\(path) already exists.",
                hint: "Use --force to replace it, --merge to update it, or choose another file.")
        }
        if let path { try OutputPath.check(path, workspace) }
        let found = try PlaceValues(
            workspace, options, only: only, except: except, allowsMissing: allowsMissing)
        if let remark = try found.sharedVariablesNote(workspace) {
            workspace.context.warn("shared-not-here", remark)
        }
        guard let path else { return try show(found, workspace) }
        let lock =
            merges && !workspace.options.dryRun ? try MergedFile.lock(path, workspace) : nil
        defer { withExtendedLifetime(lock) {} }
        if merges, let merged = try MergedFile(path, values: found.values) {
            ExportText.warn(merged.unportable, remedy: Self.leaveOut, workspace)
            return try write(merged, found, workspace)
        }
        let text = try text(found, format, workspace)
        if !workspace.options.dryRun {
            try found.audit(workspace)
            try text.withBytes { try PrivateFile.write($0, to: path, replaces: replaces) }
            let count = DisplayText.count(found.values.count, "variable")
            workspace.note("Wrote \(count) to \(path) in plain text.")
        }
        return result(found, format, workspace)
    }

    private static let leaveOut = "Exclude the variable with --except NAME."

    /// Returns the result without values; its text is that of a dry run.
    private func result(
        _ found: PlaceValues, _ format: DotEnvFormat, _ workspace: Workspace
    ) -> CommandResult {
        CommandResult(
            json: [
                "file": .string(orNull: path), "format": .string(format.rawValue),
                "keys": .strings(found.values.map(\.name)),
                "dryRun": .bool(workspace.options.dryRun),
            ],
            text: workspace.options.dryRun
                ? found.values.map { DisplayText.safe($0.name) + "\n" }.joined() : "")
    }

    /// Writes the values in `format`; an error about variables gets a hint how to leave them out.
    private func text(
        _ found: PlaceValues, _ format: DotEnvFormat, _ workspace: Workspace
    ) throws -> ExportText {
        do {
            let text = try ExportText(format: format, for: dialect, values: found.values)
            ExportText.warn(
                text.unportable,
                remedy:
                    "Choose the parser with --dialect (next, node, compose), or exclude the variable with --except NAME.",
                workspace)
            return text
        } catch let error as DotEnvError {
            throw failure(error, found, format)
        }
    }

    /// Returns an error about all values that the format cannot represent.
    private func failure(
        _ first: DotEnvError, _ found: PlaceValues, _ format: DotEnvFormat
    ) -> CommandError {
        var failure = CommandError(mapping: first)
        guard let key = first.key else { return failure }
        var refusals = ExportText.refusals(format: format, for: dialect, values: found.values)
        // Only the verification found it.
        if !refusals.contains(where: { $0.key == key }) { refusals = [first] }
        var ways: [String] = []
        if refusals.count > 1 {
            failure.message = Self.reasons(refusals)
            let formats = DotEnvFormat.allCases.filter { format in
                refusals.allSatisfy { $0.formats.contains(format) }
            }
            if !formats.isEmpty {
                let names = formats.map(\.rawValue).joined(separator: ", ")
                ways.append("Formats that can contain them: \(names) (--format).")
            }
        } else {
            ways += [failure.hint].compactMap(\.self)
        }
        ways += [Self.dialects(for: found, besides: format, dialect)].compactMap(\.self)
        ways += [exclusion(of: Set(refusals.compactMap(\.key)), isAlone: ways.isEmpty)]
            .compactMap(\.self)
        failure.hint = ways.isEmpty ? nil : ways.joined(separator: " ")
        return failure
    }

    /// Lists the variables by the reason: `A, B: docker cannot represent a line break.`
    private static func reasons(_ refusals: [DotEnvError]) -> String {
        var reasons: [String] = []
        for refusal in refusals where !reasons.contains(refusal.reason) {
            reasons.append(refusal.reason)
        }
        return reasons.map { reason in
            let keys = refusals.filter { $0.reason == reason }.compactMap(\.key)
            return "\(keys.joined(separator: ", ")): \(reason)."
        }.joined(separator: " ")
    }

    /// Returns how to leave variables out; nil if none would remain of `--only`.
    private func exclusion(of keys: Set<String>, isAlone: Bool) -> String? {
        let start = isAlone ? "" : "Or "
        if let only {
            let rest = only.subtracting(keys).sorted().joined(separator: ",")
            return rest.isEmpty
                ? nil
                : "\(start)\(isAlone ? "Write" : "write") the others with --only \(word: rest)"
        }
        let them = keys.count == 1 ? "it" : "them"
        let all = keys.union(except).sorted().joined(separator: ",")
        return "\(start)\(isAlone ? "Leave" : "leave") \(them) out with --except \(word: all)"
    }

    /// Names the single parsers of `.env` files that the values can be written for, if not for the
    /// given one or for all; nil without any.
    private static func dialects(
        for found: PlaceValues, besides format: DotEnvFormat, _ dialect: DotEnvDialect?
    ) -> String? {
        guard format == .dotenv else { return nil }
        let others = DotEnvWriter.writableDialects.filter {
            $0 != dialect
                && (try? ExportText(format: .dotenv, for: $0, values: found.values)) != nil
        }
        return others.isEmpty
            ? nil
            : "Parsers that can read it: \(others.map(\.rawValue).joined(separator: ", ")) (--dialect)."
    }

    private func checkMerge() throws {
        guard path != nil else {
            throw CommandError(
                .usage, "--merge needs a file.", hint: "Add -o FILE.")
        }
        guard format == .dotenv else {
            throw CommandError(
                .usage, "--merge works only with .env files, not with \(format.rawValue).",
                hint: "Leave out --format, or replace the whole file with --force.")
        }
    }

    private func show(_ found: PlaceValues, _ workspace: Workspace) throws -> CommandResult {
        let format = workspace.options.json ? .json : self.format
        let text = try text(found, format, workspace)
        if workspace.options.dryRun { return result(found, format, workspace) }
        let output = workspace.context.output
        if TerminalDevice.isTerminal(output.descriptor), !found.values.isEmpty {
            let count = DisplayText.count(found.values.count, "variable")
            _ = try workspace.confirm(
                ["show \(count) of \(found.project.name) in plain text"],
                "Show values on this terminal?")
        }
        try found.audit(workspace)
        return CommandResult { try text.write(to: output) }
    }

    private func write(
        _ merged: consuming MergedFile, _ found: PlaceValues, _ workspace: Workspace
    ) throws -> CommandResult {
        let names = merged.names
        let result = CommandResult(
            json: [
                "file": .string(merged.path), "format": "dotenv",
                "keys": .strings(found.values.map(\.name)),
                "added": .strings(names.added), "changed": .strings(names.changed),
                "unchanged": .strings(names.unchanged), "kept": .strings(names.kept),
                "dryRun": .bool(workspace.options.dryRun),
            ],
            text: workspace.options.quiet
                ? ""
                : names.added.map { "added \(DisplayText.safe($0))\n" }.joined()
                    + names.changed.map { "changed \(DisplayText.safe($0))\n" }.joined())
        if workspace.options.dryRun { return result }
        guard !names.added.isEmpty || !names.changed.isEmpty else {
            workspace.note("\(merged.path) is already up to date.")
            return result
        }
        try found.audit(workspace)
        try merged.write()
        if merged.isReadableByAll {
            workspace.context.warn(
                "readable-by-all", "Every user can read \(merged.path); --merge keeps its mode.")
        }
        if merged.otherNameCount > 0 {
            workspace.context.warn(
                "hard-links",
                "\(merged.path) has \(DisplayText.count(merged.otherNameCount, "other name")) (hard links): the old content stays there."
            )
        }
        let count = DisplayText.count(names.added.count + names.changed.count, "variable")
        workspace.note("Wrote \(count) to \(merged.path) in plain text.")
        return result
    }
}
