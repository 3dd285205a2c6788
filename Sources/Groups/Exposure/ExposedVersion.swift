package import Vault

/// A version that a person could read through a group, or that they wrote.
package struct ExposedVersion: Equatable, Sendable {
    package let record: Identifier
    /// The operation that introduced it.
    package let reference: ChangeReference
    package let author: Identifier
    /// By the author's clock, in milliseconds since 1970.
    package let createdAt: UInt64

    /// Returns the versions of a compartment that members know, ascending by reference.
    ///
    /// Late changes count too: the keys open them all the same, and an admin can still take their
    /// values. Changes whose entry is missing say nothing yet.
    package static func versions(
        knownTo members: Set<Identifier>, of changes: some Sequence<ReceivedChange>,
        in chain: MembershipChain
    ) -> [ExposedVersion] {
        let readable = ReadableEpochs(by: members, in: chain)
        var found: [ExposedVersion] = []
        for change in changes {
            let header = change.header
            guard let operations = change.operations,
                let epoch = chain.link(header.entry)?.state.epochs[header.compartment]
            else { continue }
            let isReadable = readable.contains(
                EpochName(compartment: header.compartment, entry: epoch.entry))
            guard isReadable || members.contains(header.author) else { continue }
            for (place, operation) in operations.enumerated() {
                guard case .value = operation.operation, let record = operation.record else {
                    continue
                }
                found.append(
                    ExposedVersion(
                        record: record,
                        reference: ChangeReference(
                            change: change.name, operation: UInt16(place)),
                        author: header.author, createdAt: change.createdAt))
            }
        }
        return found.sorted { $0.reference < $1.reference }
    }
}
