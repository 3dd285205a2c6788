extension NATSStore {
    private static let tries = 20

    package func add(_ invite: Invite) throws(StoreError) {
        let record = InviteRecord(accounts: invite.accounts, expiresAt: invite.expiresAt)
        try publish(NATSPublication(names.invite(invite.digest), record.bytes))
        try catchUpRegister()
    }

    package func redeem(
        inviteDigest: [UInt8], id: String, tokenDigest: [UInt8], publicKey: [UInt8], now: Int64
    ) throws(StoreError) -> Device? {
        var joining = NATSJoining(
            self, inviteDigest: inviteDigest, id: id, tokenDigest: tokenDigest,
            publicKey: publicKey, now: now)
        guard try joining.claim(), try joining.keepPending(), try joining.activate() else {
            return nil
        }
        try joining.finish()
        return register.active(id)
    }

    package func device(id: String) throws(StoreError) -> Device? {
        try checkRegister()
        return register.active(id)
    }

    package func devices() throws(StoreError) -> [Device] {
        try catchUpRegister()
        return register.active()
    }

    package func removeDevice(id: String) throws(StoreError) -> Bool {
        let subject = names.device(id)
        for _ in 0..<Self.tries {
            guard let last = try api.last(of: subject, in: names.register),
                let record = DeviceRecord(last.data), record.phase == .active
            else { return false }
            let message = NATSPublication(
                subject, DeviceRecord(phase: .removed).bytes, onlyOneBehind: last.sequence)
            switch api.publish(message) {
            case .kept(let sequence), .duplicate(let sequence):
                try catchUpRegister(through: sequence)
                return true
            case .otherLast: continue
            case .failed(let error): throw error
            }
        }
        throw StoreError(.unavailable, "NATS is not responding.")
    }

    package func acknowledge(_ numbers: [String: Int64]) throws(StoreError) {
        var left = numbers
        for _ in 0..<Self.tries where !left.isEmpty {
            var messages: [(id: String, message: NATSPublication)] = []
            for (id, number) in left {
                guard let device = register.device(id)?.record, device.phase == .active,
                    number > max(device.start, register.acknowledgement(of: id)?.record.number ?? 0)
                else { continue }
                let record = AcknowledgementRecord(
                    number: number, places: places(of: device.accounts, at: number))
                messages.append(
                    (
                        id,
                        NATSPublication(
                            names.acknowledgement(id), record.bytes,
                            onlyOneBehind: register.acknowledgement(of: id)?.sequence ?? 0)
                    ))
            }
            left = [:]
            var newest: Int64 = 0
            for (one, outcome) in zip(messages, api.publish(messages.map(\.message))) {
                switch outcome {
                case .kept(let sequence), .duplicate(let sequence): newest = max(newest, sequence)
                case .otherLast: left[one.id] = numbers[one.id]
                case .failed(let error): throw error
                }
            }
            if !left.isEmpty { try catchUpRegister() } else { try catchUpRegister(through: newest) }
        }
        guard left.isEmpty else {
            throw StoreError(.unavailable, "NATS is not responding.")
        }
    }

    /// Returns the accounts' positions at a number, as far as known without queries.
    private func places(of accounts: [String], at number: Int64) -> [String: DeviceRecord.Place] {
        var places: [String: DeviceRecord.Place] = [:]
        for account in accounts {
            guard let tip = log.tip(of: account) else { continue }
            if tip.lastEvent <= number {
                places[account] = .init(epoch: tip.epoch, ordinal: tip.ordinal)
            } else if let next = log.next(of: account, after: number), next.counts {
                places[account] = .init(epoch: tip.epoch, ordinal: next.entry.ordinalBefore)
            }
        }
        return places
    }
}
