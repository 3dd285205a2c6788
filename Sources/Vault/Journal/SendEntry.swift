internal import Sealing

/// A write to Vercel: sealed in the journal before the request, and removed once the response is
/// recorded. The outcome of an entry found later is unknown.
///
/// Contains version numbers, never a value or anything derived from one.
package struct SendEntry: Equatable, Sendable {
    package enum Action: UInt8, Sendable {
        /// Create a record.
        case create = 1
        /// Change a record's value, scope, type or comment.
        case change = 2
        /// Delete a record.
        case delete = 3
    }

    /// The record on Vercel before the request.
    package struct Target: Equatable, Sendable {
        /// The id on Vercel.
        package let id: String
        /// Vercel's modification time, in milliseconds since 1970.
        package let updatedAt: UInt64

        package init(id: String, updatedAt: UInt64) {
            self.id = id
            self.updatedAt = updatedAt
        }
    }

    package private(set) var id: Identifier
    /// By this machine's clock, in milliseconds since 1970.
    package let createdAt: UInt64
    package let action: Action
    package let project: Identifier
    /// The vault's variable; nil for a record that only Vercel had.
    package let variable: Identifier?
    /// The project's id on Vercel.
    package let vercelProject: String
    /// The Vercel id of the user whose token was used; empty if unknown.
    package let author: String
    /// The record to change or delete; nil for a creation.
    package let target: Target?
    /// The variable's name.
    package let key: String
    /// The attributes sent; for a deletion, those of the deleted record.
    package let attributes: VariableAttributes
    /// The version whose value was sent; 0 for none.
    package let version: UInt64
    /// Vercel's time of the listing before the request, in milliseconds since 1970, precise to the
    /// second; 0 if unknown. The request changed nothing before that.
    package let sentAfter: UInt64
    /// Vercel's time of the first listing after the request; 0 if there was none.
    package private(set) var sentUntil: UInt64

    package init(
        id: Identifier = .random(), createdAt: UInt64, action: Action, project: Identifier,
        variable: Identifier?, vercelProject: String, author: String, target: Target?,
        key: String, attributes: VariableAttributes, version: UInt64, sentAfter: UInt64,
        sentUntil: UInt64 = 0
    ) {
        (self.id, self.createdAt, self.action) = (id, createdAt, action)
        (self.project, self.variable) = (project, variable)
        (self.vercelProject, self.author, self.target) = (vercelProject, author, target)
        (self.key, self.attributes, self.version) = (key, attributes, version)
        (self.sentAfter, self.sentUntil) = (sentAfter, sentUntil)
    }

    /// Returns a copy with its own id, for use once a listing was made after the request.
    package func until(_ time: UInt64) -> SendEntry {
        var entry = self
        (entry.id, entry.sentUntil) = (.random(), time)
        return entry
    }

    /// The journal entry kind.
    static let kind: UInt8 = 1

    /// Decodes a journal entry. Returns nil for another kind.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if the payload is malformed.
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
        writer.flag(variable != nil)
        if let variable { writer.identifier(variable) }
        writer.text(vercelProject)
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
            id: id, kind: Self.kind, createdAt: createdAt, payload: writer.bytes, section: project)
    }

    private static func decode(
        from reader: inout ByteReader, of entry: JournalEntry
    ) throws(VaultError) -> SendEntry {
        let limit = VaultFormat.textLimit
        guard let action = Action(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a journal entry has an unknown action")
        }
        // Without a section it is in the wrong place, which is checked after all payloads.
        let project = entry.section ?? .zero
        let variable = try reader.flag() ? try reader.identifier() : nil
        let (vercelProject, author) = (
            try reader.text(limit: limit), try reader.text(limit: limit)
        )
        let target =
            try reader.flag()
            ? Target(id: try reader.text(limit: limit), updatedAt: try reader.uint64()) : nil
        guard (target == nil) == (action == .create) else {
            throw VaultError(damaged: .encoding, "a journal entry is inconsistent")
        }
        return SendEntry(
            id: entry.id, createdAt: entry.createdAt, action: action, project: project,
            variable: variable, vercelProject: vercelProject, author: author, target: target,
            key: try reader.text(limit: VaultFormat.nameLimit),
            attributes: try VariableAttributes.decode(from: &reader),
            version: try reader.uint64(), sentAfter: try reader.uint64(),
            sentUntil: try reader.uint64())
    }
}
