internal import Sealing
internal import Vault

/// A group object that cannot be read or sealed. Contains no names and no values.
package struct GroupError: Error, Equatable {
    /// The cause; those of objects are named as in `docs/group-format.md`, section 1.
    package enum Code: String, Sendable, CaseIterable {
        /// The object has fewer than 16 bytes, or more than its limit.
        case length
        /// The first 16 bytes are not the label.
        case label
        /// A later version of the format, or a kind of change that this version does not read.
        case newer
        /// A text, list or number exceeds its bound or what remains.
        case bounds
        /// Invalid UTF-8, a flag or enumeration, bytes left over, an empty text.
        case encoding
        /// Items are not in ascending order, or duplicated.
        case order
        /// A rule among the fields.
        case layout
        /// A signature does not fit.
        case signature
        /// A code does not fit its invite.
        case code
        /// Sealed operations, a value, a box or a rung do not open.
        case tag
        /// The length or zeros of padded operations, or of a padded value.
        case padding
        /// A public key cannot be sealed to.
        case unusableKey = "unusable-key"
        /// Guarded memory could not be allocated.
        case outOfMemory = "out-of-memory"
    }

    package let code: Code
    /// One sentence, lower case, without a full stop.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Translates an error of the vault's decoders, which groups share.
    init(_ error: VaultError) {
        let code: Code =
            switch error.damage {
            case .bounds: .bounds
            case .order: .order
            case .layout: .layout
            case .padding: .padding
            case .value: .tag
            case nil where error.code == .outOfMemory: .outOfMemory
            default: .encoding
            }
        self.init(code, error.reason)
    }

    /// Translates a sealing failure for which failed authentication means `tag`.
    init(_ error: SealingError) {
        switch error {
        case .notAuthentic: self.init(.tag, "sealed data of a group failed authentication")
        case .unusableKey: self.init(.unusableKey, "a public key of a group is unusable")
        case .outOfMemory, .derivationFailed, .costOutOfBounds, .libraryUnavailable:
            self.init(.outOfMemory, "there is not enough memory for the secrets of a group")
        }
    }
}

/// Returns the result of `call`, translating a sealing failure.
func sealing<R: ~Copyable>(
    _ call: @autoclosure () throws(SealingError) -> R
) throws(GroupError) -> R {
    do throws(SealingError) { return try call() } catch { throw GroupError(error) }
}
