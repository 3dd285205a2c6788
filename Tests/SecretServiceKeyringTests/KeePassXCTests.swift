import TestSupport
import Testing
import Vault

@testable import SecretServiceKeyring

/// The gnome-keyring tests with another program on the bus: KeePassXC.
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

    /// KeePassXC asks before it replaces an entry, whatever its settings. It asks nothing when an
    /// entry is removed and stored.
    @Test func `replacing a secret needs a confirmation, and without one the old secret stays`()
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

    @Test func `vaults and purposes are kept apart, at every length`() throws {
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

    @Test func `its items survive a restart`() throws {
        try connection().store(key, for: item)
        let kept = connection()
        #expect(try kept.bytes(for: item) == key)
        try service.restart()
        // The earlier connection notices that the service is another one.
        #expect(try kept.bytes(for: item) == key)
        #expect(try connection().bytes(for: item) == key)
    }

    @Test func `a locked database is reported as locked, after the timeout`() throws {
        try connection().store(key, for: item)
        try service.lock()
        #expect(try connection().status().collection == .locked)
        // Session negotiation must fit too, and takes KeePassXC half a second or more.
        let start = ContinuousClock.now
        expectKeyringError(.locked) {
            _ = try connection(limit: .seconds(5)).bytes(for: item)
        }
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `the list shows a vault and its orphaned items`() throws {
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
        #expect(doctor.output.contains("KeePassXC is running and unlocked."))
        #expect(doctor.output.contains("opens this vault"))
        #expect(try run("slot", "remove", id, "--yes").status == 0)
        #expect(try run("list", "-p", "web", unlocked: false).status == 3)
    }
}
