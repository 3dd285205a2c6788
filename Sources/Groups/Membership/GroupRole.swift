package import Vault

/// What a member may do.
package enum GroupRole: UInt8, Sendable, CaseIterable {
    /// Everything, and signs entries.
    case admin = 1
    /// Reads and writes.
    case member = 2
    /// Adds values and variables, reads names only.
    case writer = 3
    /// Reads names and values.
    case reader = 4

    package var readsValues: Bool { self != .writer }

    /// Whether this role may do everything that `other` may. Writer and reader are not comparable.
    package func isAtLeast(_ other: GroupRole) -> Bool {
        self == other || self == .admin || (self == .member && other != .admin)
    }

    package static func decode(from reader: inout ByteReader) throws(VaultError) -> GroupRole {
        let value = try reader.byte()
        guard let role = GroupRole(rawValue: value) else {
            throw VaultError(damaged: .encoding, "a member has an unknown role")
        }
        return role
    }
}
