package import Vault

/// A role, and the compartments that it is limited to.
package struct MemberRights: Equatable, Sendable {
    package var role: GroupRole
    /// Ascending; nil for all compartments, also future ones. Admins are not limited.
    package var limit: [Identifier]?

    package init(role: GroupRole, limit: [Identifier]? = nil) {
        self.role = role
        self.limit = limit
    }

    package func includes(_ compartment: Identifier) -> Bool {
        limit?.contains(compartment) ?? true
    }

    /// Whether these rights include all of `other`.
    package func isAtLeast(_ other: MemberRights) -> Bool {
        guard role.isAtLeast(other.role) else { return false }
        guard let limit else { return true }
        guard let wanted = other.limit else { return false }
        return Set(wanted).isSubset(of: limit)
    }

    package func encode(into writer: inout ByteWriter) {
        writer.byte(role.rawValue)
        writer.optional(limit) { $0.identifiers($1) }
    }

    package static func decode(from reader: inout ByteReader) throws(VaultError) -> MemberRights {
        let role = try GroupRole.decode(from: &reader)
        let limit = try reader.optional { (reader) throws(VaultError) in
            try reader.identifiers(limit: GroupLimits.limit, of: "compartments of a member")
        }
        try reader.require(
            role != .admin || limit == nil, .layout, "an admin has restricted access")
        return MemberRights(role: role, limit: limit)
    }
}
