package import Vault

/// A note about a record.
package struct RecordNote: Equatable, Sendable {
    /// How to resolve a conflict.
    package enum Way: Equatable, Sendable {
        /// Take Vercel's version, or overwrite it with the vault's.
        case either
        /// Pull it: only Vercel's side has changed, or is gone.
        case pulling(isGone: Bool)
        /// Send the vault's version again, or remove it here too: Vercel has no record.
        case gone
        /// Send the vault's version: Vercel does not show its value.
        case sending
        /// Overwrite Vercel's version; a pull cannot resolve it.
        case overriding
        /// Remove it here too: the vault has no value to send.
        case removing
        /// Take it into the vault, or delete it on Vercel: the vault has no record of it.
        case taking
        /// Like `taking`, but the variable was to be removed from these targets. `renamed` is a
        /// variable that the vault has renamed and Vercel still has under that key; taking it
        /// affects both.
        case emptying(Scope, renamed: String?)
        /// Push the variable of that name too, with --force if this push used it.
        case together(with: String, force: Bool)
        /// Take Vercel's version of the variable of that name too.
        case takingAlong(String)
        /// Set a value.
        case value
        /// Leave it to the integration that manages it, or overwrite it.
        case managed
        /// Leave it to the integration that manages it, or delete it on Vercel, which alone has it.
        case managedThere
        /// Remove it here: Vercel itself sets a variable of that name.
        case reserved
    }

    package let key: String
    package let scope: Scope
    /// A clause or sentence without a full stop.
    package let reason: String
    /// How to resolve it, for a conflict.
    package let way: Way

    package init(key: String, scope: Scope, reason: String, way: Way = .either) {
        self.key = key
        self.scope = scope
        self.reason = reason
        self.way = way
    }

    init(_ record: VercelRecord, _ reason: String, way: Way = .either) {
        self.init(key: record.key, scope: record.attributes.scope, reason: reason, way: way)
    }

    /// Creates a note about a record on Vercel that the vault has not seen, in a scope that was to
    /// become empty.
    ///
    /// - Parameter renamed: The current name of a variable that Vercel still has under that key.
    package init(
        occupant record: VercelRecord, of scope: Scope, renamed: String? = nil
    ) {
        self.init(
            record,
            "Vercel has a variable for this scope that the vault has no record of; it is kept",
            way: .emptying(scope, renamed: renamed))
    }
}

extension RecordNote.Way {
    /// Creates the resolution of a difference between a vault record and Vercel's.
    ///
    /// - Parameters:
    ///   - record: Vercel's record; nil if it is gone.
    ///   - sendsValue: Whether the vault has a value for it and has not removed it.
    package init(_ record: VercelRecord?, sendsValue: Bool) {
        self =
            switch record {
            case nil: .gone
            case let record? where record.attributes.kind == .sensitive && sendsValue: .sending
            default: .either
            }
    }

    /// Creates the resolution of a change to Vercel's record that the vault has not seen.
    init(_ record: VercelRecord, of variable: Variable) {
        let sendsValue = variable.isLive && variable.currentVersion > 0
        // A hidden value cannot replace one that was never sent.
        let isUntakable =
            !variable.isLive && record.attributes.kind == .sensitive
            && variable.currentVersion != variable.remote?.pushedVersion
        let way = isUntakable ? .overriding : Self(record, sendsValue: sendsValue)
        self = way == .either && !SyncState.isChangedHere(variable) ? .pulling(isGone: false) : way
    }
}
