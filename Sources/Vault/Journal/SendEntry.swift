internal import Sealing

/// One write to the platform that was begun: sealed in the journal before the request goes out, and
/// taken out once its answer is recorded. What is found there later has an unknown outcome.
///
/// Holds numbers of versions, never a value or anything made from one.
package struct SendEntry: Equatable, Sendable {
    /// What the request asks for.
    package enum Action: UInt8, Sendable {
        /// A new record.
        case create = 1
        /// Another value, scope, type or comment of a record.
        case change = 2
        /// That a record goes.
        case delete = 3
    }

    /// The platform's record before the request.
    package struct Target: Equatable, Sendable {
        /// The platform's id.
        package let id: String
        /// The platform's time of change, in milliseconds since 1970.
        package let updatedAt: UInt64

        /// Names both.
        package init(id: String, updatedAt: UInt64) {
            self.id = id
            self.updatedAt = updatedAt
        }
    }

    /// The entry's own name.
    package private(set) var id: Identifier
    /// By this machine's clock, in milliseconds since 1970.
    package let createdAt: UInt64
    /// What was asked for.
    package let action: Action
    /// The vault's project.
    package let project: Identifier
    /// The vault's record; nil for one that only the platform had.
    package let variable: Identifier?
    /// The platform's id of the project.
    package let platformProject: String
    /// The platform's id of the user whose token it was; empty when unknown.
    package let author: String
    /// What is to be changed or deleted; nil for a creation.
    package let target: Target?
    /// The key that was sent.
    package let key: String
    /// What was sent beside the value; for a deletion, what was there.
    package let attributes: VariableAttributes
    /// The version whose value was sent, 0 for none.
    package let version: UInt64
    /// The platform's time of the listing before the request, in milliseconds since 1970 and to the
    /// second; 0 where it did not say. The request changed nothing before.
    package let sentAfter: UInt64
    /// The platform's time of the first listing after the request; 0 where there was none.
    package private(set) var sentUntil: UInt64

    /// Names all parts; the entry's own name is made where none is given.
    package init(
        id: Identifier = .random(), createdAt: UInt64, action: Action, project: Identifier,
        variable: Identifier?, platformProject: String, author: String, target: Target?,
        key: String, attributes: VariableAttributes, version: UInt64, sentAfter: UInt64,
        sentUntil: UInt64 = 0
    ) {
        (self.id, self.createdAt, self.action) = (id, createdAt, action)
        (self.project, self.variable) = (project, variable)
        (self.platformProject, self.author, self.target) = (platformProject, author, target)
        (self.key, self.attributes, self.version) = (key, attributes, version)
        (self.sentAfter, self.sentUntil) = (sentAfter, sentUntil)
    }

    /// The same entry, with a name of its own, once a listing was made after its request.
    package func until(_ time: UInt64) -> SendEntry {
        var entry = self
        (entry.id, entry.sentUntil) = (.random(), time)
        return entry
    }

    /// The kind of journal entries that hold sends.
    static let kind: UInt8 = 1

    /// Reads a journal entry; nil for one of another kind.
    ///
    /// - Throws: ``VaultError/Code/damaged`` when it is none of this form.
    init?(_ entry: JournalEntry) throws(VaultError) {
        guard entry.kind == Self.kind else { return nil }
        self = try entry.payload.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let send = try Self.decode(from: &reader, of: entry)
                try reader.expectEnd(of: "a journal entry")
                return send
            }
        }
    }

    /// The journal entry that ``init(_:)`` reads.
    var entry: JournalEntry {
        var writer = ByteWriter()
        writer.byte(action.rawValue)
        writer.identifier(project)
        writer.flag(variable != nil)
        if let variable { writer.identifier(variable) }
        writer.text(platformProject)
        writer.text(author)
        writer.flag(target != nil)
        if let target {
            writer.text(target.id)
            writer.uint64(target.updatedAt)
        }
        writer.text(key)
        attributes.encode(into: &writer)
        writer.uint64(version)
        writer.uint64(sentAfter)
        writer.uint64(sentUntil)
        return JournalEntry(
            id: id, kind: Self.kind, createdAt: createdAt, payload: writer.bytes)
    }

    private static func decode(
        from reader: inout ByteReader, of entry: JournalEntry
    ) throws(VaultError) -> SendEntry {
        let limit = VaultFormat.textLimit
        guard let action = Action(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a journal entry asks for something unknown")
        }
        let project = try reader.identifier()
        let variable = try reader.flag() ? try reader.identifier() : nil
        let (platformProject, author) = (
            try reader.text(limit: limit), try reader.text(limit: limit)
        )
        let target =
            try reader.flag()
            ? Target(id: try reader.text(limit: limit), updatedAt: try reader.uint64()) : nil
        guard (target == nil) == (action == .create) else {
            throw VaultError(damaged: .encoding, "a journal entry contradicts itself")
        }
        return SendEntry(
            id: entry.id, createdAt: entry.createdAt, action: action, project: project,
            variable: variable, platformProject: platformProject, author: author, target: target,
            key: try reader.text(limit: VaultFormat.nameLimit),
            attributes: try VariableAttributes.decode(from: &reader),
            version: try reader.uint64(), sentAfter: try reader.uint64(),
            sentUntil: try reader.uint64())
    }
}
