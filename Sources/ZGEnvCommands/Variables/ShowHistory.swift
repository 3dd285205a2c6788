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
        records: [{
            \(Scope.fields); deletedAt: time | null
            versions: [{ version: number; createdAt: time; current, pushed: boolean }]
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

    func run(in workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.index(.everything)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = index.variables.filter {
            $0.project == project.id && $0.name == key && !$0.isTrace
        }
        guard !records.isEmpty else { throw RecordSelection.notFound(key, project, index) }
        let wanted = try options.scope()
        let histories = records.filter { record in
            wanted.map { $0.overlaps(record.attributes.scope) } ?? true
        }.map { History(of: $0, in: index) }
        if let wanted, histories.isEmpty {
            throw CommandError(
                .notFound, "\(key) in \(project.name) has no version for \(wanted.description).",
                hint: "See all of them with: zg-env history \(word: key) -p \(word: project.name)")
        }
        let now = Int64(clamping: workspace.context.now())
        var table = Table([
            .init("VERSION", trailing: true), .init("CREATED"), .init("TARGETS", canShrink: true),
            .init(""),
        ])
        for history in histories {
            for version in history.versions.reversed() {
                table.append([
                    .init("\(version.version)"),
                    .init(TimeText.age(of: Int64(clamping: version.createdAt), at: now)),
                    .init(history.variable.attributes.scope.description),
                    .init(state(of: version, history.variable), as: .dim),
                ])
            }
        }
        return CommandResult(
            json: [
                "key": .string(key), "project": .string(project.name),
                "records": .array(histories.map(json)),
            ], text: TerminalStyle(workspace.context).text(table))
    }

    private func state(of version: StoredVersion, _ variable: Variable) -> String {
        var words: [String] = []
        if version.version == variable.currentVersion {
            words.append(variable.isLive ? "current" : "removed")
        }
        if version.version == variable.vercelVersion { words.append("pushed") }
        return words.joined(separator: ", ")
    }

    private func json(_ history: History) -> JSONValue {
        let variable = history.variable
        let versions = history.versions.map { version -> JSONValue in
            [
                "version": .integer(Int64(clamping: version.version)),
                "createdAt": .time(orNull: Int64(clamping: version.createdAt)),
                "current": .bool(variable.isLive && version.version == variable.currentVersion),
                "pushed": .bool(version.version == variable.vercelVersion),
            ]
        }
        let deletedAt = variable.deletedAt.map { Int64(clamping: $0) }
        return .object(
            variable.attributes.scope.members + [
                .init("deletedAt", .time(orNull: deletedAt)), .init("versions", .array(versions)),
            ])
    }
}
