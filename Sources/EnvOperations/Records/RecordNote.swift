package import Vault

/// A record of which something is to be said.
package struct RecordNote: Equatable, Sendable {
    /// What ends a conflict.
    package enum Way: Equatable, Sendable {
        /// Taking what Vercel has, or sending what is here over it.
        case either
        /// Sending what is here again, or removing it here too: Vercel has none.
        case gone
        /// Sending what is here: Vercel does not show the value that it has.
        case sending
        /// Bringing Vercel to what is here; a pull cannot decide it.
        case overriding
        /// Removing it here too: the vault has no value to send.
        case removing
        /// Taking it into the vault, or deleting it: the vault has no record of it.
        case taking
        /// The same, where it was to go from these places; taking it in takes along the variable that the
        /// vault has renamed since and Vercel has by that key too.
        case emptying(Scope, renamed: String?)
        /// Pushing the variable of that name along, with force where this was with force.
        case together(with: String, force: Bool)
        /// Taking what Vercel has of the variable of that name too.
        case takingAlong(String)
        /// Giving it a value.
        case value
        /// Removing it here: Vercel sets a variable of that name by itself.
        case reserved
    }

    /// The key.
    package let key: String
    /// Where.
    package let scope: Scope
    /// One sentence, or the end of one, without a full stop.
    package let reason: String
    /// What ends it, where it is a conflict.
    package let way: Way

    /// Names all parts.
    package init(key: String, scope: Scope, reason: String, way: Way = .either) {
        self.key = key
        self.scope = scope
        self.reason = reason
        self.way = way
    }

    /// Of a record of Vercel that the vault has not seen, in a place that was to be empty.
    ///
    /// - Parameter renamed: What a variable is called now whose record Vercel has by that key too.
    package init(
        occupant record: PlatformRecord, of scope: Scope, renamed: String? = nil
    ) {
        self.init(
            key: record.key, scope: record.attributes.scope,
            reason: "Vercel has one that this vault has not seen, and keeps it",
            way: .emptying(scope, renamed: renamed))
    }
}

extension RecordNote.Way {
    /// What ends a difference between a record of the vault and Vercel's.
    ///
    /// - Parameters:
    ///   - record: Vercel's record; nil where it is gone.
    ///   - sendsValue: Whether the vault has a value for it, and has not removed it.
    package init(_ record: PlatformRecord?, sendsValue: Bool) {
        self =
            switch record {
            case nil: .gone
            case let record? where record.attributes.kind == .sensitive && sendsValue: .sending
            default: .either
            }
    }

    /// What ends a change of Vercel's record that the vault has not seen.
    init(_ record: PlatformRecord, of variable: Variable) {
        let sendsValue = variable.isLive && variable.currentVersion > 0
        // Nobody can take a value that is not shown in place of one that was never sent.
        let isUntakable =
            !variable.isLive && record.attributes.kind == .sensitive
            && variable.currentVersion != variable.remote?.pushedVersion
        self = isUntakable ? .overriding : Self(record, sendsValue: sendsValue)
    }
}
