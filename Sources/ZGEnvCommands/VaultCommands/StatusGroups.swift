internal import CommandLineKit
internal import DotEnv
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// The groups of the vault for `status`: the last sync, what waits, and what needs a decision.
struct StatusGroups {
    private struct Group {
        let membership: GroupMembership
        let syncedAt: UInt64?
        let waitingCount: Int
        let adminCount: Int
    }

    private var groups: [Group] = []
    private let marked: [(variable: Variable, reason: String)]
    private let marks: GroupMarks
    private let index: VaultIndex
    private let now: Int64

    /// - Parameter index: With the whole journal.
    init(_ index: VaultIndex, _ workspace: Workspace) throws {
        self.index = index
        now = Int64(clamping: workspace.context.now())
        let marks = try GroupMarks(in: index)
        self.marks = marks
        marked = index.variables.compactMap { variable in
            marks.reason(of: variable).map { (variable, $0) }
        }.sorted {
            ($0.variable.name, $0.variable.attributes.scope.description)
                < ($1.variable.name, $1.variable.attributes.scope.description)
        }
        let memberships = try GroupMembership.all(in: index)
        if memberships.isEmpty { return }
        let times = try SyncTimes(workspace)
        let outgoing = try index.groupEntries(.outgoingChange).map { try OutgoingChange($0).group }
        groups = memberships.map { membership in
            Group(
                membership: membership, syncedAt: times[membership.group],
                waitingCount: outgoing.count { $0 == membership.group },
                adminCount: membership.people.count { $0.isActive && $0.role == .admin })
        }
    }

    static let fields = """
        groups: null | [{
            group: string; standing: \(oneOf: GroupMembership.Standing.allCases.map { "\($0)" })
            syncedAt: time | null; waiting, admins: number
        }]
        contested, offered, toAccept: null | [{
            project: string; \(JSONValue.entryFields); reason, command: string
        }]
        """

    /// The members that are null while the index is locked.
    static let unknownMembers = ["groups", "contested", "offered", "toAccept"]

    var members: [JSONValue.Member] {
        [
            .init(
                "groups",
                .array(
                    groups.map { group in
                        [
                            "group": .string(group.membership.name),
                            "standing": .string("\(group.membership.standing)"),
                            "syncedAt": .time(
                                orNull: group.syncedAt.map { Int64(clamping: $0) }),
                            "waiting": .integer(Int64(group.waitingCount)),
                            "admins": .integer(Int64(group.adminCount)),
                        ]
                    })),
            .init("contested", entries(.contested)), .init("offered", entries(.offered)),
            .init("toAccept", entries(.toAccept)),
        ]
    }

    private func entries(_ mark: GroupMarks.Mark) -> JSONValue {
        .array(marked.filter { marks.mark(of: $0.variable) == mark }.map(entry))
    }

    private func entry(_ variable: Variable, _ reason: String) -> JSONValue {
        let project = index.project(variable.project)?.name ?? ""
        return .object(
            [.init("project", .string(project)), .init("key", .string(variable.name))]
                + variable.attributes.scope.members + [
                    .init("reason", .string(reason)),
                    .init("command", .string(command(variable))),
                ])
    }

    private func command(_ variable: Variable) -> String {
        let project = index.project(variable.project)?.name ?? ""
        return marks.command(for: variable, in: project)
    }

    var text: String {
        var lines: [String] = []
        for group in groups {
            var line = "Group     \(group.membership.name): "
            switch group.membership.standing {
            case .invited: line += "not admitted yet (zg-env sync)"
            case .ended, .left: line += "you are no longer a member"
            case .active:
                line +=
                    group.syncedAt.map {
                        "synced \(TimeText.age(of: Int64(clamping: $0), at: now))"
                    } ?? "not synced on this machine yet"
                if group.waitingCount > 0 {
                    line += ", \(WaitingChanges.text(group.waitingCount)) (zg-env sync)"
                }
                if group.adminCount == 1 { line += ", only one admin" }
            }
            lines.append(line)
        }
        if !marked.isEmpty { lines.append("To be decided:") }
        for (variable, reason) in marked {
            let state = marks.isContested(variable) ? "contested, " : ""
            lines.append("  \(command(variable))  (\(state)\(reason))")
        }
        return DisplayText.lines(lines)
    }
}
