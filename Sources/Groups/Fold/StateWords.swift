internal import Sealing
package import Vault

/// What two people compare to find out whether they were shown the same history.
package enum StateWords {
    /// Returns 8 bytes that depend on the heads of the membership and of each compartment.
    ///
    /// - Parameters:
    ///   - membership: Ascending.
    ///   - heads: The heads of the changes of each compartment that has an epoch.
    package static func bytes(
        group: GroupHash, membership: [GroupHash], heads: [Identifier: [GroupHash]]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(GroupLabel.state.bytes)
        group.encode(into: &writer)
        writer.hashes(membership)
        for compartment in heads.keys.sorted() {
            writer.identifier(compartment)
            writer.hashes(heads[compartment] ?? [])
        }
        return Array(writer.withBytes { Digest.checksum($0) }.prefix(8))
    }
}
