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
    /// The type sent; for a deletion, that of the deleted record.
    package let kind: VariableAttributes.Kind
    /// The comment sent; for a deletion, that of the deleted record.
    package let comment: String?
    /// Where the record applies afterwards; empty for a deletion.
    package let targets: Scope
    /// Where it no longer applies.
    package let released: Scope
    /// The part of ``targets`` that the request is about. Elsewhere the record stays as it is,
    /// whether it is as agreed or not.
    package let agreed: Scope
    /// The version that the record has afterwards; 0 for none of the vault's.
    package internal(set) var version: UInt64
    /// Whether the request contains the value.
    package let sendsValue: Bool
    /// Vercel's time of the listing before the request, in milliseconds since 1970, precise to the
    /// second; 0 if unknown. The request changed nothing before that.
    package let sentAfter: UInt64
    /// Vercel's time of the first listing after the request; 0 if there was none.
    package private(set) var sentUntil: UInt64

    /// - Parameters:
    ///   - target: Nil for a creation.
    ///   - agreed: Part of `targets`.
    package init(
        id: Identifier = .random(), createdAt: UInt64, action: Action, project: Identifier,
        variable: Identifier?, vercelProject: String, author: String, target: Target?,
        key: String, kind: VariableAttributes.Kind, comment: String?, targets: Scope,
        released: Scope, agreed: Scope, version: UInt64, sendsValue: Bool, sentAfter: UInt64,
        sentUntil: UInt64 = 0
    ) {
        (self.id, self.createdAt, self.action) = (id, createdAt, action)
        (self.project, self.variable) = (project, variable)
        (self.vercelProject, self.author, self.target) = (vercelProject, author, target)
        (self.key, self.kind, self.comment) = (key, kind, comment)
        self.targets = targets.withoutUnusedBranch
        self.released = released.withoutUnusedBranch
        self.agreed = agreed.withoutUnusedBranch
        (self.version, self.sendsValue) = (version, sendsValue)
        (self.sentAfter, self.sentUntil) = (sentAfter, sentUntil)
    }

    /// Creates the entry of a request that is about the whole record.
    ///
    /// - Parameters:
    ///   - target: Nil for a creation.
    ///   - attributes: As sent; for a deletion, those of the deleted record.
    ///   - before: Where the record applied; ignored unless it is changed.
    package init(
        createdAt: UInt64, action: Action, project: Identifier, variable: Identifier?,
        vercelProject: String, author: String, target: Target?, key: String,
        attributes: VariableAttributes, before: Scope? = nil, version: UInt64, sendsValue: Bool,
        sentAfter: UInt64
    ) {
        let (nowhere, scope) = (Scope(targets: []), attributes.scope)
        let (targets, released) =
            switch action {
            case .create: (scope, nowhere)
            case .change: (scope, before?.subtracting(scope) ?? nowhere)
            case .delete: (nowhere, scope)
            }
        self.init(
            createdAt: createdAt, action: action, project: project, variable: variable,
            vercelProject: vercelProject, author: author, target: target, key: key,
            kind: attributes.kind, comment: attributes.comment, targets: targets,
            released: released, agreed: targets, version: version, sendsValue: sendsValue,
            sentAfter: sentAfter)
    }

    /// The attributes as sent; for a deletion, those of the deleted record.
    package var attributes: VariableAttributes {
        VariableAttributes(
            kind: kind, scope: action == .delete ? released : targets, comment: comment)
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
        writer.byte(kind.rawValue)
        writer.optionalText(comment)
        for scope in [targets, released, agreed] { scope.encode(into: &writer) }
        writer.uint64(version)
        writer.flag(sendsValue)
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
        let send = SendEntry(
            id: entry.id, createdAt: entry.createdAt, action: action, project: project,
            variable: variable, vercelProject: vercelProject, author: author, target: target,
            key: try reader.text(limit: VaultFormat.nameLimit),
            kind: try VariableAttributes.Kind.decode(from: &reader),
            comment: try reader.optionalText(limit: VaultFormat.commentLimit),
            targets: try scope(from: &reader), released: try scope(from: &reader),
            agreed: try scope(from: &reader), version: try reader.uint64(),
            sendsValue: try reader.flag(), sentAfter: try reader.uint64(),
            sentUntil: try reader.uint64())
        guard send.isConsistent else {
            throw VaultError(damaged: .encoding, "a journal entry is inconsistent")
        }
        return send
    }

    private static func scope(from reader: inout ByteReader) throws(VaultError) -> Scope {
        let scope = try Scope.decode(from: &reader)
        guard !scope.isEmpty || scope.branch == nil else {
            throw VaultError(damaged: .encoding, "a journal entry has a branch without a target")
        }
        return scope
    }

    private var isConsistent: Bool {
        switch action {
        case .create: target == nil && released.isEmpty && targets.hasPart(agreed)
        case .change: target != nil && targets.hasPart(agreed)
        case .delete: target != nil && targets.isEmpty && agreed.isEmpty && !sendsValue
        }
    }
}

extension Scope {
    /// The same without a branch if it contains nothing.
    fileprivate var withoutUnusedBranch: Scope { isEmpty ? Scope(targets: []) : self }

    /// Returns whether another scope is empty, or of the same branch and without any other target;
    /// texts are compared byte for byte.
    fileprivate func hasPart(_ other: Scope) -> Bool {
        if other.isEmpty { return true }
        let own = Set(customEnvironments.map { Array($0.utf8) })
        return branch.map { Array($0.utf8) } == other.branch.map { Array($0.utf8) }
            && other.targets.isSubset(of: targets)
            && other.customEnvironments.allSatisfy { own.contains(Array($0.utf8)) }
    }
}
