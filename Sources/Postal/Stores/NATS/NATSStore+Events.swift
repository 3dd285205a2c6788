internal import JSON
internal import SystemFiles
internal import Threads

extension NATSStore {
    /// Bytes of copies in the entry itself, which every relay receives without a query.
    private static let inlineByteLimit = 32 << 10
    /// Bytes of one message, below the server's limit of 1 MB.
    private static let partByteLimit = 800 << 10
    /// Accounts written concurrently by one call.
    private static let accountThreads = 8
    /// How often a message is rewritten because another relay's came between.
    private static let tries = 200

    package func append(_ events: [AcceptedEvent]) -> [AppendOutcome] {
        // Messages of one account are written in sequence, different accounts in parallel.
        let lists = Array(Dictionary(grouping: events.indices) { events[$0].account }.values)
        let unfinished = AppendOutcome.failed(StoreError(.unavailable, "NATS is not responding."))
        let outcomes = Monitor([AppendOutcome](repeating: unfinished, count: events.count))
        let left = Monitor(lists[...])
        let work: @Sendable () -> Void = { [self] in
            while let list = left.look({ $0.popFirst() }) {
                for place in list {
                    let outcome = keep(events[place])
                    outcomes.look { $0[place] = outcome }
                }
            }
        }
        let threads = (1..<max(1, min(lists.count, Self.accountThreads))).map { _ in
            WorkThread(work)
        }
        work()
        for thread in threads { thread?.join() }
        return outcomes.look { $0 }
    }

    /// Runs `body` while no other thread of this relay writes to the account.
    private func alone<R>(
        with account: String, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        _ = writing.wait { $0.insert(account).inserted ? true : nil }
        defer { writing.change { _ = $0.remove(account) } }
        return try body()
    }

    private func keep(_ event: AcceptedEvent) -> AppendOutcome {
        do throws(StoreError) {
            return try alone(with: event.account) { () throws(StoreError) in try write(event) }
        } catch {
            return .failed(error)
        }
    }

    private func write(_ event: AcceptedEvent) throws(StoreError) -> AppendOutcome {
        var sealed: [String: [UInt8]] = [:]
        var content: (recipients: [String], content: LogEntry.Content)?
        var messageID = Hexadecimal.text(of: event.digest)
        var tip = try tip(of: event.account)
        for _ in 0..<Self.tries {
            // Devices that joined before that message are now among the recipients.
            tip.register = min(tip.register, try catchUpRegister(told: tip.register))
            let recipients = register.recipients(of: event.account)
            let ids = recipients.map(\.id)
            if content?.recipients != ids {
                let new = recipients.filter { sealed[$0.id] == nil }
                let copies = Sealer.copies(
                    of: event,
                    for: new.enumerated().map {
                        SealedRecipient(ordinal: Int64($0.offset), publicKey: $0.element.key)
                    })
                for copy in copies { sealed[new[Int(copy.device.ordinal)].id] = copy.sealed }
                let table = recipients.compactMap { recipient in
                    sealed[recipient.id].map { (name: recipient.name, sealed: $0) }
                }
                content = (ids, try store(table, of: event.account))
            }
            let entry = tip.next(content?.content ?? .mark, at: event.acceptedAt)
            let message = NATSPublication(
                names.entries(of: event.account), entry.bytes, messageID: messageID,
                expected: tip.sequence)
            switch api.publish(message) {
            case .kept(let sequence):
                if try standing(of: entry, sequence, of: event.account) == .counts {
                    return .kept(number: sequence)
                }
                messageID = Self.messageID(of: event, after: sequence)
            case .duplicate(let sequence):
                let found = try standing(ofMessage: messageID, sequence, of: event.account)
                guard found == .isSkipped else { return .duplicate }
                messageID = Self.messageID(of: event, after: sequence)
            case .otherLast: break
            case .failed(let error): throw error
            }
            tip = try freshTip(of: event.account)
        }
        throw StoreError(.unavailable, "Other relays keep writing to this account.")
    }

    /// Returns the message id for an event that is stored under a number where it does not count;
    /// all relays compute the same one.
    private static func messageID(of event: AcceptedEvent, after sequence: Int64) -> String {
        "\(Hexadecimal.text(of: event.digest)).\(sequence)"
    }

    /// Stores copies in separate messages. Without an entry that names them, after a crash, nobody
    /// reads them and they expire.
    private func store(
        _ copies: [(name: RecipientName, sealed: [UInt8])], of account: String
    ) throws(StoreError) -> LogEntry.Content {
        let length = copies.first?.sealed.count ?? 0
        if CopyTable.byteCount(count: copies.count, copyLength: length) <= Self.inlineByteLimit {
            return .copies(CopyTable(copies[...]))
        }
        let step = CopyTable.capacity(byteLimit: Self.partByteLimit, copyLength: length)
        var parts: [LogEntry.Part] = []
        for start in stride(from: 0, to: copies.count, by: step) {
            let table = CopyTable(copies[start..<min(start + step, copies.count)])
            switch api.publish(NATSPublication(names.copies(of: account), table.bytes)) {
            case .kept(let number):
                log.add(table, sequence: number)
                parts.append(.init(number: number, first: copies[start].name))
            case .duplicate, .otherLast: throw JetStream.unclear
            case .failed(let error): throw error
            }
        }
        return .parts(parts)
    }

    package func newest() throws(StoreError) -> Int64 { try api.lastSequence(of: names.events) }

    /// Writes a mark. Returns the state before it and its number; 0 if it was not wanted.
    ///
    /// - Parameters:
    ///   - number: The message of the register that the next writer must have read.
    ///   - isWanted: Called with the last entry; false writes nothing.
    func mark(
        _ account: String, register number: Int64, at time: Int64,
        where isWanted: (LogTip) -> Bool = { _ in true }
    ) throws(StoreError) -> (before: LogTip, sequence: Int64) {
        try alone(with: account) { () throws(StoreError) in
            var tip = try freshTip(of: account)
            for _ in 0..<Self.tries where isWanted(tip) {
                let entry = tip.next(.mark, at: time, register: number)
                let message = NATSPublication(
                    names.entries(of: account), entry.bytes, expected: tip.sequence)
                switch api.publish(message) {
                case .kept(let sequence):
                    if try standing(of: entry, sequence, of: account) == .counts {
                        return (tip, sequence)
                    }
                case .duplicate: throw JetStream.unclear
                case .otherLast: break
                case .failed(let error): throw error
                }
                tip = try freshTip(of: account)
            }
            guard isWanted(tip) else { return (tip, 0) }
            throw StoreError(.unavailable, "Other relays keep writing to this account.")
        }
    }

    /// NATS deletes old events by itself. This deletes what it cannot know: expired invites and
    /// names of removed devices. An account that was silent for a day gets a mark, so that its
    /// count survives the deletion of all its events.
    package func prune(now: Int64) throws(StoreError) {
        try catchUpRegister()
        for subject in register.useless(now: now).prefix(1_000) {
            guard
                case .value = try api.ask(
                    "STREAM.PURGE.\(names.register)", ["filter": .string(subject)])
            else { continue }
            register.forget(subject)
        }
        let due = now - min(24 * 3_600_000, limits.keptMilliseconds / 7)
        for account in register.accounts {
            _ = try mark(account, register: 0, at: now) { $0.sequence > 0 && $0.time < due }
        }
        try NATSStreams(api: api, names: names, limits: limits).prepare()
        // The register's last message is never deleted.
        try check()
    }
}
