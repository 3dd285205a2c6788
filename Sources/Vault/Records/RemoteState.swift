/// What is known about a variable's record on Vercel. Times are Vercel's, in milliseconds since
/// 1970; versions are the vault's. There is no digest of the value, which could be guessed with the
/// index key.
package struct RemoteState: Equatable, Sendable {
    /// The record's id on Vercel.
    package var id: String
    /// The name as last agreed; differs from the variable's after a local rename.
    package var key: String
    /// The account or team through which it was written.
    package var account: String
    /// The vault's version that Vercel last agreed to; 0 if the values were never compared.
    package var pushedVersion: UInt64
    /// Type, scope and comment as last agreed.
    package var agreed: VariableAttributes
    /// Vercel's modification time as last agreed.
    package var agreedUpdatedAt: UInt64
    /// Vercel's modification time as last seen; later than the agreed one if the record was changed
    /// there. For a missing record, Vercel's time when this was first noticed.
    package var seenUpdatedAt: UInt64
    /// Whether the record was missing from Vercel at the last check.
    package var isGone: Bool
    /// When this machine last pushed it, by its own clock; 0 for never.
    package var pushedAt: UInt64
    /// An earlier version on Vercel, with the same name and scope; nil if none is known.
    package var earlier: EarlierValue?

    /// Creates the state after Vercel agreed to `version`.
    package init(
        id: String, key: String, account: String, pushedVersion: UInt64, agreed: VariableAttributes,
        updatedAt: UInt64, pushedAt: UInt64
    ) {
        self.id = id
        self.key = key
        self.account = account
        self.pushedVersion = pushedVersion
        self.agreed = agreed
        agreedUpdatedAt = updatedAt
        seenUpdatedAt = updatedAt
        isGone = false
        self.pushedAt = pushedAt
    }

    /// Adds to the version numbers.
    mutating func addToVersions(_ growth: UInt64) {
        if pushedVersion > 0 { pushedVersion &+= growth }
        if let known = earlier, known.version > 0 {
            earlier = EarlierValue(
                version: known.version &+ growth, from: known.from, until: known.until)
        }
    }

    /// Records that Vercel no longer has this record.
    ///
    /// - Parameter time: Vercel's time when this was noticed; the first such time is kept.
    package mutating func end(by time: UInt64) {
        if !isGone { seenUpdatedAt = max(seenUpdatedAt, time) }
        isGone = true
    }

    /// Returns whether Vercel had the value of ``pushedVersion``, in the agreed scope, at a build's
    /// time by Vercel's clock.
    package func hadValue(at time: UInt64) -> Bool {
        // For a missing record, `seenUpdatedAt` is the time of its removal, which was not agreed.
        if time > max(agreedUpdatedAt, isGone ? 0 : seenUpdatedAt) { return true }
        guard let earlier, pushedVersion > 0 else { return false }
        return earlier.version == pushedVersion && time > earlier.from && time < earlier.until
    }
}
