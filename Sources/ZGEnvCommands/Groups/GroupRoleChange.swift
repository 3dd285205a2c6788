internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `group role`: changes what a member may do.
struct GroupRoleChange: Command {
    static let spec = CommandSpec(
        ["group", "role"], "Change what a member of a group may do",
        discussion: "Reducing a member's rights creates new keys.",
        arguments: [
            ArgumentSpec("WHO", .one, "A name, or the first 4 or more digits of a member ID"),
            ArgumentSpec("ROLE", .one, "The new role", form: .oneOf(GroupRole.names)),
        ],
        options: [GroupOptions.group],
        exitCodes: ExitCode.ofVercel)
    static let fields =
        "group?: string; role?: \(oneOf: GroupRole.names); changed: [string]; dryRun: boolean"

    private let who: String
    private let role: GroupRole
    private let group: String?

    init(_ command: ParsedCommand) {
        who = command.required("WHO")
        role = GroupRole(name: command.required("ROLE")) ?? .reader
        group = command.value("group")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        guard !workspace.options.namesProject else {
            throw CommandError(
                .usage, "A role applies to all projects that a member may use: leave out -p.")
        }
        let access = try GroupAccess.open(group, workspace)
        // Another admin may have changed the role.
        try GroupSync.syncAndReport(access, workspace)
        let membership = access.membership
        try membership.requireAdmin("can change roles")
        let member = try access.member(named: who)
        let changed = member.role == role ? [] : [member]
        let plan = changed.map {
            "make \($0.name) (\($0.member.hexadecimal.prefix(8))"
                + ($0.member == membership.member ? ", this vault" : "")
                + ") \(role.name) in place of \($0.role.name)"
        }
        if changed.isEmpty {
            workspace.note("\(member.name) is already \(role.name) of \(membership.name).")
        }
        guard !changed.isEmpty, try workspace.confirm(plan, "Change the role of \(who)?") else {
            return CommandResult(
                json: ["changed": .array([]), "dryRun": .bool(workspace.options.dryRun)],
                text: DisplayText.lines(plan, after: "Would "))
        }
        try GroupSync.syncAndReport(access, workspace)
        let ids = changed.map(\.member)
        try access.publishEntry(about: [member.name, role.name]) { view in
            EntryDraft(
                roles: ids.compactMap { id in
                    guard let old = view.chain.headStates.first?.members[id]?.rights else {
                        return nil
                    }
                    let new = MemberRights(role: role, limit: role == .admin ? nil : old.limit)
                    return RoleChange(
                        member: id, rights: new,
                        cut: new.isAtLeast(old) ? nil : view.cut(of: id))
                })
        }
        try GroupSync.syncAndReport(access, workspace)
        workspace.note("\(member.name) is now \(role.name) of \(membership.name).")
        return CommandResult(json: [
            "group": .string(membership.name), "role": .string(role.name),
            "changed": .array(changed.map { .string($0.name) }), "dryRun": false,
        ])
    }
}
