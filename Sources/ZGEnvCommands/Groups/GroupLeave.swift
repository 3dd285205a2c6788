internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `group leave`: stops sharing on this machine.
struct GroupLeave: Command {
    static let spec = CommandSpec(
        ["group", "leave"], "Leave a group, keeping its projects in this vault",
        discussion: """
            The projects stay in this vault and are no longer shared. Ask an admin to remove you, \
            so that the group gets new keys.
            """,
        arguments: [ArgumentSpec("GROUP", .optional, "The group, if there are several")],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = "group: string; dryRun: boolean"

    private let name: String?

    init(_ command: ParsedCommand) { name = command.argument("GROUP") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let membership = try GroupAccess.find(name, in: index)
        let admins = membership.people.filter { $0.isActive && $0.role == .admin }
        let isLast = admins.map(\.member) == [membership.member]
        let isAlone = membership.people.count(where: \.isActive) <= 1
        guard membership.standing != .active || !isLast || isAlone else {
            throw CommandError(
                .conflict, "You are the only admin of \(membership.name).",
                hint: "Make someone else an admin first: zg-env group role WHO admin")
        }
        try HeldGate.checkAll(of: membership.group, in: index)
        let waiting = try OutgoingChange.all(of: membership.group, in: index).count
        let wasAdmitted = membership.standing != .invited
        var plan = [
            wasAdmitted
                ? "leave \(membership.name) and keep its projects in this vault alone"
                : "drop the request to join \(membership.name)"
        ]
        if waiting > 0 {
            plan.append("discard \(DisplayText.count(waiting, "change")) that were not published")
        }
        guard try workspace.confirm(plan, "Leave \(membership.name)?") else {
            return CommandResult(
                json: ["group": .string(membership.name), "dryRun": true],
                text: DisplayText.lines(plan, after: "Would "))
        }
        let unused = try MemberSecrets()
        let vault = try workspace.session.opened().header.vaultID
        try workspace.session.commit { transaction, news in
            news.add(AuditedNames(names: [membership.name]))
            try transaction.detachAll(of: membership)
            // Only what attaches the projects again is kept, with new keys in place of the member's.
            guard
                let stored = transaction.index.journal.first(where: { $0.id == membership.id })
            else { return }
            var left = try GroupMembership(stored)
            left.detached.removeAll { $0.project == nil }
            guard !left.detached.isEmpty else {
                transaction.removeGroupEntries([membership.id])
                return
            }
            (left.standing, left.people) = (.left, [])
            try transaction.keep(
                left.entry(sealed: unused.sealed(for: left.id, vault: vault, with: keys)))
        }
        if wasAdmitted {
            let me = membership.name(of: membership.member)
            workspace.note(
                "Left \(membership.name). Ask an admin to run: zg-env group remove \(word: me)")
        } else {
            workspace.note("Dropped the request to join \(membership.name), in this vault only.")
        }
        return CommandResult(json: ["group": .string(membership.name), "dryRun": false])
    }
}
