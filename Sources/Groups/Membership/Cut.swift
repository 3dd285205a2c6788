package import Vault

/// The heads of a member's changes that an admin had when lowering the member's rights.
package struct Cut: Equatable, Sendable {
    /// The heads in one compartment.
    package struct Heads: Equatable, Sendable {
        package let compartment: Identifier
        /// Ascending, not empty.
        package let changes: [GroupHash]

        package init(compartment: Identifier, changes: [GroupHash]) {
            self.compartment = compartment
            self.changes = changes
        }
    }

    /// Ascending by compartment; compartments without changes are left out.
    package let compartments: [Heads]

    package init(_ compartments: [Heads] = []) { self.compartments = compartments }

    /// Sorts, and leaves out duplicates and compartments without changes.
    package init(heads: [Identifier: [GroupHash]]) {
        self.init(
            heads.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
                Heads(compartment: $0.key, changes: Set($0.value).sorted())
            })
    }

    package func heads(in compartment: Identifier) -> [GroupHash] {
        compartments.first { $0.compartment == compartment }?.changes ?? []
    }

    func encode(into writer: inout ByteWriter) {
        writer.list(compartments) { writer, heads in
            writer.identifier(heads.compartment)
            writer.hashes(heads.changes)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Cut {
        Cut(
            try reader.ascending(
                limit: GroupLimits.compartments, least: 20, of: "compartments of a cut",
                by: \.compartment
            ) { (reader) throws(VaultError) in
                let compartment = try reader.identifier()
                let changes = try reader.hashes(limit: GroupLimits.cut, of: "changes of a cut")
                try reader.require(!changes.isEmpty, .layout, "a cut has no changes")
                return Heads(compartment: compartment, changes: changes)
            })
    }
}
