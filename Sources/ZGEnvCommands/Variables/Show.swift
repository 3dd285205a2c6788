internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Vault

struct Show: Command {
    static let vaultUse = VaultUse(showsNamesOnly: true, picksProject: true)
    static let spec = CommandSpec(
        ["show"], "Show everything about a variable except its value",
        arguments: [VariableName.argument],
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        key, project: string
        records: [{
            \(VariableListing.variableFields); remoteId: string | null (the ID on Vercel)
            pushedVersion: number | null; pushedAt: time | null
            versions: [{ version: number; createdAt: time }]
        }]
        """

    private let key: String

    init(_ command: ParsedCommand) throws {
        key = try VariableName.argument(of: command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try VercelRefresh.runIfRequested(workspace)
        let index = try workspace.session.indexAsSeen(.everything)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = try RecordSelection.all(key, in: project, of: index)
        let now = workspace.context.now()
        let marks = try GroupMarks(in: index)
        let labels = IntegrationLabels(
            of: project,
            project.binding == nil
                ? nil
                : try VercelResponses(
                    workspace, keys: try workspace.session.keys(.index), index: index))
        return CommandResult(
            json: [
                "key": .string(key), "project": .string(project.name),
                "records": .array(records.map { json($0, project, index, marks, labels) }),
            ],
            text: records.map { text($0, project, index, marks, labels, now) }.joined(
                separator: "\n"))
    }

    private func versions(_ variable: Variable, _ index: VaultIndex) -> [StoredVersion] {
        let earlier = index.earlierVersions.filter { $0.variable == variable.id }
        return earlier + (index.currentVersions[variable.id].map { [$0] } ?? [])
    }

    private func json(
        _ variable: Variable, _ project: VaultProject, _ index: VaultIndex, _ marks: GroupMarks,
        _ labels: IntegrationLabels
    ) -> JSONValue {
        let remote = variable.remote
        let pushedAt = remote.flatMap { $0.pushedAt == 0 ? nil : Int64(clamping: $0.pushedAt) }
        return .object(
            VariableListing.members(VariableRow(variable, in: project), marks, labels) + [
                .init("remoteId", .string(orNull: remote?.id)),
                .init(
                    "pushedVersion",
                    .integer(orNull: remote.map { Int64(clamping: $0.pushedVersion) })),
                .init("pushedAt", .time(orNull: pushedAt)),
                .init(
                    "versions",
                    .array(
                        versions(variable, index).map {
                            [
                                "version": .integer(Int64(clamping: $0.version)),
                                "createdAt": .time(orNull: Int64(clamping: $0.createdAt)),
                            ]
                        })),
            ])
    }

    private func text(
        _ variable: Variable, _ project: VaultProject, _ index: VaultIndex, _ marks: GroupMarks,
        _ labels: IntegrationLabels, _ now: UInt64
    ) -> String {
        func age(_ time: UInt64) -> String {
            TimeText.age(of: Int64(clamping: time), at: Int64(clamping: now))
        }
        var lines = [
            ("Key", variable.name), ("Project", project.name),
            ("Scope", variable.attributes.scope.description),
            ("Type", variable.attributes.kind.name),
        ]
        if let kind = labels.kind(of: variable) {
            lines.append(("Managed", "by an integration (\(kind))"))
        }
        if let comment = variable.attributes.comment { lines.append(("Comment", comment)) }
        lines.append(("Changed", age(variable.updatedAt)))
        let list = versions(variable, index).map { "\($0.version) (\(age($0.createdAt)))" }
        lines.append(
            (
                "Versions",
                list.isEmpty ? "none, the vault has no value" : list.joined(separator: ", ")
            ))
        lines.append(("Sync", SyncState(of: variable).rawValue))
        if let remote = variable.remote {
            lines.append(("Vercel", "\(remote.id), version \(remote.pushedVersion)"))
            if remote.pushedAt > 0 { lines.append(("Pushed", age(remote.pushedAt))) }
        }
        if let live = SyncState.isLive(variable, in: project) {
            lines.append(("Live", live ? "yes" : "not yet"))
        }
        let command = marks.command(for: variable, in: project.name)
        if let reason = marks.reason(of: variable) {
            lines.append(("Group", "\(reason) (\(command))"))
        }
        return lines.map { title, value in
            DisplayText.padded(title, to: 10) + DisplayText.safe(value) + "\n"
        }.joined()
    }
}
