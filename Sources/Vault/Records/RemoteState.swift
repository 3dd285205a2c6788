/// What is known of a variable's record on the platform. Times are the platform's, in milliseconds
/// since 1970; versions are the vault's. No digest of a value: the index key must not allow guessing.
package struct RemoteState: Equatable, Sendable {
    /// The platform's id.
    package var id: String
    /// The key as last agreed; another one than the record's after a rename here.
    package var key: String
    /// The account or team it was written through.
    package var account: String
    /// The vault's version that the platform last agreed to; 0 when the value was never compared.
    package var pushedVersion: UInt64
    /// Type, scope and comment as last agreed.
    package var agreed: VariableAttributes
    /// The platform's time of change as last agreed.
    package var agreedUpdatedAt: UInt64
    /// The platform's time of change as last seen; later than agreed: somebody changed it there. Of a
    /// record that is gone, the platform's time when that was seen first.
    package var seenUpdatedAt: UInt64
    /// Tells that the record was gone from the platform when last looked for.
    package var isGone: Bool
    /// When this machine last pushed it, by this machine's clock; 0 for never.
    package var pushedAt: UInt64
    /// A version that the platform had before, under the same key and scope; nil where none is known.
    package var earlier: EarlierValue?

    /// A version that a push replaced: what was built between the two times was built with it.
    package struct EarlierValue: Equatable, Sendable {
        /// The vault's version.
        package let version: UInt64
        /// The platform's time of change when it was agreed on.
        package let from: UInt64
        /// The platform's time of change when another value replaced it.
        package let until: UInt64

        /// Makes one.
        package init(version: UInt64, from: UInt64, until: UInt64) {
            self.version = version
            self.from = from
            self.until = until
        }
    }

    /// Makes the state after the platform agreed to `version`.
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

    /// Notes that the platform has no such record any more.
    ///
    /// - Parameter time: The platform's time when that was seen; the first such time stays.
    package mutating func end(by time: UInt64) {
        if !isGone { seenUpdatedAt = max(seenUpdatedAt, time) }
        isGone = true
    }

    /// Tells whether the platform had the value of ``pushedVersion``, in the scope agreed on, when something
    /// was built at a time of the platform.
    package func hadValue(at time: UInt64) -> Bool {
        // Of a record that is gone the time is that of its end, which is no change that was agreed.
        if time > max(agreedUpdatedAt, isGone ? 0 : seenUpdatedAt) { return true }
        guard let earlier, pushedVersion > 0 else { return false }
        return earlier.version == pushedVersion && time > earlier.from && time < earlier.until
    }

    func encode(into writer: inout ByteWriter) {
        writer.text(id)
        writer.text(key)
        writer.text(account)
        writer.uint64(pushedVersion)
        agreed.encode(into: &writer)
        writer.uint64(agreedUpdatedAt)
        writer.uint64(seenUpdatedAt)
        writer.flag(isGone)
        writer.uint64(pushedAt)
        writer.flag(earlier != nil)
        if let earlier {
            writer.uint64(earlier.version)
            writer.uint64(earlier.from)
            writer.uint64(earlier.until)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> RemoteState {
        let id = try reader.text(limit: VaultFormat.textLimit)
        let key = try reader.text(limit: VaultFormat.nameLimit)
        let account = try reader.text(limit: VaultFormat.textLimit)
        let version = try reader.uint64()
        let agreed = try VariableAttributes.decode(from: &reader)
        var state = RemoteState(
            id: id, key: key, account: account, pushedVersion: version, agreed: agreed,
            updatedAt: try reader.uint64(), pushedAt: 0)
        state.seenUpdatedAt = try reader.uint64()
        state.isGone = try reader.flag()
        state.pushedAt = try reader.uint64()
        if try reader.flag() {
            state.earlier = EarlierValue(
                version: try reader.uint64(), from: try reader.uint64(),
                until: try reader.uint64())
        }
        return state
    }
}
