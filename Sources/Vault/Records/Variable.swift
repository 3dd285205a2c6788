/// One record of a variable: a key in one scope of one project. Its values stand elsewhere.
package struct Variable: Equatable, Sendable {
    /// Names the record for ever.
    package let id: Identifier
    /// The project it belongs to.
    package var project: Identifier
    /// The key.
    package var name: String
    /// Type, scope and comment.
    package var attributes: VariableAttributes
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// Milliseconds since 1970; moves with every change of value or attributes.
    package var updatedAt: UInt64
    /// When it was removed here; its history stays, and the platform may still have it.
    package var deletedAt: UInt64?
    /// The version that `reveal` shows; 0 where the vault holds no value.
    package var currentVersion: UInt64
    /// The highest version number ever given out; never used again.
    package var highestVersion: UInt64
    /// After how many seconds the value should be replaced; 0 for never.
    package var rotationSeconds: UInt64
    /// The platform's record, where it has one.
    package var remote: RemoteState? {
        get { if case .known(let state) = kept { state } else { nil } }
        set { kept = newValue.map(Remote.known) ?? .none }
    }
    private var kept = Remote.none

    /// Apart from the record: it is as large as all else of it, and most vaults have none.
    private enum Remote: Equatable, Sendable {
        case none
        indirect case known(RemoteState)
    }

    /// Makes a record without a value.
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

    /// Tells whether the record is in use.
    package var isLive: Bool { deletedAt == nil }

    /// Tells whether the record was removed here and is gone from the platform. What serves production may
    /// have been built before.
    package var isRemovedEverywhere: Bool { !isLive && remote?.isGone == true }

    /// The version that the platform has; nil where it has no record of this one.
    package var platformVersion: UInt64? { isRemovedEverywhere ? nil : remote?.pushedVersion }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.identifier(project)
        writer.text(name)
        attributes.encode(into: &writer)
        writer.uint64(createdAt)
        writer.uint64(updatedAt)
        writer.uint64(deletedAt ?? 0)
        writer.uint64(currentVersion)
        writer.uint64(highestVersion)
        writer.uint64(rotationSeconds)
        writer.flag(remote != nil)
        remote?.encode(into: &writer)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Variable {
        let id = try reader.identifier()
        let project = try reader.identifier()
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
        if try reader.flag() { variable.remote = try RemoteState.decode(from: &reader) }
        guard !name.isEmpty else {
            throw VaultError(damaged: .encoding, "a variable has no name")
        }
        guard variable.currentVersion <= variable.highestVersion else {
            throw VaultError(
                damaged: .bounds, "\(name) has a version above the highest that was given out")
        }
        return variable
    }
}
