import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

/// After a failure at any step the vault is intact, with the old content or the new, and opens.
@Suite("A failing disk")
struct FaultTests {
    /// A change to a vault that keeps other ways to open it.
    enum Change: CaseIterable, CustomTestStringConvertible {
        case set, passwd, addSlot, rekey, restore, backUp

        var testDescription: String { "\(self)" }
    }

    private func apply(_ change: Change, _ fixture: VaultFixture, _ store: FaultyStore) throws {
        switch change {
        case .set:
            try Vault.update(
                fixture.path, in: store, keys: fixture.keys, vaultID: fixture.vaultID
            ) { transaction in
                let position = transaction.positionOfVariable("NEW")
                try Array("new".utf8).withBytes {
                    _ = try transaction.store($0, forVariableAt: position, at: 1)
                }
            }
        case .passwd:
            let (old, new) = (
                try fixture.open().header.slots[0], try fixture.passphraseSlot("second")
            )
            try fixture.updateSlots(in: store) { try $0.replace(slot: old.id, with: new) }
        case .addSlot:
            let new = try fixture.passphraseSlot("second")
            try fixture.updateSlots(in: store) { try $0.add(new) }
        case .rekey: try fixture.rekey(to: "second", in: store)
        case .restore:
            let path = fixture.directory.path("copy.zgv")
            let copy = try Vault(path: path, file: try fixture.store.openCopy(path))
            _ = try copy.restore(
                to: fixture.path, in: store, keys: fixture.keys, currentKeys: nil,
                keepingAt: fixture.directory.path("kept"), acceptsOther: false)
        case .backUp:
            _ = try fixture.open().writeCopy(
                to: fixture.directory.path("second.zgv"), in: store, replaces: true,
                keys: fixture.keys)
        }
    }

    @Test(arguments: Change.allCases)
    func `leaves an intact vault, old or new`(change: Change) throws {
        var outcomes: [String] = []
        for step in 0..<40 {
            let fixture = try VaultFixture()
            try fixture.set("KEY", "old")
            _ = try fixture.open().writeCopy(
                to: fixture.directory.path("copy.zgv"), in: fixture.store, replaces: false,
                keys: fixture.keys)
            try fixture.set("KEY", "value")
            let before = try fixture.directory.read("vault.zgv")
            let store = FaultyStore(fixture.store, failingAt: step)
            let error = code { try apply(change, fixture, store) }
            #expect((error != nil) == store.failed)
            let after = try fixture.directory.read("vault.zgv")
            let keys = try #require(fixture.opened("right").keys ?? fixture.opened("second").keys)
            try fixture.open().verify(with: keys)
            let changed = after != before
            outcomes.append(changed ? "new" : "old")
            // An old file is byte for byte the same; a new one is never reported as a plain
            // failure.
            if changed { #expect(error == nil || error == .notConfirmed) }
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
            #expect(!names.contains { $0.contains(".tmp-") })
            // The backup of the old file exists only if it was replaced.
            if change == .restore { #expect(names.contains("kept") == changed, "step \(step)") }
            if !store.failed { break }
        }
        // Once new it stays new, and the last run did not fail.
        #expect(outcomes == outcomes.sorted(by: >))
        #expect(outcomes.count > 3)
        #expect(outcomes.last == (change == .backUp ? "old" : "new"))
    }
}
