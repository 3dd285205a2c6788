import Foundation
import TestSupport
import Testing
import Vault

@testable import SecretServiceKeyring

@Suite("A desktop keyring that cannot be used")
struct UnavailableKeyringTests {
    private let item = KeyringItem.slotKey("0123456789abcdef")
    private let key = [UInt8](repeating: 9, count: 32)

    /// Every call throws `code`, within `limit`.
    private func expectFailure(
        _ code: KeyringError.Code, of connection: SecretServiceKeyring,
        within limit: Duration = .seconds(3),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let calls: [() throws -> Void] = [
            { _ = try connection.bytes(for: item) }, { try connection.store(key, for: item) },
            { try connection.remove(item) },
        ]
        for call in calls {
            let time = ContinuousClock().measure {
                expectKeyringError(code, sourceLocation: sourceLocation, call)
            }
            #expect(time < limit, sourceLocation: sourceLocation)
        }
    }

    @Test func `without a prompter a locked collection is locked`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.lock()
        expectFailure(.locked, of: keyring.connection())
        #expect(try keyring.itemCount() == (0, 1))
    }

    @Test func `a collection that was never unlocked is locked, and its items are not missing`()
        throws
    {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.restart(unlocked: false)
        expectFailure(.locked, of: keyring.connection())
        // Neither is an item that does not exist: this is unknown while locked.
        expectKeyringError(.locked) {
            try keyring.connection().bytes(for: .slotKey("ffff"))
        }
        try keyring.restart(unlocked: true)
        #expect(try keyring.connection().bytes(for: item) == key)
    }

    @Test func `a prompt that the user declines leaves it locked`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.lock()
        let prompter = try DecliningPrompter(for: keyring)
        defer { withExtendedLifetime(prompter) {} }
        expectFailure(.locked, of: keyring.connection())
    }

    @Test func `a search finds the items of a collection that was never unlocked`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.restart(unlocked: false)
        var session = try SecretServiceSession(
            address: keyring.bus.address, limitMilliseconds: 20_000)
        let matches = try session.matches(
            vault: item.vault, purpose: item.purpose.rawValue, identifier: item.identifier)
        #expect(matches.unlockedCount == 0)
        #expect(matches.lockedCount == 1)
    }

    @Test func `an unanswered prompt ends at the time limit`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.lock()
        let prompter = try keyring.bus.client()
        defer { withExtendedLifetime(prompter) {} }
        try prompter.own("org.gnome.keyring.SystemPrompter")
        let connection = keyring.connection(limit: .milliseconds(700))
        let time = ContinuousClock().measure {
            expectKeyringError(.locked) { try connection.bytes(for: item) }
        }
        #expect(time > .milliseconds(600) && time < .seconds(30))
        expectFailure(.locked, of: connection, within: .seconds(30))
        // The service still works.
        #expect(try keyring.connection().status().collection == .locked)
        #expect(try keyring.itemCount() == (0, 1))
    }

    @Test func `a service that does not reply ends at the time limit`() throws {
        let bus = try PrivateBus()
        defer { withExtendedLifetime(bus) {} }
        let service = try bus.client()
        defer { withExtendedLifetime(service) {} }
        try service.own("org.freedesktop.secrets")
        let connection = SecretServiceKeyring(
            busAddress: bus.address, limit: .milliseconds(300))
        expectFailure(.failed, of: connection, within: .seconds(30))
    }

    @Test func `a bus without a Secret Service has no provider`() throws {
        let bus = try PrivateBus()
        defer { withExtendedLifetime(bus) {} }
        let connection = SecretServiceKeyring(busAddress: bus.address, limit: .seconds(20))
        expectFailure(.noProvider, of: connection)
        expectKeyringError(.noProvider) { try connection.status() }
    }

    @Test func `a service that exited is not a provider`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        try connection.store(key, for: item)
        keyring.stop()
        expectFailure(.noProvider, of: connection)
    }

    @Test(arguments: [
        nil, "", "unix:path=/nonexistent/bus", "autolaunch:", "nonsense",
        "tcp:host=127.0.0.1,port=1",
        "unix:", ":::", "unix:path=/dev/null",
    ])
    func `without an address there is no bus`(address: String?) {
        expectFailure(.noBus, of: SecretServiceKeyring(busAddress: address, limit: .seconds(20)))
    }

    @Test func `a bus that does not reply is unavailable`() throws {
        let directory = try TemporaryDirectory()
        let listener = try SilentListener(path: directory.path("bus"))
        let connection = SecretServiceKeyring(
            busAddress: "unix:path=\(listener.path)", limit: .milliseconds(300))
        expectFailure(.noBus, of: connection, within: .seconds(30))
    }

    @Test func `a bus that exited is unavailable`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        try connection.store(key, for: item)
        keyring.bus.stop()
        expectFailure(.noBus, of: connection)
    }
}
