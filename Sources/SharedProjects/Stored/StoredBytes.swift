internal import Sealing
internal import Vault

/// Decodes what this module stores in the vault's journal.
enum StoredBytes {
    /// Passes a reader to `body`, which must read everything.
    static func decode<R>(
        _ bytes: [UInt8], of what: StaticString,
        _ body: (inout ByteReader) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        try bytes.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let result = try body(&reader)
                try reader.expectEnd(of: what)
                return result
            }
        }
    }
}
