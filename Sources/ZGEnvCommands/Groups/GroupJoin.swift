internal import CommandLineKit
internal import GroupPlaces
internal import Groups
internal import HTTPClient
internal import JSON
internal import Sealing
internal import SharedProjects
internal import Vault
internal import VercelAPI

/// `group join`: answers an invite.
struct GroupJoin: Command {
    static let spec = CommandSpec(
        ["group", "join"], "Join a group that you were invited to",
        discussion: """
            Asks for the one-time code, or reads it from stdin. An admin then admits you with \
            zg-env sync: compare the six verification words with them. With --wait, zg-env then \
            asks which projects to use; otherwise run zg-env sync and zg-env group adopt \
            afterwards.
            """,
        arguments: [ArgumentSpec("PLACE", .one, "Git URL or directory of the group")],
        options: [
            OptionSpec("group", value: "NAME", "What you call the group (default: group)"),
            OptionSpec(flag: "wait", "Wait until an admin has admitted you, then sync"),
            OptionSpec(
                "adopt", value: "WHICH", "With --wait: adopt all projects or none, without asking",
                form: .oneOf(["all", "none"])),
            OptionSpec(
                flag: "bind",
                "With --wait: link the adopted projects to Vercel projects as the group proposes"),
            OptionSpec(
                flag: "link", "With --wait: link this directory to the only project adopted"),
        ],
        examples: [
            .init(
                "zg-env group join git@example.com:acme/web.git --group acme",
                "type the code at a prompt")
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        group: string; name?: string (your name in the group); role?: \(oneOf: GroupRole.names)
        words?: string (to compare with an admin); dryRun: boolean
        sync?: {zg-env sync, groups} (with --wait); adopted?: [string]
        """

    private let place: String
    private let group: String?
    private let waits: Bool
    private let welcome: GroupWelcome

    init(_ command: ParsedCommand) throws {
        place = command.required("PLACE")
        group = command.value("group")
        waits = command.has("wait")
        welcome = GroupWelcome(command)
        guard waits || !welcome.isNamed else {
            throw CommandError(
                .usage, "There is nothing to adopt before an admin has admitted you: add --wait.")
        }
        if let group { try GroupName.check(group) }
    }

    /// An invite that the code fits, with the group's content.
    private struct Found {
        let invite: Invite
        /// The invite as it is in the place.
        let object: [UInt8]
        /// Whether somebody was admitted with the code.
        let isUsed: Bool
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try welcome.check(workspace)
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let known = try GroupMembership.all(in: index)
        let address = try PlaceAccess.address(place, workspace)
        let code = try self.code(workspace)
        let place = try PlaceAccess.place(address, workspace)
        let found = try find(code, in: place, workspace)
        let name = try name(found.invite.group, known)
        if workspace.options.dryRun {
            return CommandResult(
                json: ["group": .string(name), "dryRun": true],
                text: "Would join as \(DisplayText.safe(sentence: found.invite.name)).\n")
        }
        let pending = known.first {
            $0.group == found.invite.group && $0.invite == found.invite.id
        }
        let (membership, words) =
            try pending.flatMap { try answered($0, place, workspace) }
            ?? join(found, name, address, place, code, keys, workspace)
        workspace.note("Answered the invite as \(found.invite.name). Verification words: \(words)")
        workspace.note(
            found.invite.isAutomatic
                ? "You will be admitted at an admin's next sync. Then run: zg-env sync"
                : "Compare these words with an admin, who admits you with: zg-env sync"
        )
        var json: [JSONValue.Member] = [
            .init("group", .string(name)), .init("name", .string(found.invite.name)),
            .init("role", .string(found.invite.rights.role.name)),
            .init("words", .string(words)), .init("dryRun", false),
        ]
        guard waits else { return CommandResult(json: .object(json)) }
        let report = try waitForAdmission(membership, workspace)
        json.append(.init("sync", report.json))
        var result = CommandResult(
            json: .object(json), text: report.text(workspace), failure: report.failure)
        if report.failure == nil { try welcome.run(membership.group, after: &result, workspace) }
        return result
    }

    /// What this vault calls the group. A request that nobody answered, or a membership that ended,
    /// is replaced.
    private func name(_ joined: GroupHash, _ known: [GroupMembership]) throws -> String {
        let before = known.first { $0.group == joined }
        if let before, before.standing == .active {
            throw CommandError(
                .conflict, "This vault already belongs to that group, as \(before.name).")
        }
        let name = group ?? before?.name ?? "group"
        guard !known.contains(where: { $0.name == name && $0.group != joined }) else {
            throw CommandError(
                .conflict, "This vault already belongs to a group \(name).",
                hint: "Choose another name with --group.")
        }
        return name
    }

    /// Publishes the answer of this vault to the invite again. A second answer would make it void.
    private func answered(
        _ membership: GroupMembership, _ place: any GroupPlace, _ workspace: Workspace
    ) throws -> (GroupMembership, words: String)? {
        let copy = try PlaceAccess.copy(workspace)
        for (_, joins) in try GroupAccess.invites(of: membership.group, in: copy) {
            for object in joins where (try? Join.decode(object))?.member == membership.member {
                let name = GroupHash(of: object)
                let path = ObjectPath.join(invite: membership.invite, name)
                if let published = PlaceObject(path, object) {
                    _ = try place.publish([published], to: membership.group)
                }
                return (membership, Self.words(of: name, membership.invite))
            }
        }
        return nil
    }

    private static func words(of join: GroupHash, _ invite: Identifier) -> String {
        CheckWords.words(of: join, invite: invite).joined(separator: " ")
    }

    private func code(_ workspace: Workspace) throws -> GroupInviteCode {
        let typed = try TypedSecret.read("invite code", prompt: "Invite code: ", workspace)
        let bytes = try typed.withBytes { try SecretBytes(copying: $0) }
        do throws(GroupError) { return try GroupInviteCode(reading: bytes) } catch {
            throw CommandError(.usage, CommandError(mapping: error).message)
        }
    }

    /// Finds the invite of the code among all groups of the place.
    private func find(
        _ code: borrowing GroupInviteCode, in place: any GroupPlace, _ workspace: Workspace
    ) throws -> Found {
        for group in try place.groups() {
            _ = try place.refresh(group, since: nil)
            let paths = try place.paths(of: group)
            let invites = paths.filter { if case .invite = $0 { true } else { false } }
            for object in try place.objects(at: invites, of: group).values {
                guard let invite = try? Invite.accept(object, code: code), invite.group == group
                else { continue }
                guard workspace.context.now() < invite.endsAt else {
                    throw CommandError(
                        .conflict, "The code is no longer valid.",
                        hint: "Ask for another invite.")
                }
                let entries = paths.filter {
                    switch $0 {
                    case .entry, .losingEntry: true
                    default: false
                    }
                }
                let reading = try place.read(Array(entries), of: group)
                guard reading.remaining.isEmpty else {
                    throw CommandError(
                        .failed,
                        "\(self.place) has more than 256 MiB of entries for this group, so the invite could not be checked against all of them.",
                        hint: "Ask an admin of the group to check the place.")
                }
                let states = try check(invite, object, Array(reading.objects.values))
                guard !states.contains(where: { $0.voidInvites.contains(invite.id) }) else {
                    throw CommandError(
                        .conflict, "The invite for \(invite.name) was canceled.",
                        hint: "Ask for another invite.")
                }
                return Found(
                    invite: invite, object: object,
                    isUsed: states.contains { $0.usedInvites.contains(invite.id) })
            }
        }
        throw CommandError(
            .notFound, "There is no invite for this code at \(self.place).",
            hint: "Check the place and the code, or ask for another invite.")
    }

    /// The code vouches for the group and for the entry that the invite names.
    ///
    /// - Returns: The newest membership.
    private func check(
        _ invite: Invite, _ object: [UInt8], _ entries: [[UInt8]]
    ) throws -> [MembershipState] {
        let chain = MembershipChain(group: invite.group, entries: entries)
        guard let link = chain.link(invite.entry), link.entry.number == invite.entryNumber,
            let author = link.state.members[invite.author],
            Invite.isSigned(object, by: author.keys.authority)
        else {
            throw SharingError(
                .otherHistory,
                "The place does not contain the membership that the invite refers to.")
        }
        return chain.headStates
    }

    /// Keeps the new keys in the vault, then publishes their public halves.
    private func join(
        _ found: Found, _ name: String, _ address: PlaceAddress, _ place: any GroupPlace,
        _ code: borrowing GroupInviteCode, _ keys: VaultKeys, _ workspace: Workspace
    ) throws -> (GroupMembership, words: String) {
        let secrets = try MemberSecrets()
        let now = workspace.context.now()
        let invite = found.invite
        var membership = GroupMembership(
            group: invite.group, name: name, place: address.stored, member: .random(),
            standing: .invited, invite: invite.id, rights: invite.rights, createdAt: now)
        membership.heads = [invite.entry]
        membership.newest = .init(name: invite.entry, number: invite.entryNumber)
        let vault = try workspace.session.opened().header.vaultID
        let sealed = try secrets.sealed(for: membership.id, vault: vault, with: keys)
        let new = membership
        if !found.isUsed {
            try workspace.session.commit { transaction, news in
                news.add(AuditedNames(names: [name]))
                // Projects that are no longer shared would give out what is held.
                try HeldGate.checkAll(of: invite.group, in: transaction.index)
                var new = new
                // An earlier membership has ended. Its projects are attached again.
                if try GroupMembership.of(new.group, in: transaction.index) != nil {
                    try transaction.detachAll(of: new)
                }
                if let old = try GroupMembership.of(new.group, in: transaction.index) {
                    new.detached = old.detached.filter { $0.project != nil }
                    transaction.removeGroupEntries([old.id])
                }
                try transaction.keep(new.entry(sealed: sealed))
            }
        }
        let join = Join(
            group: invite.group, invite: invite.id, member: membership.member,
            keys: try secrets.publicKeys(), createdAt: now)
        let write = try secrets.signingKeyPair(.write)
        let authority = try secrets.signingKeyPair(.authority)
        let object = join.signed(
            write: write, authority: authority, code: try code.signingKeyPair(for: invite.id))
        let joinName = GroupHash(of: object)
        if let published = PlaceObject(.join(invite: invite.id, joinName), object) {
            // Kept here, too: if the place fails now, the next sync supplies it, and a second run finds this
            // answer by its invite.
            if !found.isUsed {
                let objects = [PlaceObject(.invite(invite.id), found.object), published]
                _ = try PlaceAccess.copy(workspace).publish(
                    objects.compactMap(\.self), to: invite.group)
            }
            _ = try place.publish([published], to: invite.group)
        }
        guard !found.isUsed else {
            throw CommandError(
                .conflict,
                "Someone else was already admitted as \(invite.name) with this code. An admin's next sync reports your attempt.",
                hint: "If that was not you, tell an admin immediately. Ask for another invite.")
        }
        return (membership, Self.words(of: joinName, invite.id))
    }

    /// Asks the place until an admin has admitted this member. A place that is down for a while does
    /// not end the wait.
    private func waitForAdmission(
        _ membership: GroupMembership, _ workspace: Workspace
    ) throws -> GroupSync.Report {
        let progress = WorkProgress(workspace)
        defer { progress.finish() }
        let hint = "Once an admin has admitted you, run: zg-env sync"
        workspace.interaction.setInterruptionMessage(
            "Stopped waiting. The invite was accepted, and an admin has to confirm it.", hint: hint)
        var trouble = ""
        while true {
            do {
                let access = try GroupAccess(membership, workspace)
                let report = try GroupSync.sync(access, workspace, admits: false)
                if access.membership.standing != .invited || report.isHopeless { return report }
                trouble = ""
            } catch {
                let failure = CommandError(mapping: error)
                guard failure.code == .unavailable else { throw error }
                trouble = " (\(failure.message))"
            }
            guard workspace.context.waitingRoom.wait(.seconds(2)) else {
                throw CommandError(
                    .failed,
                    "Stopped waiting. The invite was accepted, and an admin has to confirm it.",
                    hint: hint)
            }
            progress.update(
                "Waiting for an admin of \(membership.name) to run zg-env sync\(trouble)")
        }
    }
}
