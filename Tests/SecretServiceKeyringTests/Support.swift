import Sealing
import SecretServiceKeyring
import TestSupport
import Vault

extension PrivateKeyring {
    /// A new connection to this keyring, as a new process would have.
    func connection(limit: Duration = .seconds(20)) -> SecretServiceKeyring {
        SecretServiceKeyring(busAddress: bus.address, limit: limit)
    }
}

extension KeyringItem {
    static func slotKey(_ identifier: String, of vault: Character = "a") -> KeyringItem {
        KeyringItem(
            vault: String(repeating: vault, count: 32), purpose: .slotKey, identifier: identifier)
    }
}

extension SecretServiceKeyring {
    /// The bytes of a secret that are no secret in a test.
    func bytes(for item: KeyringItem) throws(KeyringError) -> [UInt8]? {
        guard let secret = try secret(for: item) else { return nil }
        return secret.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    }

    func store(_ bytes: [UInt8], for item: KeyringItem) throws {
        let secret = try bytes.withBytes { (span) throws(SealingError) in
            try SecretBytes(copying: span)
        }
        try store(secret, for: item)
    }
}
