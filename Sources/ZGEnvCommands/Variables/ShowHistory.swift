internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

struct ShowHistory: Command {
    static let vaultUse = VaultUse(showsNamesOnly: true, picksProject: true)
    static let spec = CommandSpec(
        ["history"], "Show the versions of a variable, without values",
        arguments: [VariableName.argument], options: [ScopeOptions.target, ScopeOptions.branch],
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        key, project: string
        versions: [{
            version: number; createdAt: time; current, removed, pushed: boolean
            values: [{ \(Scope.fields); current, pushed: boolean; deletedAt: time | null }]
        }]
        """

    private let key: String
    private let options: ScopeOptions

    init(of key: String) {
        self.key = key
        options = ScopeOptions(nil)
    }

    init(_ command: ParsedCommand) throws {
        key = try VariableName.argument(of: command)
        options = ScopeOptions(command)
    }

    /// A version in one record.
    private struct Held {
        let record: Variable
        let version: StoredVersion

        var isLast: Bool { version.version == record.currentVersion }
        var isCurrent: Bool { isLast && record.isLive }
        var isPushed: Bool { version.version == record.vercelVersion }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.index(.everything)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = index.records(of: project.id, named: key).filter { !$0.isTrace }
        guard !records.isEmpty else { throw RecordSelection.notFound(key, project, index) }
        let wanted = try options.scope()
        let chosen = records.filter { record in
            wanted.map { $0.overlaps(record.attributes.scope) } ?? true
        }
        if let wanted, chosen.isEmpty {
            throw CommandError(
                .notFound, "\(key) in \(project.name) has no version for \(wanted.description).",
                hint: "See all of them with: zg-env history \(word: key) -p \(word: project.name)")
        }
        let held = chosen.flatMap { record in
            History(of: record, in: index).versions.map { Held(record: record, version: $0) }
        }
        let series = Dictionary(grouping: held, by: \.version.version)
            .sorted { $0.key < $1.key }.map(\.value)
        let now = Int64(clamping: workspace.context.now())
        var table = Table([
            .init("VERSION", trailing: true), .init("CREATED"), .init("TARGETS", canShrink: true),
            .init(""),
        ])
        for held in series.reversed() {
            table.append([
                .init("\(held[0].version.version)"),
                .init(TimeText.age(of: Int64(clamping: Self.createdAt(held)), at: now)),
                .init(Self.targets(held)), .init(Self.state(held), as: .dim),
            ])
        }
        return CommandResult(
            json: [
                "key": .string(key), "project": .string(project.name),
                "versions": .array(series.map(Self.json)),
            ], text: TerminalStyle(workspace.context).text(table))
    }

    private static func createdAt(_ held: [Held]) -> UInt64 {
        held.map(\.version.createdAt).min() ?? 0
    }

    /// The targets that have the version now; without any, those of the records that had it.
    private static func targets(_ held: [Held]) -> String {
        let current = held.filter(\.isCurrent)
        return RecordSelection.scopes(of: (current.isEmpty ? held : current).map(\.record))
            .map(\.description).joined(separator: "; ")
    }

    private static func state(_ held: [Held]) -> String {
        var words: [String] = []
        if held.contains(where: \.isCurrent) {
            words.append("current")
        } else if held.contains(where: \.isLast) {
            words.append("removed")
        }
        if held.contains(where: \.isPushed) { words.append("pushed") }
        return words.joined(separator: ", ")
    }

    private static func json(_ held: [Held]) -> JSONValue {
        let isCurrent = held.contains(where: \.isCurrent)
        let values = held.map { held -> JSONValue in
            let deletedAt = held.record.deletedAt.map { Int64(clamping: $0) }
            return .object(
                held.record.attributes.scope.members + [
                    .init("current", .bool(held.isCurrent)), .init("pushed", .bool(held.isPushed)),
                    .init("deletedAt", .time(orNull: deletedAt)),
                ])
        }
        return [
            "version": .integer(Int64(clamping: held[0].version.version)),
            "createdAt": .time(orNull: Int64(clamping: createdAt(held))),
            "current": .bool(isCurrent),
            "removed": .bool(!isCurrent && held.contains(where: \.isLast)),
            "pushed": .bool(held.contains(where: \.isPushed)), "values": .array(values),
        ]
    }
}
