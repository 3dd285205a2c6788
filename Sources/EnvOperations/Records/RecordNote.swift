package import Vault

/// A record of which something is to be said.
package struct RecordNote: Equatable, Sendable {
    /// The key.
    package let key: String
    /// Where.
    package let scope: Scope
    /// One sentence, or the end of one, without a full stop.
    package let reason: String

    /// Names all three.
    package init(key: String, scope: Scope, reason: String) {
        self.key = key
        self.scope = scope
        self.reason = reason
    }
}
