internal import CommandLineKit
internal import Groups
internal import SharedProjects
internal import Vault

/// Admits the people who answered this group's invites.
struct GroupAdmission {
    private let access: GroupAccess
    private let workspace: Workspace
    private let admitsAll: Bool

    /// - Parameter admitsAll: Whether to admit everybody without a question. Not what --yes means:
    ///   a question here asks whether the newcomer is who was invited.
    init(_ access: GroupAccess, _ workspace: Workspace, admitsAll: Bool) {
        (self.access, self.workspace, self.admitsAll) = (access, workspace, admitsAll)
    }

    /// Asks about each newcomer, except for those of automatic invites, and signs one entry.
    ///
    /// - Returns: The names of those admitted.
    func admitAll() throws -> [String] {
        let view = try access.view()
        guard let head = view.chain.heads.first, !view.chain.isForked,
            let state = view.chain.link(head)?.state
        else { return [] }
        var admissions: [Admission] = []
        var void: [Identifier] = []
        let now = workspace.context.now()
        for (object, joins) in try access.invites() {
            guard let invite = try? Invite.decode(object) else { continue }
            switch try JoinSelection(
                invite: object, joins: joins, group: access.membership.group, state: state,
                now: now)
            {
            case .refused(.used) where isKnownToOthers(invite, joins, view.chain):
                // Void although it is used, so that this is reported once.
                if state.voidInvites.contains(invite.id) { continue }
                workspace.context.warn(
                    "used-invite-answered",
                    "Someone answered the invite for \(invite.name), which was already used: the code is known to others. If the member \(invite.name) is not the person you invited, run zg-env group remove \(word: invite.name)."
                )
                void.append(invite.id)
            case .none, .refused: continue
            case .ambiguous:
                workspace.context.warn(
                    "invite-used-twice",
                    "Two people used the invite for \(invite.name), so it was canceled. Invite \(invite.name) again."
                )
                void.append(invite.id)
            case .join(let join, let name):
                guard try isWanted(invite, name) else {
                    if try isTheft(of: invite) { void.append(invite.id) }
                    continue
                }
                admissions.append(
                    Admission(
                        member: join.member, person: person(of: invite, in: state),
                        name: invite.name, rights: invite.rights, keys: join.keys,
                        origin: Admission.Origin(invite: invite.id, join: name)))
            }
        }
        guard !admissions.isEmpty || !void.isEmpty else { return [] }
        try access.publishEntry(about: admissions.map(\.name)) { _ in
            EntryDraft(admissions: admissions, voidInvites: void)
        }
        return admissions.map(\.name).sorted()
    }

    /// The person of the invite, if some member is that person; else a new one.
    private func person(of invite: Invite, in state: MembershipState) -> Identifier {
        if let person = invite.person, state.members.values.contains(where: { $0.person == person })
        {
            return person
        }
        return .random()
    }

    /// Whether somebody other than the admitted member answered a used invite.
    private func isKnownToOthers(
        _ invite: Invite, _ joins: [[UInt8]], _ chain: MembershipChain
    ) -> Bool {
        let admitted = Set(
            chain.linksInOrder.flatMap(\.entry.admissions).compactMap(\.origin)
                .filter { $0.invite == invite.id }.map(\.join))
        return joins.contains {
            Join.isSigned($0, codeKey: invite.codeKey) && !admitted.contains(GroupHash(of: $0))
        }
    }

    /// Asks what a no about the words meant: then the code was stolen.
    private func isTheft(of invite: Invite) throws -> Bool {
        guard workspace.interaction.canConfirm else { return false }
        return try workspace.interaction.confirm(
            "If \(invite.name) sees different words, someone else has the code.", [],
            "Cancel the invite for \(invite.name)?")
    }

    private func isWanted(_ invite: Invite, _ join: GroupHash) throws -> Bool {
        if invite.isAutomatic || admitsAll { return true }
        let words = CheckWords.words(of: join, invite: invite.id).joined(separator: " ")
        guard workspace.interaction.canConfirm else {
            workspace.context.warn(
                "not-admitted",
                "\(invite.name) answered the invite. To admit them, run zg-env sync on a terminal and "
                    + "compare the verification words, or add --admit.")
            return false
        }
        return try workspace.interaction.confirm(
            "\(invite.name) answered the invite as \(invite.rights.role.name) of \(access.membership.name).",
            ["Verification words: \(words)"], "Does \(invite.name) see the same words? Admit them?")
    }
}

extension GroupRole {
    /// The word in commands and messages.
    var name: String {
        switch self {
        case .admin: "admin"
        case .member: "member"
        case .writer: "writer"
        case .reader: "reader"
        }
    }

    init?(name: String) {
        guard let role = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = role
    }

    static let names = allCases.map(\.name)
}
