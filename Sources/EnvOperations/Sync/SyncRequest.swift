package import Vault

/// One change to send to a platform: a record that is created, changed or deleted. It knows neither
/// the plan nor what the vault has of the record.
package struct SyncRequest: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case create
        case change(Before, withValue: Bool)
        case delete(Before)
    }

    /// A record before the request.
    package struct Before: Equatable, Sendable {
        package let id: String
        /// The modification time that the record must still have; nil for the one that the plan
        /// or an earlier request left.
        package let updatedAt: UInt64?
        /// The type, as far as both sides agreed on it.
        package let kind: VariableAttributes.Kind?
    }

    /// Whose value it is, for the journal and for the source of the values.
    package struct Owner: Equatable, Sendable {
        package let variable: Identifier
        package let version: UInt64
    }

    package let key: String
    /// The type, scope and comment afterwards; for a deletion, the present ones.
    package let attributes: VariableAttributes
    package private(set) var action: Action
    /// Nil for a record that only the platform has.
    package let owner: Owner?
    /// Whether a record whose value is not sent has that of its owner, unless someone changed it.
    package let hasKnownValue: Bool
    /// The part of the scope that the request is about. Elsewhere the record stays as it is.
    package let agreed: Scope
    /// For a deletion: the keys that must have got their records before.
    package let waitsFor: Set<String>

    package var before: Before? {
        switch action {
        case .create: nil
        case .change(let before, _), .delete(let before): before
        }
    }

    /// The id of the existing record; nil for a creation.
    var recordID: String? { before?.id }

    package var isDeletion: Bool { if case .delete = action { true } else { false } }

    package var sendsValue: Bool {
        switch action {
        case .create, .change(_, withValue: true): true
        case .delete, .change(_, withValue: false): false
        }
    }

    /// Returns the request that changes a record to what this one was to make of it.
    func changing(_ record: VercelRecord) -> SyncRequest {
        var request = self
        request.action = .change(
            Before(id: record.id, updatedAt: record.updatedAt, kind: before?.kind),
            withValue: sendsValue)
        return request
    }
}
