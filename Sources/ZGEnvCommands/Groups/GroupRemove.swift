internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `group remove`: removes a person or one of their machines from a group.
struct GroupRemove: Command {
    static let spec = CommandSpec(
        ["group", "remove"], "Remove a person or machine from a group",
        discussion: """
            Creates new keys, so that the removed member cannot read anything written from now on. \
            They keep what they could read before: replace those values. zg-env does not revoke \
            their access to the place or to Vercel. An open invite for that name is canceled.
            """,
        arguments: [
            ArgumentSpec("WHO", .one, "A name, or the first 4 or more digits of a member ID")
        ],
        options: [GroupOptions.group],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        group?: string; removed: [string]; voidInvites?: number; exposed?: number (values to rotate)
        dryRun: boolean
        """

    private let who: String
    private let group: String?

    init(_ command: ParsedCommand) {
        who = command.required("WHO")
        group = command.value("group")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let access = try GroupAccess.open(group, workspace)
        let membership = access.membership
        try membership.requireAdmin("can remove members")
        let invites = try OpenInvite.all(
            of: membership.group, at: workspace.context.now(), workspace
        ).filter { $0.name == who }
        let member: GroupMembership.Person?
        do { member = try access.member(named: who) } catch let error as CommandError {
            guard error.code == .notFound, !invites.isEmpty else { throw error }
            member = nil
        }
        if member?.member == membership.member {
            throw CommandError(
                .usage, "\(who) is this vault.", hint: "To leave the group, run: zg-env group leave"
            )
        }
        let exposed = try member.map { try access.knownCount(of: $0.member) } ?? 0
        let plan = plan(member, invites, exposed, membership)
        guard try workspace.confirm(plan, "Remove \(who)?") else {
            return CommandResult(
                json: ["removed": .array([]), "dryRun": true],
                text: DisplayText.lines(plan, after: "Would "))
        }
        try GroupSync.syncAndReport(access, workspace)
        if member == nil, access.membership.people.named(who).contains(where: \.isActive) {
            throw CommandError(
                .conflict,
                "\(who) joined \(membership.name) while the command was running. Nothing was "
                    + "removed.",
                hint: "Run the command again to remove the member.")
        }
        // By another admin, or by this command before it was killed.
        if let member,
            !access.membership.people.contains(where: {
                $0.member == member.member && $0.isActive
            })
        {
            throw CommandError(
                .notFound, "\(member.name) was already removed from \(membership.name).",
                hint: "Revoke their access to \(membership.place) and to the team on Vercel.")
        }
        try access.publishEntry(about: [who]) { view in
            EntryDraft(
                removals: member.map {
                    [Groups.Removal(member: $0.member, cut: view.cut(of: $0.member))]
                } ?? [], voidInvites: invites.map(\.id))
        }
        try GroupSync.syncAndReport(access, workspace)
        if let member {
            workspace.note("Removed \(member.name) from \(membership.name).")
            workspace.note(
                "zg-env cannot revoke their access to \(membership.place) and to the team on Vercel: do that yourself."
            )
        }
        if !invites.isEmpty { workspace.note("The invite for \(who) was canceled.") }
        return CommandResult(json: [
            "group": .string(membership.name),
            "removed": .array(member.map { [.string($0.name)] } ?? []),
            "voidInvites": .integer(Int64(invites.count)),
            "exposed": .integer(Int64(exposed)), "dryRun": false,
        ])
    }

    private func plan(
        _ member: GroupMembership.Person?, _ invites: [OpenInvite], _ exposed: Int,
        _ membership: GroupMembership
    ) -> [String] {
        var plan: [String] = []
        if let member {
            plan = [
                "remove \(member.name) (\(member.member.hexadecimal.prefix(8))) from \(membership.name)",
                "create new keys; \(DisplayText.count(exposed, "value")) that they could read should be replaced",
            ]
        }
        if !invites.isEmpty { plan.append("cancel the open invite for \(who)") }
        return plan
    }
}
