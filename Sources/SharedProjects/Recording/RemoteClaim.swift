package import Vault

/// What this vault tells a group about a variable on Vercel, after a push that was read back.
package struct RemoteClaim: Equatable, Sendable {
    package let variable: Identifier
    /// The version that was sent; nil if the value stayed what an earlier claim says.
    package let version: UInt64?
    /// Vercel's id.
    package let remoteID: String
    package let key: String
    package let kind: VariableAttributes.Kind
    package let scope: Scope
    /// Vercel's time of change.
    package let updatedAt: UInt64

    package init(
        variable: Identifier, version: UInt64?, remoteID: String, key: String,
        kind: VariableAttributes.Kind, scope: Scope, updatedAt: UInt64
    ) {
        (self.variable, self.version) = (variable, version)
        (self.remoteID, self.key) = (remoteID, key)
        (self.kind, self.scope) = (kind, scope)
        self.updatedAt = updatedAt
    }

    /// Whether the group knows this already.
    func isKnown(of record: SharedState.Record, version: UInt64) -> Bool {
        record.claims == [
            SharedState.Claim(
                version: version, remoteID: remoteID, key: key, updatedAt: updatedAt)
        ]
    }
}
