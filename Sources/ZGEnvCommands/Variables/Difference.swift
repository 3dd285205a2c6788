internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

struct Difference: Command {
    static let spec = CommandSpec(
        ["diff"], "Compare a .env file, or Vercel, with the vault",
        discussion: """
            Lists each key as added (only in the file), removed (only in the vault), changed, \
            same, or unreadable (the vault has no value). Never shows values. Asks for the \
            passphrase unless --names is given or the vault is unlocked. --remote compares with \
            Vercel instead of a file; without -t it compares every variable, with its type, scope \
            and comment.
            """,
        arguments: [
            ArgumentSpec("FILE", .optional, "The file, or - for stdin", completion: .file)
        ],
        options: [
            RemoteDifference.option, ScopeOptions.target, ScopeOptions.branch,
            PlaintextSource.Options.dialect, PlaintextSource.Options.expand,
            OptionSpec(flag: "names", "Compare only names, without the passphrase"),
            OptionSpec(flag: "exit-code", "Exit with 1 if anything differs or cannot be compared"),
        ],
        examples: [
            .init("zg-env diff .env -p web", "compare with the development variables"),
            .init(
                "zg-env diff .env.production -p web -t production --exit-code",
                "fail a script if production differs"),
            .init("zg-env diff --remote -p web", "compare all variables with Vercel"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        project: string; target: string | null; file: string | null
        \(DifferenceState.allCases.filter { $0 != .present }.map(\.rawValue).joined(separator: ", ")): [string]
        \(DifferenceState.present.rawValue)?: [string] (with --names); compared: boolean
        diagnostics?: [{ \(PlaintextSource.Finding.fields) }] (of the file)
        variables?: [{ (with --remote)
            \(JSONValue.entryFields); state: \(oneOf: DifferenceState.self); differing: [string]
        }]
        skipped?: [string]; \(HiddenProduction.fields)
        """

    private let remote: RemoteDifference?
    private let path: String?
    private let options: ScopeOptions
    private let reading: PlaintextSource.Options
    private let namesOnly: Bool
    private let failsOnDifference: Bool

    init(_ remote: RemoteDifference) {
        (self.remote, path, options) = (remote, nil, ScopeOptions(nil))
        reading = .init(dialect: nil, expands: false, isForVault: false)
        (namesOnly, failsOnDifference) = (false, false)
    }

    init(_ command: ParsedCommand) throws {
        remote =
            command.has(RemoteDifference.option.name) ? try RemoteDifference(command) : nil
        path = command.argument("FILE")
        options = ScopeOptions(command)
        reading = .init(
            dialect: command.choice("dialect"), expands: command.has("expand"), isForVault: false)
        namesOnly = command.has("names")
        failsOnDifference = command.has("exit-code")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if let remote { return try remote.run(in: workspace) }
        guard let path else {
            throw CommandError(
                .usage, "diff needs a file or --remote.",
                hint: "Run: zg-env diff FILE, or: zg-env diff --remote")
        }
        if path == "-" { try workspace.context.secretDescriptors.checkInput(for: "file") }
        let place = try options.place(workspace)
        var source = PlaintextSource(reading)
        try source.read(path)
        try source.report(workspace)
        let keys =
            try workspace.session.keys(namesOnly ? .index : .values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: namesOnly ? .listing : .currentValues)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = EffectiveVariables.inPlace(place, among: index.variables(of: project.id))
        let reader = namesOnly ? nil : try ValueReader.required(vault, index, keys)
        let arena = SecretArena()
        let difference = try FileDifference(
            keys: source.keys, records: records,
            isEqual: reader.map { reader in
                { number, record in
                    guard let old = try reader.currentValue(of: record, in: arena),
                        let new = source.value(of: source.keys[number])
                    else { return nil }
                    return old.equals(new)
                }
            })
        return result(difference, source, project, place.title, path, workspace)
    }

    private func result(
        _ difference: FileDifference, _ source: PlaintextSource, _ project: VaultProject,
        _ target: String, _ path: String, _ workspace: Workspace
    ) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(project.name)), .init("target", .string(target)),
            .init("file", .string(path)),
        ]
        for state in DifferenceState.allCases where state != .present || namesOnly {
            members.append(.init(state.rawValue, .strings(difference.keys(state))))
        }
        members.append(.init("compared", .bool(!namesOnly)))
        members.append(.init("diagnostics", .array(source.findings.map(\.json))))
        var table = Table([.init(""), .init("", canShrink: true)])
        for entry in difference.entries {
            table.append([entry.state.cell, .init(entry.key)])
        }
        return CommandResult(
            json: .object(members), text: TerminalStyle(workspace.context).text(table),
            failure: failsOnDifference
                ? DifferenceState.failure(
                    difference.differences.count, "\(path) and \(project.name)") : nil)
    }
}

extension DifferenceState {
    /// The first column of a table of differences.
    var cell: Table.Cell {
        switch self {
        case .same, .present: .init(rawValue, as: .dim)
        case .unreadable, .unlisted: .init(rawValue, as: .warning)
        case .added, .removed, .changed: .init(rawValue)
        }
    }

    /// Why a comparison with `--exit-code` fails; nil without differences.
    static func failure(_ count: Int, _ sides: String) -> CommandError? {
        if count == 0 { return nil }
        let differ = count == 1 ? "variable differs" : "variables differ"
        return CommandError(
            .failed, "\(count) \(differ) or cannot be compared between \(sides).")
    }
}
