internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// Formats records for `list`, `show` and others, never with their values.
enum VariableListing {
    static let variableFields = """
        key, type: string; \(Scope.fields); comment: string | null
        version: number | null (null without a value); createdAt, updatedAt: time | null
        sync: \(oneOf: SyncState.self) | null; live: boolean | null (null if unknown)
        removed: boolean; shared: boolean (whether it is a shared variable of the Vercel team)
        integration?: string | null; \(GroupMarks.fields)
        """

    static func members(
        _ row: VariableRow, _ marks: GroupMarks, _ labels: IntegrationLabels
    ) -> [JSONValue.Member] {
        let variable = row.variable
        return [
            .init("key", .string(variable.name)),
            .init("type", .string(variable.attributes.kind.name)),
        ] + row.scope.members + [
            .init("comment", .string(orNull: variable.attributes.comment)),
            .init(
                "version",
                variable.currentVersion == 0
                    ? .null : .integer(Int64(clamping: variable.currentVersion))),
            .init("createdAt", .time(orNull: Int64(clamping: row.createdAt))),
            .init("updatedAt", .time(orNull: Int64(clamping: row.updatedAt))),
            .init("sync", .string(row.state.rawValue)), .init("live", .bool(orNull: row.live)),
            .init("removed", .bool(!variable.isLive)), .init("shared", false),
            .init("integration", .string(orNull: labels.kind(of: variable))),
        ] + marks.members(of: variable)
    }

    static let fields = """
        project: string; asOf, sharedAsOf: time | null; variables: [{ \(variableFields) }]
        \(HiddenProduction.fields)
        """

    /// Returns a project with its records and the shared variables it uses.
    static func json(
        _ variables: [Variable], _ shared: SharedListing, of project: VaultProject,
        _ marks: GroupMarks, _ labels: IntegrationLabels, hidden: Int?
    ) -> JSONValue {
        [
            "project": .string(project.name),
            "asOf": .time(orNull: project.seenAt == 0 ? nil : Int64(clamping: project.seenAt)),
            "sharedAsOf": shared.asOf,
            "variables": .array(
                VariableRow.rows(of: variables, in: project, marks, labels)
                    .map { .object(members($0, marks, labels)) } + shared.json),
            "hiddenProduction": .integer(orNull: hidden.map(Int64.init)),
        ]
    }

    static func table(
        _ variables: [Variable], in project: VaultProject, _ marks: GroupMarks,
        _ labels: IntegrationLabels, now: UInt64
    ) -> Table {
        let hasMarks = marks.concern(variables)
        var columns: [Table.Column] = [
            .init("KEY", canShrink: true), .init("TARGETS", canShrink: true), .init("TYPE"),
            .init("UPDATED"), .init("VERSION", trailing: true), .init("SYNC"), .init("LIVE"),
        ]
        if hasMarks { columns.append(.init("GROUP")) }
        var table = Table(columns)
        for row in VariableRow.rows(of: variables, in: project, marks, labels) {
            let (variable, state, live) = (row.variable, row.state, row.live)
            var cells: [Table.Cell] = [
                .init(variable.name), .init(row.scope.description),
                .init(
                    variable.attributes.kind.name
                        + (labels.kind(of: variable) == nil ? "" : ", integration")),
                .init(
                    TimeText.age(
                        of: Int64(clamping: row.updatedAt), at: Int64(clamping: now)), as: .dim
                ),
                .init(variable.currentVersion == 0 ? "-" : "\(variable.currentVersion)"),
                variable.isRemovedEverywhere
                    ? .init("removed", as: .dim) : .init(state.rawValue, as: role(of: state)),
                .init(
                    live.map { $0 ? "live" : "not yet" }
                        ?? (isForProduction(row, in: project) ? "unknown" : ""),
                    as: live == false ? .warning : live == nil ? .dim : .plain),
            ]
            if hasMarks { cells.append(marks.cell(of: variable)) }
            table.append(cells)
        }
        return table
    }

    /// Whether it makes sense to ask if the variable is live.
    private static func isForProduction(_ row: VariableRow, in project: VaultProject) -> Bool {
        row.variable.isLive && project.binding != nil
            && row.scope.targets.contains(.production)
    }

    private static func role(of state: SyncState) -> Style.Role {
        switch state {
        case .synced: .good
        case .local, .ahead, .behind: .warning
        case .diverged, .unreadable: .bad
        }
    }
}
