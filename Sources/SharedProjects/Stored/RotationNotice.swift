package import Groups
package import Vault

/// A rotation that a colleague began and did not end: what they replace must not be changed at the
/// same time.
package struct RotationNotice: Equatable, Sendable {
    package let variable: Identifier
    /// The operation that says so.
    package let reference: ChangeReference
    package let author: Identifier
    /// By the author's clock, in milliseconds since 1970.
    package let beganAt: UInt64
}

extension RotationNotice {
    init(from reader: inout ByteReader) throws(VaultError) {
        variable = try reader.identifier()
        reference = try ChangeReference.decode(from: &reader)
        author = try reader.identifier()
        beganAt = try reader.uint64()
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(variable)
        reference.encode(into: &writer)
        writer.identifier(author)
        writer.uint64(beganAt)
    }

    /// Returns the notices about a variable of this vault, with the project that is shared.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func all(
        about variables: Set<Identifier>, in index: VaultIndex
    ) throws(VaultError) -> [(notice: RotationNotice, shared: SharedProject)] {
        if index.journal.isEmpty { return [] }
        return try SharedProject.all(in: index).flatMap { shared in
            shared.notices.filter { variables.contains($0.variable) }.map { ($0, shared) }
        }
    }
}
