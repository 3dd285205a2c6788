import Groups
import Sealing
import TestSupport
import Vault

@testable import SharedProjects

/// The objects of one group, as a place holds them.
final class TestPlace {
    var entries: [GroupHash: [UInt8]] = [:]
    var changes: [GroupHash: [UInt8]] = [:]

    func add(entry object: [UInt8]) { entries[GroupHash(of: object)] = object }
}

/// Keeps positions in memory, like the state directory of one machine.
final class TestMemory: ChainMemory {
    var positions: [Identifier: ChainPosition] = [:]

    func position(in compartment: Identifier) -> ChainPosition? { positions[compartment] }
    func keep(_ position: ChainPosition, in compartment: Identifier) {
        positions[compartment] = position
    }
}

/// A vault that takes part in a group, with a cheap passphrase.
final class SharedVault {
    static let project = "web"
    let directory: TemporaryDirectory
    let store = PosixFileStore(lockSeconds: 5)
    let creation: Vault.Creation
    let memory = TestMemory()
    let name: String
    /// This vault's copy of the group's objects.
    let copy = TestPlace()
    var clock: UInt64 = 1_000
    var keys: VaultKeys { creation.keys }
    var path: String { directory.path + "/vault.zgv" }

    init(_ name: String) throws {
        self.name = name
        directory = try TemporaryDirectory()
        creation = try Vault.create(
            at: directory.path + "/vault.zgv", in: store,
            passphrase: try Array("right".utf8).withBytes { try SecretBytes(copying: $0) },
            recipe: .init(
                cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20), keyring: nil,
                time: 1_000))
    }

    var index: VaultIndex {
        get throws {
            try Vault(opening: path, in: store).index(with: keys, extent: .everything)
        }
    }

    /// Writes like a command.
    @discardableResult
    func update<R>(
        decided: [Identifier: Set<Assigned>] = [:], claims: [RemoteClaim] = [],
        takenOver: Set<Identifier> = [],
        in store: (any FileStore)? = nil,
        _ body: (inout VaultTransaction) throws -> R
    ) throws -> R {
        clock += 1
        return try Vault.update(
            path, in: store ?? self.store, keys: keys, vaultID: creation.vaultID
        ) { transaction in
            let result = try body(&transaction)
            try ChangeRecorder(
                vault: creation.vaultID, keys: keys, now: clock, memory: memory,
                news: GroupNews(decided: decided, claims: claims, takenOver: takenOver)
            ).record(in: &transaction)
            return result
        }
    }

    // MARK: Variables

    /// The project that is shared, or will be.
    func project(in index: VaultIndex) throws -> VaultProject? {
        if let shared = try SharedProject.all(in: index).first {
            return index.project(shared.project)
        }
        return index.project(named: Self.project)
    }

    func set(
        _ key: String, _ value: String, targets: Scope.Targets = .all
    ) throws {
        try update { transaction in
            let project: Identifier
            if let found = try self.project(in: transaction.index) {
                project = found.id
            } else {
                let made = VaultProject(name: Self.project, createdAt: clock)
                transaction.index.projects.append(made)
                project = made.id
            }
            var position = transaction.index.variables.firstIndex {
                $0.name == key && $0.project == project && $0.isLive
            }
            if position == nil {
                transaction.index.variables.append(
                    Variable(
                        project: project, name: key,
                        attributes: .init(kind: .encrypted, scope: Scope(targets: targets)),
                        createdAt: clock))
                position = transaction.index.variables.count - 1
            }
            guard let position else { return }
            _ = try Array(value.utf8).withBytes { bytes in
                try transaction.store(bytes, forVariableAt: position, at: clock)
            }
        }
    }

    func change(_ key: String, _ body: (inout VaultTransaction, Int) throws -> Void) throws {
        try update { transaction in
            let project = try self.project(in: transaction.index)
            guard
                let position = transaction.index.variables.firstIndex(where: {
                    $0.name == key && $0.project == project?.id && $0.isLive
                })
            else { return }
            try body(&transaction, position)
        }
    }

    func remove(_ key: String) throws {
        let time = clock
        try change(key) { $0.index.variables[$1].deletedAt = time }
    }

    /// The current values of the project's variables in use, by name.
    func values() throws -> [String: String] {
        let vault = try Vault(opening: path, in: store)
        let index = try vault.index(with: keys, extent: .everything)
        guard let project = try project(in: index),
            let reader = try ValueReader(vault: vault, index: index, keys: keys)
        else { return [:] }
        var found: [String: String] = [:]
        for variable in index.variables where variable.project == project.id && variable.isLive {
            let value = try reader.currentValue(of: variable, in: SecretArena())
            found[variable.name] = value.map(Self.text) ?? "(none)"
        }
        return found
    }

    static func text(_ slice: SecretSlice) -> String {
        slice.withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
    }

    /// Checks the whole file as `verify` does.
    func verify() throws { try Vault(opening: path, in: store).verify(with: keys) }

    // MARK: Groups

    func membership() throws -> GroupMembership? {
        try index.groupEntries(.membership).first.map { try GroupMembership($0) }
    }

    func secrets() throws -> MemberSecrets {
        guard let entry = try index.groupEntries(.membership).first else {
            throw SharingError(.notFound, "no group")
        }
        return try MemberSecrets(entry, vault: creation.vaultID, with: keys)
    }

    func outgoing() throws -> [[UInt8]] {
        try index.groupEntries(.outgoingChange).map { try OutgoingChange($0).object }
    }

    func shared() throws -> SharedProject? { try SharedProject.all(in: index).first }

    func state() throws -> SharedState? {
        try index.groupEntries(.sharedState).first.map { try SharedState($0) }
    }

    /// Shares the project with a new group, whose first entry goes to the place.
    func found(_ place: TestPlace) throws {
        let secrets = try MemberSecrets()
        let (member, compartment) = (Identifier.random(), Identifier.random())
        let keys = try secrets.publicKeys()
        let entry = try EntryAuthor.founding(
            Admission(
                member: member, person: .random(), name: name,
                rights: MemberRights(role: .admin), keys: keys),
            compartments: [compartment], hasOneAdmin: false, createdAt: clock,
            signedBy: try secrets.signingKeyPair(.authority))
        place.add(entry: entry.object)
        copy.add(entry: entry.object)
        try update { transaction in
            guard let project = transaction.index.project(named: Self.project) else { return }
            var membership = GroupMembership(
                group: entry.name, name: "acme", place: "", member: member, standing: .active,
                rights: MemberRights(role: .admin), createdAt: clock)
            membership.heads = [entry.name]
            membership.newest = .init(name: entry.name, number: 1)
            let view = try GroupView(
                group: entry.name, entries: [entry.object], changes: [], member: member,
                secrets: secrets, read: { _ in nil })
            try view.keepCurrentKeys(in: secrets)
            try transaction.keep(
                membership.entry(
                    sealed: try secrets.sealed(
                        for: membership.id, vault: creation.vaultID, with: self.keys)))
            try transaction.keep(
                SharedProject(
                    project: project.id, group: entry.name, compartment: compartment,
                    isAdopted: true, createdAt: clock
                ).entry)
            try transaction.keep(
                SharedState(compartment: compartment, group: entry.name, createdAt: clock).entry)
        }
    }

    /// Answers an invite that was given directly: stores keys, and returns what an admin admits.
    func join(_ group: GroupHash) throws -> Admission {
        let secrets = try MemberSecrets()
        let member = Identifier.random()
        try update { transaction in
            let membership = GroupMembership(
                group: group, name: "acme", place: "", member: member, standing: .invited,
                rights: MemberRights(role: .reader), createdAt: clock)
            try transaction.keep(
                membership.entry(
                    sealed: try secrets.sealed(
                        for: membership.id, vault: creation.vaultID, with: self.keys)))
        }
        return Admission(
            member: member, person: .random(), name: name, rights: MemberRights(role: .member),
            keys: try secrets.publicKeys(),
            origin: Admission.Origin(invite: .random(), join: .zero))
    }

    func view() throws -> GroupView {
        guard let membership = try membership() else { throw SharingError(.notFound, "no group") }
        let outgoing = Dictionary(
            try outgoing().map { (GroupHash(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        return try GroupView(
            group: membership.group, entries: Array(copy.entries.values),
            changes: Array(Set(copy.changes.keys).union(outgoing.keys)),
            member: membership.member, secrets: try secrets(),
            read: { [copy] in outgoing[$0] ?? copy.changes[$0] })
    }

    /// Signs and publishes an entry.
    func publish(
        _ place: TestPlace, _ draft: (GroupView) throws -> EntryDraft
    ) throws {
        let view = try view()
        let author = EntryAuthor(
            chain: view.chain, ring: view.keyRing, author: try membership()?.member ?? .zero,
            createdAt: clock)
        let entry = try author.entry(
            try draft(view), signedBy: try secrets().signingKeyPair(.authority))
        place.add(entry: entry.object)
    }

    /// Fetches, publishes and applies.
    @discardableResult
    func sync(_ place: TestPlace, fetches: Bool = true, publishes: Bool = true) throws
        -> GroupUpdate.Outcome
    {
        if publishes {
            for object in try outgoing() { copy.changes[GroupHash(of: object)] = object }
            place.changes.merge(copy.changes) { first, _ in first }
            place.entries.merge(copy.entries) { first, _ in first }
        }
        if fetches {
            copy.changes.merge(place.changes) { first, _ in first }
            copy.entries.merge(place.entries) { first, _ in first }
        }
        guard let membership = try membership() else { throw SharingError(.notFound, "no group") }
        let update = GroupUpdate(
            try view(), published: publishes ? Set(place.changes.keys) : [],
            vault: creation.vaultID, keys: keys, now: clock,
            affectsPrograms: { $0 == "NODE_OPTIONS" })
        return try self.update { try update.apply(to: &$0, membership.id) }
    }
}
