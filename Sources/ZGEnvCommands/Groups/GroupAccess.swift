internal import CommandLineKit
internal import EnvOperations
internal import GroupPlaces
internal import Groups
internal import SharedProjects
internal import Vault

/// One group of the vault: its place, this machine's copy of its objects, and the work of a sync.
final class GroupAccess {
    private let workspace: Workspace
    private(set) var membership: GroupMembership
    /// Where the group's objects are.
    let address: PlaceAddress
    private var openedPlace: (any GroupPlace)?
    private let copy: any GroupPlace

    init(_ membership: GroupMembership, _ workspace: Workspace) throws {
        self.workspace = workspace
        self.membership = membership
        do { address = try PlaceAccess.address(membership.place, workspace) } catch let error
            as PlaceError
        {
            let index = try workspace.session.index(.everything)
            throw Self.unreached(
                error, membership, waiting: try Self.outgoing(of: membership.group, in: index).count
            )
        }
        copy = try PlaceAccess.copy(workspace)
    }

    /// Opens the place at the first use: what the vault and the copy have is shown without it.
    private func place() throws -> any GroupPlace {
        if let openedPlace { return openedPlace }
        let place = try PlaceAccess.place(address, workspace)
        openedPlace = place
        return place
    }

    // MARK: Finding

    /// Opens the values and returns the named group, or the only one.
    ///
    /// - Throws: ``ExitCode/notFound`` without a group, ``ExitCode/usage`` if it must be named.
    static func open(_ name: String?, _ workspace: Workspace) throws -> GroupAccess {
        let index = try workspace.session.index(.everything, with: .values)
        return try GroupAccess(find(name, in: index), workspace)
    }

    /// Opens the only group, or the only one that ever had a member of this name or ID.
    static func open(knowing who: String, _ workspace: Workspace) throws -> GroupAccess {
        let index = try workspace.session.index(.everything, with: .values)
        let fitting = try GroupMembership.all(in: index).filter { membership in
            !membership.people.named(who).isEmpty
        }
        return try GroupAccess(
            fitting.count == 1 ? fitting[0] : find(nil, in: index), workspace)
    }

    /// Returns the named group, or all groups, by name.
    ///
    /// - Throws: ``ExitCode/notFound`` without a group.
    static func all(_ name: String?, in index: VaultIndex) throws -> [GroupMembership] {
        let all = try GroupMembership.all(in: index)
        return name != nil || all.isEmpty ? [try find(name, in: index)] : all
    }

    static func find(_ name: String?, in index: VaultIndex) throws -> GroupMembership {
        let all = try GroupMembership.all(in: index)
        if let name {
            if let found = all.first(where: { $0.name == name }) { return found }
            throw CommandError(
                .notFound, "This vault does not belong to a group of that name.",
                hint: all.isEmpty
                    ? "Share a project with: zg-env share PROJECT --group NAME --at PLACE"
                    : "Groups: \(all.map(\.name).joined(separator: ", "))")
        }
        guard let only = all.first else {
            throw CommandError(
                .notFound, "This vault does not belong to any group.",
                hint: "Share a project with: zg-env share PROJECT --group NAME --at PLACE, or "
                    + "join a group with: zg-env group join PLACE")
        }
        guard all.count == 1 else {
            throw CommandError(
                .usage, "This vault belongs to several groups.",
                hint: "Name one: \(all.map(\.name).joined(separator: ", "))")
        }
        return only
    }

    /// Opens the values and returns the project in use.
    ///
    /// - Throws: ``ExitCode/conflict`` if it is not shared.
    static func sharedProject(
        _ workspace: Workspace
    ) throws -> (project: VaultProject, shared: SharedProject, index: VaultIndex) {
        let resolver = ProjectResolver(workspace)
        _ = try resolver.reference()
        let index = try workspace.session.index(.everything, with: .values)
        let project = try resolver.existing(in: index)
        guard let shared = try SharedProject.of(project.id, in: index) else {
            throw CommandError(.conflict, "\(project.name) is not shared with a group.")
        }
        return (project, shared, index)
    }

    // MARK: Reading

    /// What the objects on this machine mean, with the vault's unpublished changes.
    func view() throws -> GroupView {
        let keys = try workspace.session.keys(.values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        return try view(in: index, vault.header.vaultID, keys)
    }

    private func view(
        in index: VaultIndex, _ vault: Identifier, _ keys: VaultKeys
    ) throws -> GroupView {
        let secrets = try secrets(in: index, vault, keys)
        let outgoing = Dictionary(
            try Self.outgoing(of: membership.group, in: index).map { (GroupHash(of: $0), $0) },
            uniquingKeysWith: { first, _ in first })
        let content = try ObjectExchange.content(of: membership.group, in: copy)
        let reader = ChangeReader(
            membership.group, in: copy, order: content.changes.filter { outgoing[$0] == nil })
        return try GroupView(
            group: membership.group, entries: content.entries,
            changes: outgoing.keys.sorted() + reader.order, member: membership.member,
            secrets: secrets
        ) { name in
            if let object = outgoing[name] { return object }
            return try reader.read(name)
        }
    }

    private static func outgoing(
        of group: GroupHash, in index: VaultIndex
    ) throws -> [[UInt8]] {
        try OutgoingChange.all(of: group, in: index)
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }.map(\.object)
    }

    /// The secrets of this member.
    func secrets() throws -> MemberSecrets {
        let keys = try workspace.session.keys(.values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        return try secrets(in: index, vault.header.vaultID, keys)
    }

    private func secrets(
        in index: VaultIndex, _ vault: Identifier, _ keys: VaultKeys
    ) throws -> MemberSecrets {
        try MemberSecrets(try index.membershipEntry(membership.id), vault: vault, with: keys)
    }

    // MARK: Sync

    /// Brings place, copy and vault to the same state, in one round trip and one write.
    ///
    /// - Parameters:
    ///   - shared: A compartment that was made for a project of this vault.
    ///   - wanted: A compartment whose project was removed here, and is wanted again.
    @discardableResult
    func sync(
        sharing shared: (compartment: Identifier, project: Identifier)? = nil,
        takingAgain wanted: Identifier? = nil
    ) throws -> (exchange: ObjectExchange.Result, outcome: GroupUpdate.Outcome) {
        let keys = try workspace.session.keys(.values)
        var exchange = try self.exchange()
        let outcome: GroupUpdate.Outcome
        do {
            outcome = try update(exchange, keys, sharing: shared, takingAgain: wanted)
        } catch let error as SharingError where error.code == .otherHistory {
            // This machine's copy may be damaged.
            exchange = try self.exchange(checksCopy: true)
            outcome = try update(exchange, keys, sharing: shared, takingAgain: wanted)
        }
        try reload()
        try SyncTimes(workspace).keep(workspace.context.now(), for: membership.group)
        return (exchange, outcome)
    }

    private func update(
        _ exchange: ObjectExchange.Result, _ keys: VaultKeys,
        sharing shared: (compartment: Identifier, project: Identifier)?,
        takingAgain wanted: Identifier?
    ) throws -> GroupUpdate.Outcome {
        let vault = try workspace.session.opened().header.vaultID
        let now = workspace.context.now()
        let id = membership.id
        return try workspace.session.commit { [self] transaction, news in
            news.add(SyncedChanges())
            if let wanted {
                try transaction.changeMembership(id) {
                    $0.detached.removeAll { $0.compartment == wanted }
                }
            }
            let update = GroupUpdate(
                try view(in: transaction.index, vault, keys), published: exchange.changes,
                vault: vault, keys: keys, now: now,
                affectsPrograms: CodeLoadingName.mayAffectPrograms, sharing: shared)
            return try update.apply(to: &transaction, id)
        }
    }

    /// Publishes and fetches, without changing the vault.
    func exchange(checksCopy: Bool = false) throws -> ObjectExchange.Result {
        let index = try workspace.session.index(.everything, with: .values)
        let outgoing = try Self.outgoing(of: membership.group, in: index)
        do {
            return try ObjectExchange(membership.group, place: place(), copy: copy).run(
                outgoing: outgoing, checksCopy: checksCopy
            ) { result in
                if membership.standing == .ended { return false }
                guard !outgoing.isEmpty || result.fetchedCount > 0 else { return true }
                return try !wasRemoved()
            }
        } catch let error as PlaceError {
            throw Self.unreached(error, membership, waiting: outgoing.count)
        }
    }

    /// Whether the entries on this machine say that this member was removed: then nobody counts what
    /// it publishes.
    private func wasRemoved() throws -> Bool {
        let chain = MembershipChain(
            group: membership.group,
            entries: try ObjectExchange.content(of: membership.group, in: copy).entries)
        let own = chain.headStates.compactMap { $0.members[membership.member] }
        return !own.isEmpty && own.allSatisfy { !$0.isActive }
    }

    /// Names the group and its place in an error of the place, and what happens to changes that wait.
    private static func unreached(
        _ error: PlaceError, _ membership: GroupMembership, waiting: Int
    ) -> CommandError {
        var found = CommandError(mapping: error)
        guard [.unreachable, .timeout, .authentication].contains(error.code) else { return found }
        found.message =
            "\(membership.name) cannot be synced with \(membership.place): \(found.message)"
        if waiting > 0 {
            found.hint =
                (waiting == 1
                    ? "1 change is still waiting" : "\(waiting) changes are still waiting")
                + " in this vault. Run zg-env sync again later."
        }
        return found
    }

    private func reload() throws {
        let index = try workspace.session.index(.everything, with: .values)
        if let stored = index.journal.first(where: { $0.id == membership.id }) {
            membership = try GroupMembership(stored)
        }
    }

    /// Adds objects to this machine's copy and to the place.
    ///
    /// - Returns: Paths at which the place has something else.
    func publish(_ objects: [(ObjectPath, [UInt8])]) throws -> Set<ObjectPath> {
        let objects = objects.compactMap { PlaceObject($0.0, $0.1) }
        let taken = try place().publish(objects, to: membership.group)
        _ = try copy.publish(
            objects.filter { !taken.contains($0.path) }, to: membership.group)
        return taken
    }

    /// Signs an entry and publishes it, between two lines of the audit log; repeats with what
    /// others published meanwhile.
    ///
    /// - Parameters:
    ///   - names: Whom the entry is about, for the audit log.
    ///   - draft: Makes the draft from the newest membership.
    func publishEntry(
        about names: [String], _ draft: (GroupView) throws -> EntryDraft
    ) throws {
        try recordingAct(about: names) { try publish(draft) }
    }

    /// Does something with the group between two lines of the audit log.
    func recordingAct<R>(about names: [String], _ work: () throws -> R) throws -> R {
        try workspace.recordingAct([membership.name] + names, project: nil, work)
    }

    private func publish(_ draft: (GroupView) throws -> EntryDraft) throws {
        for _ in 0..<10 {
            let view = try view()
            guard !view.chain.isForked else {
                throw SharingError(
                    .forked,
                    "The membership of \(membership.name) is forked; an admin must merge it with: zg-env sync"
                )
            }
            let draft = try draft(view)
            let author = EntryAuthor(
                chain: view.chain, ring: view.keyRing, author: membership.member,
                createdAt: workspace.context.now())
            let entry = try author.entry(
                draft, signedBy: try secrets().signingKeyPair(.authority))
            let path = ObjectPath.entry(entry.number)
            if try publish([(path, entry.object)]).isEmpty { return }
            _ = try exchange()
            // Something is under the number that is no entry: anybody with access to the place can
            // put it there, and must not keep admins from their work.
            if try self.view().chain.heads == view.chain.heads {
                let name = GroupHash(of: entry.object)
                _ = try publish([(.losingEntry(entry.number, name), entry.object)])
                return
            }
        }
        throw CommandError(
            .conflict, "Other admins kept changing \(membership.name) at the same time.",
            hint: "Run the command again.")
    }

    /// Returns the active member with a name, or with an id that begins like this.
    ///
    /// - Throws: ``ExitCode/notFound``, or ``ExitCode/usage`` if there are several.
    func member(named who: String) throws -> GroupMembership.Person {
        let found = membership.people.filter(\.isActive).named(who)
        guard let first = found.first else {
            throw CommandError(
                .notFound, "\(membership.name) has no member \(who).",
                hint: "List the members with: zg-env group show \(word: membership.name)")
        }
        guard found.count == 1 else {
            let list = found.map { person in
                let isMe = person.member == membership.member
                return "\(person.member.hexadecimal.prefix(8))" + (isMe ? " (this vault)" : "")
            }
            throw CommandError(
                .usage,
                (first.name == who ? "Several members are called" : "Several members begin with")
                    + " \(who): \(list.joined(separator: ", ")).",
                hint: "Use the digits in place of the name; 4 are enough if they are unique.")
        }
        return first
    }

    /// The number of variables in use with a value that a member could read, or wrote.
    func knownCount(of member: Identifier) throws -> Int {
        try view().knownRecords(of: [member]).count
    }

    /// Signs an entry that joins two heads of the membership, if this admin can.
    func joinFork() throws {
        let view = try view()
        guard view.chain.isForked else { return }
        let author = EntryAuthor(
            chain: view.chain, ring: view.keyRing, author: membership.member,
            createdAt: workspace.context.now())
        let entry = try author.joiningEntry(
            signedBy: try secrets().signingKeyPair(.authority))
        _ = try publish([(.entry(entry.number), entry.object)])
    }

    /// The group's invites that this machine's copy has, with their joins.
    func invites() throws -> [(invite: [UInt8], joins: [[UInt8]])] {
        try Self.invites(of: membership.group, in: copy)
    }

    static func invites(
        of group: GroupHash, in copy: any GroupPlace
    ) throws -> [(invite: [UInt8], joins: [[UInt8]])] {
        let paths = try ObjectExchange.content(of: group, in: copy).others
        let objects = try copy.objects(at: paths, of: group)
        return objects.compactMap { path, object in
            guard case .invite(let id) = path else { return nil }
            let joins = objects.compactMap { path, bytes -> [UInt8]? in
                if case .join(id, _) = path { bytes } else { nil }
            }
            return (object, joins)
        }
    }
}

extension GroupMembership {
    /// - Parameter right: What only admins may do: a predicate, for the message.
    /// - Throws: ``SharingError/Code/notAllowed`` unless this vault is an admin.
    func requireAdmin(_ right: String) throws(SharingError) {
        guard !isActiveAdmin else { return }
        throw SharingError(.notAllowed, "Only an admin of \(name) \(right).")
    }
}

extension [GroupMembership.Person] {
    /// Those of a name, or else those whose member id begins with these 4 or more digits.
    func named(_ who: String) -> [GroupMembership.Person] {
        let named = filter { $0.name == who }
        guard named.isEmpty, who.utf8.count >= 4 else { return named }
        return filter { $0.member.hexadecimal.hasPrefix(who) }
    }
}
