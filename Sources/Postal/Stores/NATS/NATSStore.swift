internal import Threads

/// A store in NATS JetStream for any number of relays: a stream of events and a stream of the
/// register, both replicated by the cluster. A relay has no other state.
package final class NATSStore: PostalStore {
    /// Bytes of recent events kept in memory.
    private static let cacheByteLimit = 48 << 20
    /// After this much silence of the cluster, the register counts as unknown.
    private static let silenceMilliseconds: Int64 = 5_000

    let names: NATSNames
    let settings: NATSSettings
    let limits: StoreLimits
    let api: JetStream
    let log: LogCache
    let register: RegisterCache
    let events: StreamFollower
    let registered: StreamFollower
    /// Accounts whose next message is being written by this relay.
    let writing = Monitor<Set<String>>([])
    private let observer = Monitor<(@Sendable (StoreChange) -> Void)?>(nil)
    /// Whether a read failed, so that it is repeated once the cluster responds.
    let hasFailedReads = Monitor(false)
    private let isEnding = Monitor(false)
    private let listener = Monitor<WorkThread?>(nil)
    package let warning: String?

    /// Connects, creates missing streams, and reads the register.
    package init(
        _ settings: NATSSettings, limits: StoreLimits, steady: @escaping @Sendable () -> Int64
    ) throws(StoreError) {
        (self.settings, self.limits) = (settings, limits)
        let names = NATSNames(prefix: settings.name)
        let connection = try NATSConnection(settings)
        let api = JetStream(connection: connection, patience: settings.patience)
        let log = LogCache(
            byteLimit: Self.cacheByteLimit, keptMilliseconds: limits.keptMilliseconds,
            steady: steady)
        let register = RegisterCache(names)
        let (observer, hasFailedReads) = (observer, hasFailedReads)
        self.names = names
        (self.api, self.log, self.register) = (api, log, register)
        do throws(StoreError) {
            let streams = NATSStreams(api: api, names: names, limits: limits)
            try streams.prepare()
            warning = try streams.warning()
            let newest = try api.lastSequence(of: names.events)
            let told = Monitor<Set<String>>([])
            events = StreamFollower(
                api, stream: names.events, after: newest, steady: steady,
                source: .leader,
                take: { message in
                    let account = NATSNames.last(of: message.subject)
                    if message.subject == names.copies(of: account) {
                        if let table = CopyTable(message.data) {
                            log.add(table, sequence: message.sequence)
                        }
                    } else if let entry = LogEntry(message.data) {
                        log.take(entry, sequence: message.sequence, of: account)
                        if entry.isEvent { told.look { _ = $0.insert(account) } }
                    }
                    guard !message.hasMore else { return }
                    let accounts = told.look { told in
                        defer { told = [] }
                        return told
                    }
                    if !accounts.isEmpty {
                        observer.look { $0 }?(.events(accounts: accounts))
                    }
                },
                resumed: { observer.look { $0 }?(.anything) },
                answered: {
                    let isDue = hasFailedReads.look { flag in
                        defer { flag = false }
                        return flag
                    }
                    if isDue { observer.look { $0 }?(.anything) }
                })
            registered = StreamFollower(
                api, stream: names.register, after: 0, steady: steady,
                source: .teller,
                take: { message in
                    if let device = register.take(message) {
                        observer.look { $0 }?(.removed(devices: [device]))
                    }
                },
                resumed: { observer.look { $0 }?(.anything) })
        } catch {
            connection.close()
            throw error
        }
        do throws(StoreError) {
            try events.start()
            try registered.start()
            try listen()
            try catchUpRegister()
        } catch {
            close()
            throw error
        }
    }

    package func close() {
        isEnding.change { $0 = true }
        events.end()
        registered.end()
        api.connection.close()
        events.close()
        registered.close()
        listener.look { $0.take() }?.join()
    }

    package func observe(_ observer: @escaping @Sendable (StoreChange) -> Void) {
        self.observer.look { $0 = observer }
    }

    package func announceStream(of device: String, at relay: String) {
        api.connection.tell(names.streams, "\(device) \(relay)")
    }

    /// Listens to other relays' announcements of streams.
    private func listen() throws(StoreError) {
        let subscription = try api.connection.subscribe(names.streams)
        let (observer, isEnding) = (observer, isEnding)
        let thread = WorkThread {
            while !isEnding.look({ $0 }) {
                guard let message = subscription.next(milliseconds: 1_000) else { continue }
                let words = String(decoding: message.data, as: UTF8.self).split(separator: " ")
                guard words.count == 2 else { continue }
                observer.look { $0 }?(
                    .streamBegan(device: String(words[0]), relay: String(words[1])))
            }
        }
        guard let thread else { throw StoreError(.unavailable, "Cannot start a thread.") }
        listener.look { $0 = thread }
    }

    package func check() throws(StoreError) {
        try publish(NATSPublication(names.check, Array("1".utf8)))
        _ = try api.lastSequence(of: names.events)
    }

    /// Publishes a message without concurrent writers, and returns its number.
    @discardableResult
    func publish(_ message: NATSPublication) throws(StoreError) -> Int64 {
        switch api.publish(message) {
        case .kept(let sequence), .duplicate(let sequence): return sequence
        case .otherLast: throw JetStream.unclear
        case .failed(let error): throw error
        }
    }

    /// Waits until this relay has read the whole register, by writing a message that comes after
    /// all others. The leader's last number is not enough, since a new leader may lag; nor is the
    /// number of a record, which moves to the end with every change.
    ///
    /// - Throws: If numbers went back because an older copy of the register was restored: messages
    ///   under numbers that were already read would be skipped.
    func catchUpRegister() throws(StoreError) {
        let before = registered.seen
        let sequence = try publish(NATSPublication(names.check, Array("1".utf8)))
        guard sequence > before else {
            throw StoreError(
                .unavailable,
                "The register in NATS was restored from an older copy: restart all relays.")
        }
        try catchUpRegister(through: sequence)
    }

    /// Waits until this relay has read the register up to an entry's number, or all of it: the
    /// number may be too large if the register was lost since, or if no relay wrote the entry.
    ///
    /// - Returns: The number up to which it was read.
    func catchUpRegister(told sequence: Int64) throws(StoreError) -> Int64 {
        if registered.seen < sequence { try catchUpRegister() }
        return registered.seen
    }

    func catchUpRegister(through sequence: Int64) throws(StoreError) {
        guard registered.wait(for: sequence, milliseconds: settings.patience * 2) else {
            throw StoreError(.unavailable, "Cannot read the register from NATS.")
        }
    }

    /// Throws unless this relay's copy of the register is current.
    func checkRegister() throws(StoreError) {
        guard registered.silence < Self.silenceMilliseconds else {
            throw StoreError(.unavailable, "NATS is not responding.")
        }
    }

    package func status() throws(StoreError) -> StoreStatus {
        try catchUpRegister()
        let streams = NATSStreams(api: api, names: names, limits: limits)
        let log = try streams.state(of: names.events)
        let register = try streams.state(of: names.register)
        var count = 0
        for subject in log.subjects where subject.hasPrefix("\(names.prefix).e.") {
            let account = NATSNames.last(of: subject)
            let tip = try freshTip(of: account)
            guard tip.sequence > 0, let first = try nextEntry(of: account, after: 0, tip: tip)
            else { continue }
            count += Int(clamping: tip.ordinal - first.entry.ordinalBefore)
        }
        var status = StoreStatus(
            devices: self.register.active().count, invites: self.register.openInvites(),
            events: count, newest: log.last, byteCount: log.byteCount + register.byteCount)
        status.replicas = .init(
            count: min(log.replicas, register.replicas),
            current: min(log.current, register.current),
            wanted: NATSStreams.wantedReplicas)
        return status
    }
}
