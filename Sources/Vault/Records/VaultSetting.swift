/// A setting that is stored in the vault, because it decides what a command requires before values
/// leave: a holder of the index key must not be able to change it unseen.
package struct VaultSetting: Equatable, Sendable {
    /// At most 1 KiB, not empty. Its meaning is the caller's.
    package let name: String
    /// At most 1 KiB.
    package let value: String

    static let minimumByteCount = 8

    func encode(into writer: inout ByteWriter) {
        writer.text(name)
        writer.text(value)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> VaultSetting {
        let setting = VaultSetting(
            name: try reader.text(limit: VaultFormat.nameLimit),
            value: try reader.text(limit: VaultFormat.nameLimit))
        guard !setting.name.isEmpty else {
            throw VaultError(damaged: .encoding, "a setting has no name")
        }
        return setting
    }
}
