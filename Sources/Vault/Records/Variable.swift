/// A variable's record: a name in one scope of one project. Its values are stored elsewhere.
package struct Variable: Equatable, Sendable {
    /// Permanent.
    package let id: Identifier
    /// Whose section it is in.
    package internal(set) var project: Identifier
    package var name: String
    package var attributes: VariableAttributes
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// Milliseconds since 1970; updated with every change of value or attributes.
    package var updatedAt: UInt64
    /// When it was removed here. Its history is kept, and Vercel may still have it.
    package var deletedAt: UInt64?
    /// The version that `reveal` shows; 0 if the vault has no value.
    package var currentVersion: UInt64
    /// The highest version number ever assigned; numbers are never reused.
    package var highestVersion: UInt64
    /// After how many seconds to replace the value; 0 for never.
    package var rotationSeconds: UInt64
    /// The record on Vercel, if known; nil also if the index was opened without agreements.
    package var remote: RemoteState? {
        get { if case .known(let state) = kept { state } else { nil } }
        set { kept = newValue.map(Remote.known) ?? .none }
    }
    private var kept = Remote.none

    /// Takes a state of its own name instead of another, of those one that stands instead of one that is
    /// gone, then one of its own targets, and any instead of none.
    ///
    /// - Returns: The one that is not taken or was replaced.
    mutating func choose(_ state: RemoteState) -> RemoteState? {
        guard case .known(let old) = kept else {
            kept = .known(state)
            return nil
        }
        guard rank(of: state) < rank(of: old) else { return state }
        kept = .known(state)
        return old
    }

    private func rank(of state: RemoteState) -> Int {
        if byteOrder(state.key, name) != 0 { return state.isGone ? 4 : 3 }
        if state.isGone { return 2 }
        return attributes.scope.overlaps(state.agreed.scope) ? 0 : 1
    }

    /// Indirect, because it is as large as the rest of a record, and most have none.
    private enum Remote: Equatable, Sendable {
        case none
        indirect case known(RemoteState)
    }

    package init(
        id: Identifier = .random(), project: Identifier, name: String,
        attributes: VariableAttributes, createdAt: UInt64
    ) {
        self.id = id
        self.project = project
        self.name = name
        self.attributes = attributes
        self.createdAt = createdAt
        updatedAt = createdAt
        currentVersion = 0
        highestVersion = 0
        rotationSeconds = 0
    }

    /// Whether the record is in use.
    package var isLive: Bool { deletedAt == nil }

    /// Whether the record was removed here and no longer exists on Vercel. The live deployment may
    /// have been built before that.
    package var isRemovedEverywhere: Bool { !isLive && remote?.isGone == true }

    /// The version that Vercel has; nil if Vercel has no record.
    package var vercelVersion: UInt64? { isRemovedEverywhere ? nil : remote?.pushedVersion }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.text(name)
        attributes.encode(into: &writer)
        writer.uint64(createdAt)
        writer.uint64(updatedAt)
        writer.uint64(deletedAt ?? 0)
        writer.uint64(currentVersion)
        writer.uint64(highestVersion)
        writer.uint64(rotationSeconds)
    }

    static let minimumByteCount = 76

    /// - Parameter project: That the section belongs to.
    static func decode(
        from reader: inout ByteReader, project: Identifier
    ) throws(VaultError) -> Variable {
        let id = try reader.identifier()
        let name = try reader.text(limit: VaultFormat.nameLimit)
        let attributes = try VariableAttributes.decode(from: &reader)
        var variable = Variable(
            id: id, project: project, name: name, attributes: attributes,
            createdAt: try reader.uint64())
        variable.updatedAt = try reader.uint64()
        let deletedAt = try reader.uint64()
        variable.deletedAt = deletedAt == 0 ? nil : deletedAt
        variable.currentVersion = try reader.uint64()
        variable.highestVersion = try reader.uint64()
        variable.rotationSeconds = try reader.uint64()
        guard !name.isEmpty else {
            throw VaultError(damaged: .encoding, "a variable has no name")
        }
        guard variable.currentVersion <= variable.highestVersion else {
            throw VaultError(
                damaged: .bounds, "\(name) has a version above the highest assigned one")
        }
        return variable
    }
}
