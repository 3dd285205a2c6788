package import Vault

/// A variable whose values somebody knows, and what became of it.
package struct ExposedVariable: Sendable {
    /// How the value in use compares with those that are known.
    package enum Standing: String, CaseIterable, Sendable {
        /// It differs from all of them.
        case replaced
        /// The variable is no longer used. Nobody proved that its value is invalid.
        case removed
        /// It is one of them.
        case known
        /// Several values are in question.
        case contested
        /// A value does not open, so they cannot be compared.
        case unreadable
    }

    /// The id in the group, or in this vault for a variable that is not shared.
    package let id: Identifier
    /// The variable of this vault; nil if the vault does not have it.
    package let variable: Identifier?
    package let project: Identifier
    package let name: String
    package let scope: Scope
    /// How many versions are known.
    package let versionCount: Int
    /// When the first of them was stored, by its author's clock, in milliseconds since 1970.
    package let since: UInt64
    package let standing: Standing
    /// How many known versions, other than the one in use, were not revoked by a rotation.
    package let unrevokedCount: Int
    /// Other variables of the vault whose value is one of the known ones.
    package let copies: [Identifier]
    /// The decision that no replacement is needed.
    package let acceptance: Acceptance?

    /// Who decided that a variable needs no replacement, and why.
    package struct Acceptance: Sendable {
        package let author: Identifier
        /// In milliseconds since 1970.
        package let createdAt: UInt64
        package let reason: String
    }

    /// Whether the value in use, or a copy of it, still has to be replaced.
    package var isLeft: Bool {
        guard acceptance == nil else { return false }
        switch standing {
        case .replaced, .removed: return !copies.isEmpty
        case .known, .contested, .unreadable: return true
        }
    }
}
