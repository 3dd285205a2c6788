package import Vault

/// Names one operation of a change.
package struct ChangeReference: Hashable, Comparable, Sendable {
    package let change: GroupHash
    /// From 0.
    package let operation: UInt16

    static let byteCount = 34

    package init(change: GroupHash, operation: UInt16) {
        self.change = change
        self.operation = operation
    }

    package static func < (left: ChangeReference, right: ChangeReference) -> Bool {
        (left.change, left.operation) < (right.change, right.operation)
    }

    package func encode(into writer: inout ByteWriter) {
        change.encode(into: &writer)
        writer.uint16(operation)
    }

    package static func decode(from reader: inout ByteReader) throws(VaultError) -> ChangeReference
    {
        ChangeReference(
            change: try GroupHash.decode(from: &reader), operation: try reader.uint16())
    }
}
