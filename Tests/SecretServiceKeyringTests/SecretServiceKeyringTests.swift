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
        try keyring.connection().store(key, for: item)
        let other = keyring.connection()
        #expect(try other.bytes(for: item) == key)
        try other.remove(item)
        #expect(try other.bytes(for: item) == nil)
        #expect(try keyring.connection().bytes(for: item) == nil)
        #expect(try keyring.itemCount() == (0, 0))
    }
}
