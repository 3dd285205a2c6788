/// How an invite becomes a device, in four steps. The stream takes each of them only if nobody else was
/// faster: the invite is claimed for a name; the device is kept under it, as one that gets copies and is
/// none yet; its accounts are marked, so that every relay seals for it from there on, and it becomes a
/// device; the invite is used up.
///
/// A relay may stop behind any of them. Whoever comes with the invite then takes the name away first, so
/// that the other relay, should it only have been slow, cannot go on.
package struct NATSJoining {
    /// A claim that is older than this is one of a relay that stopped in the middle.
    private static let claimMilliseconds: Int64 = 30_000
    private static let tries = 20

    private let store: NATSStore
    private let subject: String
    private let id: String
    private let now: Int64
    private var record = DeviceRecord(phase: .pending)
    /// Messages of the register: of the claim, of the device that is none yet, of the device.
    private var (claimed, pending, active): (Int64, Int64, Int64) = (0, 0, 0)

    package init(
        _ store: NATSStore, inviteDigest: [UInt8], id: String, tokenDigest: [UInt8],
        publicKey: [UInt8], now: Int64
    ) {
        (self.store, self.id, self.now) = (store, id, now)
        subject = store.names.invite(inviteDigest)
        (record.tokenDigest, record.publicKey, record.joinedAt) = (tokenDigest, publicKey, now)
    }

    /// Claims the invite; false where it is unknown, expired, or somebody else's.
    package mutating func claim() throws(StoreError) -> Bool {
        for _ in 0..<Self.tries {
            guard let kept = try store.api.last(of: subject, in: store.names.register),
                var invite = InviteRecord(kept.data), invite.expiresAt > now
            else { return false }
            record.accounts = invite.accounts
            claimed = kept.sequence
            if let claim = invite.claim {
                // Ours, whose answer was lost.
                if claim.device == id { return true }
                let isTheirs =
                    claim.publicKey != record.publicKey
                    && now - claim.at < Self.claimMilliseconds
                guard !isTheirs else { return false }
                // `nil`: it changed meanwhile, so everything is looked at again.
                guard let isFree = try takeAway(claim) else { continue }
                guard isFree else { return false }
            }
            invite.claim = .init(device: id, publicKey: record.publicKey, at: now)
            let message = NATSPublication(
                subject, invite.bytes, onlyOneBehind: kept.sequence)
            if case .kept(let sequence) = store.api.publish(message) {
                claimed = sequence
                return true
            }
        }
        throw StoreError(.unavailable, "NATS does not answer.")
    }

    /// Takes the name of an older claim away, so that it cannot become a device.
    ///
    /// - Returns: True where it is none now; false where it is a device of somebody else; nil where it
    ///   changed meanwhile.
    private func takeAway(_ claim: InviteRecord.Claim) throws(StoreError) -> Bool? {
        let subject = store.names.device(claim.device)
        let last = try store.api.last(of: subject, in: store.names.register)
        let older = last.flatMap { DeviceRecord($0.data) }
        if older?.phase == .removed { return true }
        // The same key asks again because it got no answer: its first device is not in use.
        if older?.phase == .active, claim.publicKey != record.publicKey { return false }
        switch store.api.publish(
            NATSPublication(
                subject, DeviceRecord(phase: .removed).bytes,
                onlyOneBehind: last?.sequence ?? 0))
        {
        case .kept, .duplicate: return true
        case .otherLast: return nil
        case .failed(let error): throw error
        }
    }

    /// Keeps the device under its name; false where that was taken away.
    package mutating func keepPending() throws(StoreError) -> Bool {
        guard let sequence = try write(over: 0) else { return false }
        pending = sequence
        return true
    }

    /// Marks the accounts and makes it a device; false where its name was taken away.
    package mutating func activate() throws(StoreError) -> Bool {
        var marks: [(account: String, before: LogTip, sequence: Int64)] = []
        for account in record.accounts {
            let (before, sequence) = try store.mark(account, register: pending, at: now)
            marks.append((account, before, sequence))
            record.start = max(record.start, before.lastEvent)
        }
        // Behind an account's mark there may be events of it already that are not this device's.
        for mark in marks where mark.sequence > record.start {
            record.places[mark.account] = .init(
                epoch: mark.before.epoch, ordinal: mark.before.ordinal)
        }
        record.phase = .active
        guard let sequence = try write(over: pending) else { return false }
        active = sequence
        return true
    }

    /// Uses the invite up. Where that does not work, whoever finds the claim finds the device too.
    package func finish() throws(StoreError) {
        _ = store.api.publish(NATSPublication(subject, [], onlyOneBehind: claimed))
        try store.settleRegister(through: active)
    }

    /// Keeps the record if the one before it is `previous`.
    ///
    /// - Returns: The number of its message; nil where another one came between.
    private func write(over previous: Int64) throws(StoreError) -> Int64? {
        let subject = store.names.device(id)
        let message = NATSPublication(subject, record.bytes, onlyOneBehind: previous)
        for _ in 0..<Self.tries {
            if case .kept(let sequence) = store.api.publish(message) { return sequence }
            // It may be there all the same, where the answer was lost.
            let last = try store.api.last(of: subject, in: store.names.register)
            guard let last, last.sequence > previous else { continue }
            return DeviceRecord(last.data) == record ? last.sequence : nil
        }
        throw StoreError(.unavailable, "NATS does not answer.")
    }
}
