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
            Makes new keys, so that they read nothing written from now on. They keep what they \
            could read before: replace those values. zg-env does not remove their access to the \
            place or to Vercel.
            """,
        arguments: [ArgumentSpec("WHO", .one, "A name, or the first digits of a member ID")],
        options: [GroupOptions.group],
        exitCodes: ExitCode.ofVercel)

    private let who: String
    private let group: String?

    init(_ command: ParsedCommand) {
        who = command.required("WHO")
        group = command.value("group")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let access = try GroupAccess.open(group, workspace)
        let members = try access.members(named: who)
        let membership = access.membership
        guard membership.rights.role == .admin, membership.standing == .active else {
            throw SharingError(
                .notAllowed, "Only an admin of \(membership.name) can remove members.")
        }
        guard !members.contains(where: { $0.member == membership.member }) else {
            throw CommandError(
                .usage, "\(who) is this vault.", hint: "To leave the group, run: zg-env group leave"
            )
        }
        let exposed = try access.readableCount()
        let names = Set(members.map(\.name)).sorted().joined(separator: ", ")
        let plan = [
            "remove \(names) from \(membership.name): "
                + (members.count == 1 ? "1 member" : "\(members.count) members"),
            "make new keys; \(Plural.values(exposed)) that they could read should be replaced",
        ]
        guard try workspace.confirm(plan, "Remove \(names)?") else {
            return CommandResult(
                json: ["removed": .array([]), "dryRun": true],
                text: plan.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        try access.sync()
        let ids = members.map(\.member)
        try access.publishEntry { view in
            EntryDraft(removals: ids.map { Removal(member: $0, cut: view.cut(of: $0)) })
        }
        try access.sync()
        workspace.note("Removed \(names) from \(membership.name).")
        workspace.note(
            "Not checked by zg-env: take away their access to \(membership.place) and to the team on Vercel."
        )
        return CommandResult(json: [
            "group": .string(membership.name),
            "removed": .array(members.map { .string($0.name) }),
            "exposed": .integer(Int64(exposed)), "dryRun": false,
        ])
    }
}
