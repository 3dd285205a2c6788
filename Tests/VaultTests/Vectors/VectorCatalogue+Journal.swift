import Sealing

@testable import Vault

/// Valid and invalid journals.
extension VectorCatalogue {
    private static let preview = Scope(targets: .preview, branch: "main")

    private static func send(
        _ action: SendEntry.Action, _ number: UInt8, targets: Scope = preview,
        released: Scope = Scope(targets: []), agreed: Scope = preview, sendsValue: Bool = true
    ) -> JournalEntry {
        let made = SendEntry(
            createdAt: 1_700_000_000_000, action: action, project: VectorVault.web,
            variable: action == .delete ? nil : VectorVault.records[0], vercelProject: "prj_1",
            author: action == .change ? "user_1" : "",
            target: action == .create ? nil : .init(id: "env_1", updatedAt: 7), key: "KEY",
            kind: .sensitive, comment: "note", targets: targets, released: released,
            agreed: agreed, version: action == .delete ? 0 : 1, sendsValue: sendsValue,
            sentAfter: 1_700_000_001_000
        ).until(action == .change ? 1_700_000_002_000 : 0).entry
        return JournalEntry(
            id: VectorVault.identifier(0x64 + number), kind: made.kind, createdAt: made.createdAt,
            payload: made.payload, section: made.section)
    }

    private static func deletion(
        _ number: UInt8, targets: Scope = Scope(targets: []), agreed: Scope = Scope(targets: []),
        sendsValue: Bool = false
    ) -> JournalEntry {
        send(
            .delete, number, targets: targets, released: preview, agreed: agreed,
            sendsValue: sendsValue)
    }

    private static func changed(
        _ entry: JournalEntry, kind: UInt8? = nil, _ change: (inout [UInt8]) -> Void
    ) -> JournalEntry {
        var payload = entry.payload
        change(&payload)
        return JournalEntry(
            id: entry.id, kind: kind ?? entry.kind, createdAt: entry.createdAt, payload: payload,
            section: kind == RotationEntry.endedKind ? RotationEntry.endedSection : entry.section)
    }

    private static func changed(
        _ entry: SecretJournalEntry, _ change: (inout [UInt8]) -> Void
    ) throws -> SecretJournalEntry {
        var payload = RelayRegistrationTests.bytes(entry.payload)
        change(&payload)
        return SecretJournalEntry(
            id: entry.id, createdAt: entry.createdAt,
            payload: try RelayRegistrationTests.slice(payload))
    }

    mutating func addJournals() throws {
        let small = try VectorVault.small()
        try add("ok", "sends", "writes to the platform, one of each action", small) {
            $0.index.journal = [
                Self.send(.create, 0), Self.send(.change, 1), Self.deletion(2),
            ]
        }
        let wide = Scope(targets: .all, customEnvironments: ["env-a", "env-b"])
        try add("ok", "sends-parts", "sends about a part of a record, and one of no value", small) {
            $0.index.journal = [
                Self.send(
                    .change, 0, targets: wide, released: Self.preview,
                    agreed: Scope(targets: .preview, customEnvironments: ["env-b"])),
                Self.send(
                    .change, 1, targets: wide, agreed: Scope(targets: []), sendsValue: false),
                Self.send(.create, 2, targets: Scope(targets: []), agreed: Scope(targets: [])),
            ]
        }
        let production = Scope(targets: .production)
        let contradictions: [(String, String, JournalEntry)] = [
            (
                "send-released", "a creation that releases something",
                Self.send(.create, 0, released: production)
            ),
            (
                "send-agreed", "a send about more than its targets",
                Self.send(.change, 0, targets: wide, agreed: Self.preview)
            ),
            (
                "send-agreed-environment", "a send about another custom environment",
                Self.send(
                    .change, 0, targets: wide,
                    agreed: Scope(targets: [], customEnvironments: ["env-c"]))
            ),
            (
                "send-deletion-targets", "a deletion that leaves targets",
                Self.deletion(0, targets: production)
            ),
            (
                "send-deletion-agreed", "a deletion about targets that it does not leave",
                Self.deletion(0, agreed: production)
            ),
            (
                "send-deletion-value", "a deletion that sends a value",
                Self.deletion(0, sendsValue: true)
            ),
        ]
        for (name, description, entry) in contradictions {
            try add("encoding", name, description, small) { $0.index.journal = [entry] }
        }
        try add("encoding", "send-branch", "a send that releases a branch of nothing", small) {
            let creation = Self.send(.create, 0)
            let following = encoded { Self.preview.encode(into: &$0) }.count + 25
            $0.index.journal = [
                Self.changed(creation) { payload in
                    payload.replaceSubrange(
                        payload.count - following - 1..<payload.count - following,
                        with: [1] + text("main"))
                }
            ]
        }
        typealias Change = (inout [UInt8]) -> Void
        let send = Self.send(.change, 0)
        let sends: [(String, String, String, Change)] = [
            ("bounds", "send-cut", "a send without its last byte", { $0.removeLast() }),
            ("bounds", "send-empty", "a send of no bytes", { $0 = [] }),
            ("encoding", "send-longer", "a byte behind a send", { $0.append(0) }),
            ("encoding", "send-action", "a send of action 9", { $0[0] = 9 }),
            ("encoding", "send-target", "a creation of what is there", { $0[0] = 1 }),
        ]
        for (kind, name, description, change) in sends {
            try add(kind, name, description, small) {
                $0.index.journal = [Self.changed(send, change)]
            }
        }
        try add("encoding", "send-no-target", "a change of nothing", small) {
            $0.index.journal = [Self.changed(Self.send(.create, 0)) { $0[0] = 2 }]
        }
        let rotation = try RotationEntryTests.sample(isFull: true, isOpen: true).entry()
        let rotations: [(String, String, String, UInt8?, Change)] = [
            (
                "bounds", "rotation-cut", "a rotation without its last byte", nil,
                { $0.removeLast() }
            ),
            ("encoding", "rotation-longer", "a byte behind a rotation", nil, { $0.append(0) }),
            ("encoding", "rotation-end", "a rotation that has ended and has no end", 3, { _ in }),
            ("bounds", "rotation-empty", "a rotation of no bytes", nil, { $0 = [] }),
        ]
        for (kind, name, description, number, change) in rotations {
            try add(kind, name, description, small) {
                $0.index.journal = [Self.changed(rotation, kind: number, change)]
            }
        }
        try addRelays(small)
    }

    private mutating func addRelays(_ small: VectorVault) throws {
        let relay = try VectorVault.relay(1)
        let relays: [(String, String, String, (inout [UInt8]) -> Void)] = [
            ("bounds", "relay-cut", "a relay without its last byte", { $0.removeLast() }),
            ("encoding", "relay-longer", "a byte behind a relay", { $0.append(0) }),
            (
                "encoding", "relay-token", "a line end in a relay's token",
                { $0[$0.count - 33] = 0x0D }
            ),
        ]
        for (kind, name, description, change) in relays {
            try add(kind, name, description, small) {
                $0.index.secretJournal = [try Self.changed(relay, change)]
            }
        }
        try add("layout", "relays-17", "seventeen relays", small) { vault in
            for number in 1...17 as ClosedRange<UInt8> {
                let made = try VectorVault.relay(number)
                vault.index.secretJournal.append(
                    SecretJournalEntry(
                        id: VectorVault.identifier(0x80 + number), createdAt: made.createdAt,
                        payload: made.payload))
            }
        }
        try add("layout", "relays-same", "one relay twice", small) { vault in
            vault.index.secretJournal = [
                relay,
                SecretJournalEntry(
                    id: VectorVault.identifier(0x90), createdAt: 1, payload: relay.payload),
            ]
        }
    }
}
