import TestSupport
import Testing
import Vault

@testable import SecretServiceKeyring

/// The same as with gnome-keyring, with another program behind the bus: KeePassXC.
@Suite(
    "KeePassXC as the desktop keyring", .serialized,
    .enabled(
        if: Proof.isFull && PrivateKeePassXC.isInstalled,
        "a program with a graphical toolkit; make proof installs it, and runs this"))
struct KeePassXCTests {
    private let item = KeyringItem.slotKey("0123456789abcdef")
    private let key = (0..<32).map { UInt8($0 * 7) }
    private let service: PrivateKeePassXC

    init() throws {
        service = try PrivateKeePassXC()
    }

    private func connection(limit: Duration = .seconds(20)) -> SecretServiceKeyring {
        SecretServiceKeyring(busAddress: service.bus.address, limit: limit)
    }

    @Test func `a secret is stored, found by another connection, and removed`() throws {
        #expect(
            try connection().status()
                == SecretServiceStatus(serviceName: "KeePassXC", collection: .unlocked))
        try connection().store(key, for: item)
        let other = connection()
        #expect(try other.bytes(for: item) == key)
        #expect(try other.items(ofVault: item.vault) == [item])
        try other.remove(item)
        #expect(try other.bytes(for: item) == nil)
        #expect(try connection().items(ofVault: item.vault) == [])
    }

    /// KeePassXC asks before an entry is replaced, whatever its settings say. Removed and stored, it
    /// asks nothing.
    @Test func `what is stored again is asked about, and the old one stays without an answer`()
        throws
    {
        try connection().store(key, for: item)
        expectKeyringError(.locked) {
            try connection(limit: .seconds(2)).store(Array(key.reversed()), for: item)
        }
        #expect(try connection().bytes(for: item) == key)
        let other = KeyringItem.slotKey("00ff")
        try connection().store(key, for: other)
        try connection().remove(other)
        try connection().store(Array(key.reversed()), for: other)
        #expect(try connection().bytes(for: other) == key.reversed())
    }

    @Test func `vaults and purposes are kept apart, in every length`() throws {
        let anchor = KeyringItem(vault: item.vault, purpose: .anchor, identifier: "")
        let items = [item, .slotKey("00ff"), .slotKey(item.identifier, of: "b"), anchor]
        let keyring = connection()
        let lengths = [1, 31, 32, 1_000]
        for (item, length) in zip(items, lengths) {
            try keyring.store(Array(repeating: UInt8(length & 255), count: length), for: item)
        }
        for (item, length) in zip(items, lengths) {
            #expect(try keyring.bytes(for: item)?.count == length)
        }
        #expect(try Set(keyring.items(ofVault: item.vault)) == [item, .slotKey("00ff"), anchor])
    }

    @Test func `what it keeps is there after a new start`() throws {
        try connection().store(key, for: item)
        let kept = connection()
        #expect(try kept.bytes(for: item) == key)
        try service.restart()
        // The connection of before notices that the service is another one.
        #expect(try kept.bytes(for: item) == key)
        #expect(try connection().bytes(for: item) == key)
    }

    @Test func `locked it is reported as locked, after the time given`() throws {
        try connection().store(key, for: item)
        try service.lock()
        #expect(try connection().status().collection == .locked)
        // Agreeing on the session must fit too, and takes KeePassXC half a second and more.
        let start = ContinuousClock.now
        expectKeyringError(.locked) {
            _ = try connection(limit: .seconds(5)).bytes(for: item)
        }
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `a vault is listed with it, and its orphans are found`() throws {
        let home = try CommandHome()
        func run(_ arguments: String..., unlocked: Bool = true) throws -> ProgramResult {
            try home.run(
                arguments, unlocked: unlocked,
                environment: ["DBUS_SESSION_BUS_ADDRESS": service.bus.address])
        }
        #expect(try run("init", "--lock", "--kdf", "8MiB,1").status == 0)
        #expect(
            try home.run(
                ["set", "KEY", "-p", "web"], input: .text("value"), unlocked: false,
                environment: ["DBUS_SESSION_BUS_ADDRESS": service.bus.address]
            ).status == 0)
        let list = try run("list", "-p", "web", "--json", unlocked: false)
        #expect(try JSONDocument(list.standardOutput)["variables"]?.elements.count == 1)
        let slots = try JSONDocument(try run("slot", "list", "--json").standardOutput)
        let slot = slots["slots"]?.elements.first { $0["kind"] == "secret-service" }
        let id = try #require(slot?["id"]?.text)
        let doctor = try run("doctor", "--offline", "--json", unlocked: false)
        #expect(doctor.output.contains("KeePassXC is there, and its collection is open."))
        #expect(doctor.output.contains("opens the names of this vault"))
        #expect(try run("slot", "remove", id, "--yes").status == 0)
        #expect(try run("list", "-p", "web", unlocked: false).status == 3)
    }
}
