internal import JSON
internal import SystemFiles
internal import Threads

extension NATSStore {
    /// Bytes of copies that go into the entry itself: every relay gets them without asking.
    private static let inlineByteLimit = 32 << 10
    /// Bytes of one message: below the megabyte that a server takes.
    private static let partByteLimit = 800 << 10
    /// Accounts that are written to at the same time by one call.
    private static let accountThreads = 8
    /// How often a message is written anew because another relay's came between.
    private static let tries = 200

    package func append(_ events: [AcceptedEvent]) -> [AppendOutcome] {
        // One account's messages go one behind the other; several accounts side by side.
        var groups: [String: [Int]] = [:]
        for (place, event) in events.enumerated() {
            groups[event.account, default: []].append(place)
        }
        let lists = Array(groups.values)
        let unfinished = AppendOutcome.failed(StoreError(.unavailable, "NATS does not answer."))
        let outcomes = Monitor([AppendOutcome](repeating: unfinished, count: events.count))
        let next = Monitor(0)
        let work: @Sendable () -> Void = { [self] in
            while let list = next.look({ next -> [Int]? in
                guard next < lists.count else { return nil }
                next += 1
                return lists[next - 1]
            }) {
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

    /// Has an account's subject for this thread alone, as far as this relay goes.
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
            // Whoever joined before that message is among the recipients now.
            tip.register = min(tip.register, try settleRegister(told: tip.register))
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
                guard found == .isPassedOver else { return .duplicate }
                messageID = Self.messageID(of: event, after: sequence)
            case .otherLast: break
            case .failed(let error): throw error
            }
            tip = try freshTip(of: event.account)
        }
        throw StoreError(.unavailable, "Other relays write to this account without a pause.")
    }

    /// What an event is known again by that stands under a number and does not count there: the same for
    /// every relay that the event comes to again.
    private static func messageID(of event: AcceptedEvent, after sequence: Int64) -> String {
        "\(Hexadecimal.text(of: event.digest)).\(sequence)"
    }

    /// Puts copies where the entry finds them. Messages beside it that no entry names, because whoever
    /// sent them ended before, are read by nobody and go when they are old.
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

    /// Writes a mark, and says what was before it, and its number; 0 where it was not wanted.
    ///
    /// - Parameters:
    ///   - number: Up to which message of the register whoever writes next must have read.
    ///   - isWanted: Looked at with the last entry; false leaves it.
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
            throw StoreError(.unavailable, "Other relays write to this account without a pause.")
        }
    }

    /// The engine forgets by its own clock what is too old. Here is what it cannot know: invites that
    /// expired, names of devices that went. An account that was silent for a day gets a mark, so that its
    /// count goes on when all of its events are gone.
    package func prune(now: Int64) throws(StoreError) {
        try settleRegister()
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
        // The register's last message is one that stays.
        try check()
    }
}
