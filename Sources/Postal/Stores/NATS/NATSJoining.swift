/// Turns an invite into a device in four steps. The stream accepts each step only if no other relay
/// was faster: the invite is claimed for a name; the device is stored as pending, so that it gets
/// copies; its accounts are marked, so that every relay seals for it from there on, and the device
/// becomes active; the invite is used up.
///
/// A relay may crash after any step. The next use of the invite first removes the claimed name, so
/// that a relay that was only slow cannot continue.
package struct NATSJoining {
    /// An older claim belongs to a relay that crashed.
    private static let claimMilliseconds: Int64 = 30_000
    private static let tries = 20

    private let store: NATSStore
    private let subject: String
    private let id: String
    private let now: Int64
    private var record = DeviceRecord(phase: .pending)
    /// Message numbers in the register: of the claim, the pending device, and the active device.
    private var (claimed, pending, active): (Int64, Int64, Int64) = (0, 0, 0)

    package init(
        _ store: NATSStore, inviteDigest: [UInt8], id: String, tokenDigest: [UInt8],
        publicKey: [UInt8], now: Int64
    ) {
        (self.store, self.id, self.now) = (store, id, now)
        subject = store.names.invite(inviteDigest)
        (record.tokenDigest, record.publicKey, record.joinedAt) = (tokenDigest, publicKey, now)
    }

    /// Claims the invite; returns false if it is unknown, expired or claimed by another device.
    package mutating func claim() throws(StoreError) -> Bool {
        for _ in 0..<Self.tries {
            guard let kept = try store.api.last(of: subject, in: store.names.register),
                var invite = InviteRecord(kept.data), invite.expiresAt > now
            else { return false }
            record.accounts = invite.accounts
            claimed = kept.sequence
            if let claim = invite.claim {
                // Our own claim, whose response was lost.
                if claim.device == id { return true }
                let isTheirs =
                    claim.publicKey != record.publicKey
                    && now - claim.at < Self.claimMilliseconds
                guard !isTheirs else { return false }
                // It changed meanwhile, so check everything again.
                guard let isFree = try removeClaimedName(claim) else { continue }
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
        throw StoreError(.unavailable, "NATS is not responding.")
    }

    /// Removes the name of an older claim, so that it cannot become a device.
    ///
    /// - Returns: True if it is removed, false if another device became active under it, nil if it
    ///   changed meanwhile.
    private func removeClaimedName(_ claim: InviteRecord.Claim) throws(StoreError) -> Bool? {
        let subject = store.names.device(claim.device)
        let last = try store.api.last(of: subject, in: store.names.register)
        let older = last.flatMap { DeviceRecord($0.data) }
        if older?.phase == .removed { return true }
        // The same key asks again after a lost response: its first device is not in use.
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

    /// Stores the device as pending; returns false if its name was removed.
    package mutating func keepPending() throws(StoreError) -> Bool {
        guard let sequence = try write(over: 0) else { return false }
        pending = sequence
        return true
    }

    /// Marks the accounts and activates the device; returns false if its name was removed.
    package mutating func activate() throws(StoreError) -> Bool {
        var marks: [(account: String, before: LogTip, sequence: Int64)] = []
        for account in record.accounts {
            let (before, sequence) = try store.mark(account, register: pending, at: now)
            marks.append((account, before, sequence))
            record.start = max(record.start, before.lastEvent)
        }
        // After an account's mark there may be events that are not this device's.
        for mark in marks where mark.sequence > record.start {
            record.places[mark.account] = .init(
                epoch: mark.before.epoch, ordinal: mark.before.ordinal)
        }
        record.phase = .active
        guard let sequence = try write(over: pending) else { return false }
        active = sequence
        return true
    }

    /// Uses up the invite. If that fails, the claim still leads to the device.
    package func finish() throws(StoreError) {
        _ = store.api.publish(NATSPublication(subject, [], onlyOneBehind: claimed))
        try store.catchUpRegister(through: active)
    }

    /// Stores the record if its predecessor is `previous`.
    ///
    /// - Returns: The number of its message, or nil if another one came between.
    private func write(over previous: Int64) throws(StoreError) -> Int64? {
        let subject = store.names.device(id)
        let message = NATSPublication(subject, record.bytes, onlyOneBehind: previous)
        for _ in 0..<Self.tries {
            if case .kept(let sequence) = store.api.publish(message) { return sequence }
            // It may be stored although the response was lost.
            let last = try store.api.last(of: subject, in: store.names.register)
            guard let last, last.sequence > previous else { continue }
            return DeviceRecord(last.data) == record ? last.sequence : nil
        }
        throw StoreError(.unavailable, "NATS is not responding.")
    }
}
