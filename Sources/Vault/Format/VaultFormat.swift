/// Constants of format 3. `docs/vault-format.md` specifies the file.
///
/// | part   | bytes |
/// |--------|-------|
/// | header | 152, and 192 per slot: magic, lengths, vault id, generation, public key, slots, nonce, checksum |
/// | index  | XChaCha20-Poly1305 of the padded index and its proof, with the whole header as associated data |
/// | chunks | one per value: nonce 24, then XChaCha20-Poly1305 of the padded value; no gaps |
package enum VaultFormat {
    static let magic = Array("ZGVAULT\n".utf8)
    /// The format this program reads and writes.
    package static let number: UInt16 = 3
    /// The last format of pre-releases, which are rejected.
    static let lastPreReleaseNumber: UInt16 = 2
    static let fixedHeaderByteCount = 152
    static let slotByteCount = 192
    static let checksumByteCount = 32
    static let headerLimit = 64 << 10
    static let indexLimit = 256 << 20
    static let fileLimit: UInt64 = 4 << 30
    static let slotLimit = 16
    static let passphraseSlotLimit = 4
    /// In bytes.
    package static let nameLimit = 1 << 10
    /// In bytes.
    package static let valueLimit = 1 << 20
    static let recordLimit = 1_000_000
    static let versionLimit = 10_000
    static let generationTagLimit = 1_024
    static let directoryLimit = 10_000
    static let settingLimit = 1_000
    /// In bytes.
    package static let commentLimit = 4 << 10
    static let textLimit = 4 << 10
    static let indexPaddingStep = 4 << 10
    /// A code of 32 bytes and a signature of 64, after the index's content.
    static let indexProofByteCount = 96
}
