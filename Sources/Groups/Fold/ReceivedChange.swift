package import Vault

/// A change as the fold takes it: without values and signature.
package struct ReceivedChange: Sendable {
    package let name: GroupHash
    package let header: ChangeHeader
    /// Milliseconds since 1970, by the author's clock; 0 until the change is opened.
    package let createdAt: UInt64
    /// Nil while the entry that the change names is missing: then nobody knows which key opens it.
    package let operations: [RecordOperation]?
    /// Whether the signature fits the key that the author has after the entry that the change names.
    let isSigned: Bool
}

extension ReceivedChange {
    /// Returns the operation that a reference to this change names; nil if it is not there.
    package func operation(_ reference: ChangeReference) -> RecordOperation? {
        guard let operations, Int(reference.operation) < operations.count else { return nil }
        return operations[Int(reference.operation)]
    }

    /// Returns the group's id of the version that an operation of this change introduces.
    package func versionID(of reference: ChangeReference) -> Identifier? {
        guard case .value(let value) = operation(reference)?.operation else { return nil }
        return VersionIdentity.id(author: header.author, seed: value.seed)
    }

    /// Creates a change that waits for its entry.
    package init(waiting change: Change) {
        name = change.name
        header = change.header
        createdAt = 0
        operations = nil
        isSigned = false
    }

    /// Opens a change, and checks its signature once and for all: the entry determines the key.
    ///
    /// - Parameters:
    ///   - entry: The valid entry that the change names.
    ///   - key: The index key of the change's epoch.
    /// - Throws: ``GroupError`` if the operations do not open or are not valid. The change then takes
    ///   no part in the fold.
    package init(
        opening change: Change, after entry: MembershipChain.Link,
        with key: borrowing IndexKeyOfEpoch
    ) throws(GroupError) {
        let content = try change.open(with: key)
        name = change.name
        header = change.header
        createdAt = content.createdAt
        operations = content.operations
        let author = entry.state.members[change.header.author]
        isSigned = author.map { change.isSigned(by: $0.keys) } ?? false
    }
}
