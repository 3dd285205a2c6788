import Sealing
import Testing

@testable import Vault

/// Rotations as bytes of the journal.
@Suite("Rotations in the journal")
struct RotationEntryTests {
    /// A rotation with every optional member set, or none.
    static func sample(isFull: Bool, isOpen: Bool) -> RotationEntry {
        var options = RotationPlan.Options()
        if isFull {
            options.commands.apply = "apply"
            options.commands.check = "check"
            (options.commands.checkURL, options.commands.checkStatus) = ("/health", 204)
            options.commands.revoke = "revoke"
            (options.redeploys, options.promotes, options.failurePolicy) = (true, true, .keep)
        }
        let members = (0..<(isFull ? 2 : 1)).map { number in
            RotationPlan.Member(
                project: VectorVault.identifier(0x11 + UInt8(number)), name: "web\(number)",
                vercelProject: "prj_\(number)", vercelName: "web",
                target: isFull ? "production" : nil, source: isFull ? "dpl_1" : nil, newestAt: 7,
                records: [
                    .init(
                        variable: VectorVault.identifier(0x31 + UInt8(number)), oldVersion: 1,
                        newVersion: 2)
                ])
        }
        var entry = RotationEntry(
            id: VectorVault.identifier(isOpen ? 0x62 : 0x63), createdAt: 1_700_000_000_000,
            plan: RotationPlan(
                key: "KEY", options: options, members: members))
        if isFull {
            entry.progress[.apply] = .done
            entry.progress.failure = .init(.check, "it failed")
            entry.progress.failedMember = 1
            entry.progress.members[0].push = .done
            entry.progress.members[0].build.id = "dpl_2"
            entry.progress.members[0].build.evidence = .holdsNew
            entry.progress.members[1].trouble = .init(.changedThere, "somebody set it")
        }
        if !isOpen { entry.endedAt = 1_700_000_000_900 }
        return entry
    }

    @Test(arguments: [true, false], [true, false])
    func `are read back as written, and encode to the same bytes`(
        isFull: Bool, isOpen: Bool
    ) throws {
        let rotation = Self.sample(isFull: isFull, isOpen: isOpen)
        let entry = try rotation.entry()
        #expect(entry.kind == (isOpen ? 2 : 3))
        let again = try #require(try RotationEntry(entry))
        #expect(again == rotation)
        #expect(try again.entry() == entry)
        #expect(
            try RotationEntry(
                JournalEntry(id: entry.id, kind: 1, createdAt: 1, payload: [1], section: nil))
                == nil)
    }

    @Test(arguments: [true, false])
    func `are damage where anything is missing or left over`(isOpen: Bool) throws {
        let entry = try Self.sample(isFull: true, isOpen: isOpen).entry()
        func read(_ payload: [UInt8], kind: UInt8) throws {
            _ = try RotationEntry(
                JournalEntry(
                    id: entry.id, kind: kind, createdAt: entry.createdAt, payload: payload,
                    section: entry.section))
        }
        for length in entry.payload.indices {
            #expect(
                code { try read(Array(entry.payload[..<length]), kind: entry.kind) } == .damaged,
                "\(length)")
        }
        #expect(code { try read(entry.payload + [0], kind: entry.kind) } == .damaged)
        // An open rotation has not ended, and one that has ended is not open.
        #expect(code { try read(entry.payload, kind: 5 - entry.kind) } == .damaged)
    }

    @Test func `with one bit flipped decode to another rotation or not at all`() throws {
        let entry = try Self.sample(isFull: true, isOpen: true).entry()
        for place in entry.payload.indices {
            for bit in [0x01, 0x80] as [UInt8] {
                var payload = entry.payload
                payload[place] ^= bit
                let other = JournalEntry(
                    id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: payload,
                    section: entry.section)
                // Whatever decodes is written back as it was read.
                guard let read = try? RotationEntry(other) else { continue }
                #expect(try read.entry() == other, "\(place)")
            }
        }
    }

    @Test func `changed with the index key alone are damage for every reader`() throws {
        let fixture = try VaultFixture()
        let rotation = Self.sample(isFull: true, isOpen: true)
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { try $0.keep(rotation) }
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            let found = try transaction.rotation(rotation.id)
            #expect(found == rotation)
        }
        // Someone with the index key inserts another command.
        try fixture.forge(changing: { index in
            let position = try #require(index.journal.firstIndex { $0.kind == 2 })
            let entry = index.journal[position]
            var payload = entry.payload
            let place = try #require(payload.firstIndex(of: UInt8(ascii: "a")))
            payload[place] = UInt8(ascii: "b")
            index.journal[position] = JournalEntry(
                id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: payload,
                section: entry.section)
        })
        // Exit code 8 in every command.
        #expect(kindOfDamage { try fixture.set("A", "with the root") } == .signature)
        for reader in [fixture.keys, try fixture.lockedKeys] {
            for extent in [VaultIndex.Extent.listing, .everything] {
                #expect(fixture.damage(for: reader, extent) == .signature)
            }
            let found = try fixture.open().inspection(with: reader).problems
            #expect(found.map(\.damage) == [.signature])
        }
    }

    @Test func `that would outgrow the journal are refused at the start`() throws {
        func rotation(_ count: Int) -> RotationEntry {
            var entry = RotationEntry(
                createdAt: 1,
                plan: RotationPlan(
                    key: "KEY", options: .init(),
                    members: (0..<count).map { number in
                        RotationPlan.Member(
                            project: .random(), name: "web\(number)", vercelProject: "prj_1",
                            vercelName: "web", target: "production", source: "dpl_1",
                            newestAt: 7,
                            records: [.init(variable: .random(), oldVersion: 1, newVersion: 2)])
                    }))
            for place in entry.progress.members.indices {
                entry.progress.members[place].trouble = .init(
                    .push, String(repeating: "x", count: 1_024))
            }
            return entry
        }
        #expect(code { try rotation(1_000).checkSize() } == .tooLarge)
        let most = rotation(600)
        try most.checkSize()
        _ = try most.entry()
    }
}
