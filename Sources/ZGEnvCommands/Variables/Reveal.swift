internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

struct Reveal: Command {
    static let vaultUse = VaultUse(picksProject: true)
    static let spec = CommandSpec(
        ["reveal"], "Print the value of a variable",
        discussion: """
            Asks for the passphrase even while the vault is unlocked (see the reveal-from-cache \
            setting). For one key, prints its value, with a newline only on a terminal; for \
            several keys, or with --format, prints names and values. --copy uses wl-copy, xclip or \
            xsel, and clears the clipboard after the time in the clipboard-seconds setting. A \
            clipboard manager may keep the value longer. --remote cannot read sensitive variables. \
            --version takes a number from zg-env history, and also works for removed variables.
            """,
        arguments: [VariableName.arguments],
        options: [
            ScopeOptions.target, ScopeOptions.branch, RemoteReveal.option,
            OptionSpec(
                "version", value: "N", "Print version N instead of the current one",
                form: .integer(1...Int.max)),
            OptionSpec(
                "format", value: "FORMAT", "Print names and values in this format",
                form: .oneOf(DotEnvFormat.allCases.map(\.rawValue))),
            OptionSpec(
                flag: "copy", "Copy the value to the clipboard, clear it later, and print nothing"),
        ],
        exclusive: [
            ["version", "remote"], ["version", "target"], ["version", "branch"],
            ["format", "copy"],
        ],
        examples: [
            .init("zg-env reveal DATABASE_URL -p web -t production", "print one value"),
            .init(
                "zg-env reveal DATABASE_URL -p web --copy", "copy one value to the clipboard"),
            .init("zg-env reveal USER PASSWORD -p web --format json", "print one JSON object"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        variables: [{ \(JSONValue.entryFields); version: number | null; value: string }]
        With --copy:
        \(ClipboardCopy.fields)
        With --dry-run:
        keys: [string]; dryRun: true
        With --copy and --dry-run:
        key: string; copied: false; dryRun: true
        """

    private let names: [String]
    private let number: UInt64?
    private let options: ScopeOptions
    private let isRemote: Bool
    private let copies: Bool
    /// The format of names and values; nil prints one value alone.
    private let format: DotEnvFormat?

    /// Copies the value of a variable in one place of a scope.
    init(copying key: String, in scope: Scope) {
        names = [key]
        options = ScopeOptions(placeIn: scope)
        (number, isRemote, copies, format) = (nil, false, true, nil)
    }

    init(_ command: ParsedCommand) throws {
        names = VariableName.arguments(of: command)
        for name in names { try VariableName.check(name) }
        number = command.integer("version").map { UInt64($0) }
        guard number == nil || names.count == 1 else {
            throw CommandError(.usage, "--version takes exactly one key.")
        }
        options = ScopeOptions(command)
        isRemote = command.has("remote")
        copies = command.has("copy")
        format = command.choice("format") ?? (names.count == 1 ? nil : .dotenv)
        guard !command.has("format") || !command.has("json") else {
            throw CommandError(
                .usage, "--format does not apply to the output of --json.",
                hint: "Leave out one of them.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let copying = try copies ? ClipboardCopy(of: names, workspace) : nil
        let place = options.isEmpty ? nil : try options.place(workspace)
        let fromCache = try Settings(workspace.context).isOn(.revealFromCache)
        let resolver = ProjectResolver(workspace)
        _ = try resolver.reference()
        let keys = try workspace.session.keys(.values, asking: fromCache ? .ifNeeded : .always) {
            guard !isRemote else { return }
            _ = try currentRecords(try resolver.existing(in: $0), $0, place)
        }
        let arena = SecretArena()
        if isRemote {
            let remote = try RemoteReveal.values(of: names, in: place, into: arena, workspace)
            return try printOrCopy(
                remote.values, of: remote.project, from: "Vercel: ",
                seen: try workspace.session.table().metadata, copying, workspace)
        }
        let vault = try workspace.session.opened()
        let index = try workspace.session.index(
            number == nil ? .valuesOnly : .everything, with: keys, of: resolver.existing(in:))
        let project = try resolver.existing(in: index)
        let records =
            try number.map { number in
                try RecordSelection.having(version: number, of: names[0], in: project, of: index)
                    .prefix(1).map { ($0.record, Optional($0.version)) }
            } ?? currentRecords(project, index, place).map { ($0, nil) }
        let reader = try ValueReader.required(vault, index, keys)
        let values = try records.map { record, version in
            if let version {
                return RevealedValue(
                    try reader.value(of: record, version, in: arena), of: record,
                    version: version.version)
            }
            guard let value = try reader.currentValue(of: record, in: arena) else {
                throw CommandError(
                    .notFound,
                    "The vault has no value for \(record.name): Vercel did not reveal it.",
                    hint: "Set a value with: zg-env set \(word: record.name)")
            }
            return RevealedValue(value, of: record)
        }
        return try printOrCopy(
            values, of: project.name, seen: index.metadata, copying, workspace)
    }

    /// Writes the audit log entry, then prints or copies the values.
    private func printOrCopy(
        _ values: [RevealedValue], of project: String, from source: String = "",
        seen: IndexMetadata, _ copying: ClipboardCopy?, _ workspace: Workspace
    ) throws -> CommandResult {
        try copying?.check(values[0])
        if workspace.options.dryRun {
            let names = values.map(\.name)
            let list = DisplayText.safe(names.joined(separator: ", "))
            return copying == nil
                ? CommandResult(
                    json: ["keys": .strings(names), "dryRun": true], text: "Would show \(list).\n")
                : CommandResult(
                    json: ["key": .string(names[0]), "copied": false, "dryRun": true],
                    text: "Would copy \(list).\n")
        }
        let text =
            workspace.options.json ? nil : try format.map { try lines(values, $0, workspace) }
        let places = Set(values.map(\.scope.description)).sorted()
        try workspace.audit(
            AuditEntry.Outcome.givenOut, values.map(\.name), project: project,
            place: source + places.joined(separator: "; "), seen: seen)
        if let copying { return try copying.copy(values[0]) }
        let output = workspace.context.output
        if workspace.options.json {
            return CommandResult { try RevealedValue.writeJSON(values, to: output) }
        }
        guard let text else {
            return CommandResult {
                try values[0].value.withBytes { try output.write($0) }
                if TerminalDevice.isTerminal(output.descriptor) { try output.write("\n") }
            }
        }
        return CommandResult { try text.write(to: output) }
    }

    /// Returns the names and values in a format.
    private func lines(
        _ values: [RevealedValue], _ format: DotEnvFormat, _ workspace: Workspace
    ) throws -> ExportText {
        let remedy = "Use --format json, or reveal one key at a time without --format."
        do {
            let text = try ExportText(format: format, values: values)
            ExportText.warn(text.unportable, remedy: remedy, workspace)
            return text
        } catch let error as DotEnvError {
            var failure = CommandError(mapping: error)
            failure.hint = remedy
            throw failure
        }
    }

    /// Returns the current record of each key. The history of a removed one is not in a listing.
    private func currentRecords(
        _ project: VaultProject, _ index: VaultIndex, _ place: ValueTarget?
    ) throws -> [Variable] {
        try number == nil ? names.map { try record($0, project, index, place) } : []
    }

    /// Returns the record that applies in `place`, or the only record of the key.
    private func record(
        _ name: String, _ project: VaultProject, _ index: VaultIndex,
        _ place: ValueTarget?
    ) throws -> Variable {
        if let place {
            let records = try RecordSelection.all(name, in: project, of: index)
            if let found = EffectiveVariables.inPlace(place, among: records).first { return found }
        }
        return try RecordSelection.one(name, in: project, of: index, options)
    }
}
