internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `group show`: the members of the groups, and what waits.
struct GroupShow: Command {
    static let spec = CommandSpec(
        ["group", "show"], "Show the members, projects and state of your groups",
        discussion: """
            Shows what was known at the last sync, and sends nothing. If two people see the same \
            state words for a group, they have the same members; if they see the same state words \
            for a project, they also have the same changes. Times are as reported by each author. \
            While the values are unlocked, the command also shows why changes do not count.
            """,
        arguments: [ArgumentSpec("GROUP", .optional, "The group; all groups by default")],
        exitCodes: ExitCode.ofOpening(), aliases: [["group", "status"]])
    static let fields = """
        groups: [{
            group, id, place: string; role: \(oneOf: GroupRole.names)
            standing: \(oneOf: GroupMembership.Standing.allCases.map { "\($0)" })
            syncedAt: number (in milliseconds since 1970; 0 for never); stateWords: string
            outgoing: number
            members: [{
                name: string; role: \(oneOf: GroupRole.names); member: string
                isActive, isThisVault: boolean; projects: [string] | null (null for all)
                joinedAt, wroteAt: number (in milliseconds since 1970); removedBy: string | null
            }]
            details: [{
                kind: string; project: string | null; subject, reason: string
                command: string | null
            }]
            invites: [{
                name: string; role: \(oneOf: GroupRole.names)
                endsAt: number (in milliseconds since 1970); isAnswered: boolean
            }]
            notUsedHere: [string]
            projects: [{
                project: string; isAdopted: boolean; stateWords: string
                contested, late, waiting: number
            }]
        }]
        """

    private let name: String?

    init(_ command: ParsedCommand) { name = command.argument("GROUP") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.index(.everything)
        let memberships = try GroupAccess.all(name, in: index)
        var (json, text): ([JSONValue], String) = ([], "")
        for membership in memberships {
            let one = try show(membership, index, workspace)
            json.append(one.json)
            text += one.text
        }
        let shown = text
        return CommandResult(json: ["groups": .array(json)], text: shown)
    }

    private func show(
        _ membership: GroupMembership, _ index: VaultIndex, _ workspace: Workspace
    ) throws -> (json: JSONValue, text: String) {
        let shared = try SharedProject.all(of: membership.group, in: index)
        let states = try SharedState.all(of: membership.group, in: index)
        let outgoing = try OutgoingChange.all(of: membership.group, in: index).count
        func state(of project: SharedProject) -> SharedState? {
            states.first { $0.compartment == project.compartment }
        }
        // Somebody limited to one project sees no other: words for each can always be compared.
        func words(of project: SharedProject) -> String {
            membership.stateWords(
                [project.compartment: (state(of: project)?.heads ?? []).sorted()])
        }
        let spoken = membership.stateWords([:])
        let now = workspace.context.now()
        let invites = try OpenInvite.all(of: membership.group, at: now, workspace)
        let admins = membership.people.count { $0.isActive && $0.role == .admin }
        var text = "\(membership.name)  \(membership.place)\n"
        let synced =
            membership.syncedAt == 0
            ? "never"
            : TimeText.age(
                of: Int64(clamping: membership.syncedAt), at: Int64(workspace.context.now()))
        let texts = MembershipTexts(membership, shared, index, now: now)
        text += "  \(texts.standing), last change: \(synced), state words: \(spoken)\n"
        text += membership.people.filter(\.isActive).sorted { $0.name < $1.name }
            .map { "  \(texts.line(of: $0))\n" }.joined()
        text += invites.map { "  \(texts.line(of: $0))\n" }.joined()
        let details = try GroupDetails(membership, shared, index, workspace)
        for project in shared {
            let name = index.project(project.project)?.name ?? "?"
            let state = state(of: project)
            var notes: [String] = []
            if !project.contested.isEmpty { notes.append("\(project.contested.count) contested") }
            if let late = state?.lateCount, late > 0 { notes.append("\(late) late") }
            if let waiting = state?.waitingCount, waiting > 0 { notes.append("\(waiting) waiting") }
            if !project.isAdopted { notes.append("not adopted") }
            text +=
                "  project \(name)"
                + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
                + ", state words: \(words(of: project))\n"
        }
        for detail in details.all { text += "  \(detail.text)\n" }
        for name in RemovedProject.names(membership) {
            text +=
                "  not used in this vault: \(name). Use it with: zg-env group adopt \(word: name)\n"
        }
        if outgoing > 0, membership.standing == .ended {
            text += "  \(DisplayText.count(outgoing, "change")) will not be sent\n"
        } else if outgoing > 0 {
            text += "  \(WaitingChanges.advice(outgoing))\n"
        }
        if admins == 1, membership.standing == .active {
            text +=
                "  There is only one admin. If their vault is lost, no one can invite or remove members.\n"
        }
        let json: JSONValue = [
            "group": .string(membership.name), "id": .string(membership.group.hexadecimal),
            "place": .string(membership.place), "role": .string(membership.rights.role.name),
            "standing": .string("\(membership.standing)"),
            "syncedAt": .integer(Int64(clamping: membership.syncedAt)),
            "stateWords": .string(spoken), "outgoing": .integer(Int64(outgoing)),
            "members": .array(
                membership.people.map { person in
                    [
                        "name": .string(person.name), "role": .string(person.role.name),
                        "member": .string(person.member.hexadecimal),
                        "isActive": .bool(person.isActive),
                        "isThisVault": .bool(person.member == membership.member),
                        "projects": texts.projects(of: person.rights).map { .strings($0) } ?? .null,
                        "joinedAt": .integer(Int64(clamping: person.joinedAt)),
                        "wroteAt": .integer(Int64(clamping: person.wroteAt)),
                        "removedBy": .string(
                            orNull: person.removal.map { membership.label(of: $0.author) }),
                    ]
                }),
            "details": .array(details.all.map(\.json)),
            "invites": .array(
                invites.map { invite in
                    [
                        "name": .string(invite.name), "role": .string(invite.rights.role.name),
                        "endsAt": .integer(Int64(clamping: invite.endsAt)),
                        "isAnswered": .bool(invite.isAnswered),
                    ]
                }),
            "notUsedHere": .strings(RemovedProject.names(membership)),
            "projects": .array(
                shared.map { project in
                    let state = state(of: project)
                    return [
                        "project": .string(index.project(project.project)?.name ?? ""),
                        "isAdopted": .bool(project.isAdopted),
                        "stateWords": .string(words(of: project)),
                        "contested": .integer(Int64(project.contested.count)),
                        "late": .integer(Int64(state?.lateCount ?? 0)),
                        "waiting": .integer(Int64(state?.waitingCount ?? 0)),
                    ]
                }),
        ]
        let safe = text.split(separator: "\n").map { DisplayText.safe(sentence: String($0)) + "\n" }
        return (json, safe.joined())
    }
}
