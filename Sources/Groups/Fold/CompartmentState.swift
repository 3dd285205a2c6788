package import Vault

/// The state of one compartment, as every member computes it from the same entries and changes.
package struct CompartmentState: Equatable, Sendable {
    /// A change that its author's chain has twice.
    package struct Doubled: Hashable, Comparable, Sendable {
        package let author: Identifier
        package let chain: Identifier
        package let counter: UInt64

        package static func < (left: Doubled, right: Doubled) -> Bool {
            (left.author, left.chain, left.counter) < (right.author, right.chain, right.counter)
        }
    }

    /// Changes that count, ascending.
    package internal(set) var counted: [GroupHash] = []
    /// Late changes that others had built on, ascending.
    package internal(set) var effective: [GroupHash] = []
    package internal(set) var late: [GroupHash: LateReason] = [:]
    package internal(set) var waiting: [GroupHash: WaitingReason] = [:]
    /// The changes that count and that no other such change has in its past, ascending.
    package internal(set) var heads: [GroupHash] = []
    /// Chains that are written in two places, ascending.
    package internal(set) var doubled: [Doubled] = []
    /// Ascending; several are contested.
    package internal(set) var projectNames: [String] = []
    /// Ascending by encoding, nil first; several are contested.
    package internal(set) var bindings: [GroupBinding?] = []
    /// Ascending by id.
    package internal(set) var records: [RecordState] = []
    package internal(set) var settled: Set<Settlement> = []
    /// The assignments of name and binding that nobody replaced, ascending; the next one replaces them.
    package internal(set) var candidates: [Assigned: [ChangeReference]] = [:]
}

/// The state of one record.
package struct RecordState: Equatable, Sendable {
    /// A version that is the value, or could be.
    package struct Choice: Equatable, Sendable {
        /// The operation that introduced it.
        package let version: ChangeReference
        package let id: Identifier
        /// Whether only late changes chose it.
        package let isLate: Bool
    }

    /// Why people must decide.
    package enum Contest: String, Sendable, CaseIterable {
        case value, late, name, scope, twin
    }

    package let id: Identifier
    package internal(set) var isInUse = true
    /// Whether only writers had to do with it.
    package internal(set) var isOffered = false
    package internal(set) var wasRemovedMeanwhile = false
    /// The removals that nobody replaced, ascending.
    package internal(set) var removals: [ChangeReference] = []
    /// Ascending; several are contested.
    package internal(set) var names: [String] = []
    /// Ascending by encoding; several are contested.
    package internal(set) var scopes: [Scope] = []
    package internal(set) var type: VariableAttributes.Kind = .plain
    package internal(set) var comment: String?
    package internal(set) var reminder: UInt64 = 0
    /// Ascending by version; several are contested.
    package internal(set) var choices: [Choice] = []
    package internal(set) var offers: [Choice] = []
    /// The claims about Vercel, ascending.
    package internal(set) var claims: [ChangeReference] = []
    /// The rotations that began and did not end, ascending.
    package internal(set) var rotations: [ChangeReference] = []
    /// The assignments of each thing that nobody replaced, ascending; the next one replaces them.
    package internal(set) var candidates: [Assigned: [ChangeReference]] = [:]
    /// In the order of ``Contest``.
    package internal(set) var contested: [Contest] = []
}
