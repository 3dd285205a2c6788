package import Vault

/// The four public keys of a member, 32 bytes each.
package struct MemberKeys: Hashable, Sendable {
    /// Ed25519; signs values, comments and new variables.
    package let write: [UInt8]
    /// Ed25519; signs entries, and what widens access.
    package let authority: [UInt8]
    /// X25519; receives index keys.
    package let indexBox: [UInt8]
    /// X25519; receives value secrets.
    package let valueBox: [UInt8]

    package init(write: [UInt8], authority: [UInt8], indexBox: [UInt8], valueBox: [UInt8]) {
        self.write = write
        self.authority = authority
        self.indexBox = indexBox
        self.valueBox = valueBox
    }

    package var all: [[UInt8]] { [write, authority, indexBox, valueBox] }

    package func encode(into writer: inout ByteWriter) {
        for key in all { writer.raw(key) }
    }

    package static func decode(from reader: inout ByteReader) throws(VaultError) -> MemberKeys {
        MemberKeys(
            write: try reader.bytes(32), authority: try reader.bytes(32),
            indexBox: try reader.bytes(32), valueBox: try reader.bytes(32))
    }
}
