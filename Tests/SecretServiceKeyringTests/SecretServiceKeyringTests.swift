import Sealing
import SecretServiceKeyring
import TestSupport
import Testing
import Vault

@Suite("The desktop keyring")
struct SecretServiceKeyringTests {
    private let item = KeyringItem.slotKey("0123456789abcdef")
    private let key = (0..<32).map { UInt8($0 * 7) }

    @Test func `a secret is stored, found by another connection, and removed`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        let other = keyring.connection()
        #expect(try other.bytes(for: item) == key)
        try other.remove(item)
        #expect(try other.bytes(for: item) == nil)
        #expect(try keyring.connection().bytes(for: item) == nil)
        #expect(try keyring.itemCount() == (0, 0))
    }

    @Test func `secrets of every length are read back`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        for count in [0, 1, 2, 3, 4, 31, 33, 1_000, 48_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 251) }
            try connection.store(bytes, for: item)
            #expect(try connection.bytes(for: item) == bytes)
        }
        #expect(try keyring.itemCount() == (1, 0))
    }

    @Test func `a secret stored again replaces the old one`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.connection().store(Array(key.reversed()), for: item)
        #expect(try keyring.connection().bytes(for: item) == key.reversed())
        #expect(try keyring.itemCount() == (1, 0))
    }

    @Test func `without prompting a secret is found, missing or locked`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        #expect(try connection.bytesWithoutAsking(for: item) == nil)
        try connection.store(key, for: item)
        #expect(try connection.bytesWithoutAsking(for: item) == key)
        try keyring.lock()
        for item in [item, .slotKey("00ff")] {
            expectKeyringError(.locked) { try connection.bytesWithoutAsking(for: item) }
        }
    }

    @Test func `vaults, purposes and identifiers are kept apart`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let anchor = KeyringItem(vault: item.vault, purpose: .anchor, identifier: "")
        let items = [item, .slotKey("00ff"), .slotKey(item.identifier, of: "b"), anchor]
        let connection = keyring.connection()
        for (index, item) in items.enumerated() {
            try connection.store([UInt8(index)], for: item)
        }
        for (index, item) in items.enumerated() {
            #expect(try connection.bytes(for: item) == [UInt8(index)])
        }
        try connection.remove(items[0])
        #expect(try connection.bytes(for: items[0]) == nil)
        #expect(Set(try connection.items(ofVault: item.vault)) == [.slotKey("00ff"), anchor])
        #expect(try connection.items(ofVault: items[2].vault) == [items[2]])
        #expect(try connection.items(ofVault: String(repeating: "c", count: 32)) == [])
    }

    @Test func `a keyring not used since its service started shows its items`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.restart(unlocked: true)
        #expect(try keyring.connection().bytes(for: item) == key)
        try keyring.connection().remove(item)
        try keyring.restart(unlocked: true)
        #expect(try keyring.connection().bytes(for: item) == nil)
    }

    @Test func `a connection survives a restart of its service`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        try connection.store(key, for: item)
        try keyring.restart(unlocked: true)
        #expect(try connection.bytes(for: item) == key)
        try keyring.restart(unlocked: true)
        try connection.store([1], for: item)
        try keyring.restart(unlocked: true)
        try connection.remove(item)
        #expect(try keyring.itemCount() == (0, 0))
    }

    @Test func `an item that somebody deleted is not an error`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        try connection.store(key, for: item)
        try keyring.deleteItems()
        #expect(try connection.bytes(for: item) == nil)
        try connection.remove(item)
    }

    @Test(arguments: [
        "not base64!", "AAA", "AAA=AAA=", "AB==", "AAF=", "A===", "====", "AAAA\n", " AAAA",
        "AAAA====", "A-_A", "\u{0}AAA", String(repeating: "A", count: 65_540),
    ])
    func `an item with other text is malformed`(text: String) throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        try connection.store(key, for: item)
        try keyring.overwriteItems(with: Array(text.utf8))
        expectKeyringError(.malformed) { try connection.bytes(for: item) }
        // It can be replaced, and removed.
        try connection.store(key, for: item)
        #expect(try connection.bytes(for: item) == key)
        try keyring.overwriteItems(with: Array(text.utf8))
        try connection.remove(item)
        #expect(try keyring.itemCount() == (0, 0))
    }

    @Test func `the service and its collection are named without a prompt`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        #expect(try connection.status().serviceName == "gnome-keyring")
        #expect(try connection.status().collection == .unlocked)
        try keyring.lock()
        #expect(try connection.status().collection == .locked)
    }

    // MARK: - Items of other programs

    /// The attributes of an item, as any program in the session sees them.
    private func attributes(_ item: KeyringItem) -> [String: String] {
        [
            "application": "zg-env", "vault": item.vault, "purpose": item.purpose.rawValue,
            "identifier": item.identifier,
        ]
    }

    private func found(
        _ connection: SecretServiceKeyring, _ wanted: [UInt8], asking: Bool = true
    ) throws -> [UInt8]? {
        func isWanted(_ secret: borrowing SecretBytes) -> Bool {
            secret.withBytes { span in
                (0..<span.byteCount).map { span.byte(at: $0) } == wanted
            }
        }
        let secret =
            asking
            ? try connection.secret(for: item, where: isWanted)
            : try connection.secretWithoutPrompting(for: item, where: isWanted)
        guard let secret else { return nil }
        return secret.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    }

    @Test func `SEC-F17: items planted beside a secret do not hide it`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let connection = keyring.connection()
        for text in ["AAAA", "BBBB", "not base64!"] {
            try keyring.plant(text, attributes: attributes(item))
        }
        try connection.store(key, for: item)
        for text in ["CCCC", "AAAA", String(repeating: "A", count: 65_540)] {
            try keyring.plant(text, attributes: attributes(item))
        }
        #expect(try keyring.itemCount().unlocked >= 4)
        for asking in [true, false] {
            #expect(try found(connection, key, asking: asking) == key)
            // No secret is wanted, and the item is not ours.
            expectKeyringError(.malformed) { try found(connection, [1], asking: asking) }
        }
    }

    @Test func `SEC-F17: an item planted in an open collection does not replace a locked one`()
        throws
    {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        try keyring.connection().store(key, for: item)
        try keyring.plant("AAAA", attributes: attributes(item), in: "session")
        let connection = keyring.connection(limit: .seconds(1))
        #expect(try found(connection, key) == key)
        try keyring.lock()
        // The planted one opens nothing, so the locked one is requested; nobody answers here.
        expectKeyringError(.locked) { try found(connection, key) }
        // An open one that matches is enough: nothing else is unlocked.
        #expect(try found(connection, [0, 0, 0]) == [0, 0, 0])
        #expect(try keyring.itemCount().locked == 1)
    }

    @Test func `SEC-F17: too many items are an error, and not an endless search`()
        throws
    {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        for number in 0..<257 {
            try keyring.plant(
                "AAAA", attributes: attributes(item).merging(["n": "\(number)"]) { $1 })
        }
        expectKeyringError(.failed) { try found(keyring.connection(), key) }
    }
}
