import Sealing

@testable import Vault

extension Vector.Secret {
    static let passphrase = Vector.Secret(passphrase: VectorVault.passphrase)
    static let recoveryCode = Vector.Secret(recoveryCode: VectorVault.recoveryCode)

    /// The random key of slot `number`, as the keyring stores it.
    static func slotKey(_ number: UInt8) -> Vector.Secret {
        Vector.Secret(
            slotKey: hexadecimal, slot: VectorVault.identifier(0x80 + number).hexadecimal)
    }

    /// The same in a key file.
    static func keyFile(_ number: UInt8) -> Vector.Secret {
        let slot = VectorVault.identifier(0x80 + number).hexadecimal
        return Vector.Secret(
            keyFile: "zg-env-key-1 \(VectorVault.vaultID.hexadecimal) \(slot) \(hexadecimal)\n")
    }

    private static var hexadecimal: String {
        let digits = Array("0123456789abcdef")
        return String(VectorVault.slotKey.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

extension VectorVault {
    static let web = identifier(0x10)
    static let api = identifier(0x11)
    /// Ids of records, in order.
    static let records = (0..<8).map { identifier(0x20 + UInt8($0)) }

    // Times that occur once, so that the bytes beside them can be found.
    static let awaitedTime: UInt64 = 0x0000_0181_1111_2221
    static let endedTime: UInt64 = 0x0000_0181_1111_5551
    static let pushedTime: UInt64 = 0x0000_0181_1111_3331
    static let earlierTime: UInt64 = 0x0000_0181_1111_4441
    static let accountTime: UInt64 = 0x0000_0181_1111_2222
    static let accountEnd: UInt64 = 0x0000_0181_1111_2223
    static let auditSequence: UInt64 = 0x0000_0000_0BAD_CAFE

    /// One passphrase and nothing else.
    static func empty() throws -> VectorVault {
        var vault = VectorVault()
        try vault.addSlot(.passphrase, .values)
        return vault
    }

    /// One passphrase, and one record "KEY" with a value in the project "web".
    static func small() throws -> VectorVault {
        var vault = try empty()
        vault.addProject("web", web)
        vault.addRecord("KEY", records[0])
        let batch = try vault.addBatch(1)
        try vault.store(Array("the value".utf8), in: records[0], batch: batch)
        return vault
    }

    mutating func addProject(_ name: String, _ id: Identifier) {
        index.projects.append(VaultProject(id: id, name: name, createdAt: 1_700_000_000_000))
    }

    mutating func addRecord(
        _ name: String, _ id: Identifier, in project: Identifier = web,
        kind: VariableAttributes.Kind = .encrypted, scope: Scope = Scope(targets: .all),
        comment: String? = nil
    ) {
        index.variables.append(
            Variable(
                id: id, project: project, name: name,
                attributes: .init(kind: kind, scope: scope, comment: comment),
                createdAt: 1_700_000_000_000))
    }

    /// At least two items in every list, every optional member once present and once absent.
    static func rich() throws -> VectorVault {
        var vault = try empty()
        try vault.addSlot(.secretService, .index)
        vault.generation = 9
        vault.addProject("web", web)
        vault.addProject("api", api)
        vault.index.projects[0].binding = .init(
            origin: "https://api.example.com", accountID: "user_1", teamID: "team_1",
            teamSlug: "slug-1", projectID: "prj_1", projectName: "web-remote")
        let scope = Scope(
            targets: .preview, customEnvironments: ["env-a", "env-b"], branch: "main")
        vault.addRecord("KEY", records[0], kind: .sensitive, scope: scope, comment: "note")
        vault.index.variables[0].rotationSeconds = 86_400
        var remote = RemoteState(
            id: "env_1", key: "REMOTE_KEY", account: "user_1", pushedVersion: 1,
            agreed: .init(kind: .encrypted, scope: Scope(targets: .production)),
            updatedAt: 1_700_000_000_600, pushedAt: pushedTime)
        remote.seenUpdatedAt = awaitedTime
        remote.earlier = .init(version: 1, from: earlierTime, until: 1_700_000_000_600)
        vault.index.variables[0].remote = remote
        vault.index.otherAgreements[web] = [agreement()]
        vault.addRecord("SECOND", records[1], kind: .plain)
        vault.addRecord("THIRD", records[2], in: api)
        let first = try vault.addBatch(1)
        let second = try vault.addBatch(2)
        let third = try vault.addBatch(3, in: api)
        try vault.store(
            Array("first of the key".utf8), in: records[0], batch: first,
            .init(version: 1, isCurrent: false, formerName: "OLD_NAME"))
        try vault.store(
            Array("second of the key".utf8), in: records[0], batch: first,
            .init(version: 3, isCurrent: false))
        try vault.store(
            Array("now of the key".utf8), in: records[0], batch: second, .init(version: 4))
        try vault.store(Array("other".utf8), in: records[1], batch: first, .init(version: 2))
        try vault.store(Array("elsewhere".utf8), in: records[2], batch: third)
        vault.index.variables[1].highestVersion = 5
        try vault.addAccounts()
        vault.index.journal = [
            JournalEntry(
                id: identifier(0x60), kind: 201, createdAt: 5, payload: [1, 2, 3], section: nil),
            JournalEntry(id: identifier(0x61), kind: 200, createdAt: 6, payload: [], section: nil),
            JournalEntry(
                id: identifier(0x6A), kind: 202, createdAt: 7, payload: [4, 5, 6], section: web),
            JournalEntry(id: identifier(0x6B), kind: 200, createdAt: 8, payload: [], section: web),
        ]
        vault.index.formerLogKeys = [try secretSlice(32, 0xEE), try secretSlice(32, 0x11)]
        vault.index.metadata.generationTags = (5...8).map {
            .init(generation: $0, tag: [UInt8](repeating: UInt8($0), count: 16))
        }
        for path in ["/srv/b", "/srv/a"] {
            vault.index.metadata.approve(
                .init(
                    path: path, project: "prj_1", organisation: path == "/srv/a" ? "" : "team_1",
                    vaultProject: web))
        }
        vault.index.metadata.set("schema-env.staging", to: "preview")
        vault.index.metadata.set("schema-check", to: "on")
        return vault
    }

    /// One that ended, of no record of the vault.
    static func agreement(
        _ key: String = "ENDED_KEY", _ scope: Scope = Scope(targets: [.production, .preview]),
        record: String = "", variable: Identifier? = nil, comment: String? = "ended note",
        endedAt: UInt64 = endedTime
    ) -> Agreement {
        Agreement(
            key: key, scope: scope, record: record, account: "user_1", variable: variable,
            version: 0, kind: .plain, comment: comment, changedAt: 1_700_000_000_100, awaitedAt: 0,
            pushedAt: 0, endedAt: endedAt, earlier: nil)
    }

    mutating func addAccounts() throws {
        let arena = SecretArena()
        let token = try Array("token of work".utf8).withBytes { try arena.copy($0) }
        var home = Account(
            name: "home", origin: "https://api.example.com", userID: "user_2", username: "ada-l",
            isDefault: false, createdAt: 8, protection: .values, secret: token)
        home.secret = try keys().protected(token, for: home, vault: Self.vaultID, in: arena)
        index.accounts = [
            Account(
                name: "work", origin: "https://api.example.com", userID: "user_1",
                username: "ada", teamID: "team_2", teamSlug: "slug-2", isDefault: true,
                createdAt: Self.accountTime, expiresAt: Self.accountEnd, secret: token),
            home,
        ]
    }

    /// A registration with relay `number`, named after it.
    static func relay(_ number: UInt8) throws -> SecretJournalEntry {
        let made = try RelayRegistration(
            joinedAt: 1_700_000_000_000 + UInt64(number), relay: "https://relay-\(number).example",
            device: "device-0123456789", accounts: number == 1 ? ["team_1"] : ["team_1", "user_2"],
            token: secretSlice(43, 0x40 + number), seed: secretSlice(32, number)
        ).entry()
        return SecretJournalEntry(
            id: identifier(0x61 + 2 * number), createdAt: made.createdAt, payload: made.payload)
    }

    static func secretSlice(_ count: Int, _ byte: UInt8) throws -> SecretSlice {
        try [UInt8](repeating: byte, count: count).withBytes { try SecretArena().copy($0) }
    }

    /// The encoded items of the table's projects, journal or accounts.
    func items(of part: VectorPart) throws -> [[UInt8]] {
        func each<T>(_ items: [T], _ encode: (T, inout ByteWriter) -> Void) -> [[UInt8]] {
            items.map { item in encoded { encode(item, &$0) } }
        }
        switch part {
        case .projects:
            return each(index.projects.sorted { $0.id < $1.id }) { $0.encode(into: &$1) }
        case .journal:
            return each(index.journal.filter { $0.section == nil }) { $0.encode(into: &$1) }
        case .accounts:
            return index.accounts.sorted { $0.name < $1.name }.map { account in
                encoded { writer in
                    account.encodeFront(into: &writer)
                    account.secret.withBytes { bytes in
                        writer.raw((0..<bytes.byteCount).map { bytes.byte(at: $0) })
                    }
                }
            }
        case .records, .current, .earlier, .batches, .agreements, .entries:
            return items(of: Self.web)[part.number]
        case .metadata, .sections, .logKeys: throw AmbiguousChange(places: 0)
        }
    }
}

/// A part of the table, or of the section of the project "web".
enum VectorPart: CaseIterable {
    case metadata, projects, sections, journal, accounts, logKeys
    case records, current, earlier, batches, agreements, entries

    /// The table has the first six.
    private static let tableCount = 6

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    var isOfTable: Bool { place < Self.tableCount }
    /// From 0, in the table or in the section.
    var number: Int { isOfTable ? place : place - Self.tableCount }
    var name: String {
        "part \(number + 1) of \(isOfTable ? "the table" : "a section")"
    }
}

extension VectorVault {
    /// Changes the bytes of one part.
    mutating func change(
        _ part: VectorPart, _ change: @escaping (inout [UInt8]) throws -> Void
    ) {
        let edit: (inout [[UInt8]]) throws -> Void = { try change(&$0[part.number]) }
        if part.isOfTable { changeTable = edit } else { changeSection[Self.web] = edit }
    }
}
