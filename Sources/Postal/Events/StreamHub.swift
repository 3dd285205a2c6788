internal import Threads

/// All open streams, and the threads that read the log for them.
final class StreamHub: Sendable {
    private struct State {
        var streams: [String: EventStream] = [:]
        var accounts: [String: [String: EventStream]] = [:]
        var isEnding = false
    }

    /// Sealed bytes sent to a stream at a time; a device holds that many in memory, in base64.
    private static let byteLimit = 3_000
    /// Streams per read of the log.
    private static let readCount = 64
    private static let threadCount = 2
    static let keepAliveMilliseconds: Int64 = 15_000
    /// How long a device may take to receive one part.
    static let stuckMilliseconds: Int64 = 4 * 60_000

    private let state = Monitor(State())
    private let reading: WorkQueue<EventStream>
    /// The queue for its own threads.
    private let again: Monitor<WorkQueue<EventStream>?>
    private let steady: @Sendable () -> Int64

    /// Starts the threads; nil if the system refuses them.
    init?(log: any EventLog, metrics: Metrics, steady: @escaping @Sendable () -> Int64) {
        let again = Monitor(WorkQueue<EventStream>?.none)
        let queue = WorkQueue<EventStream>(threads: Self.threadCount, most: Self.readCount) {
            streams in
            let asked = streams.compactMap { stream in
                stream.request(byteLimit: Self.byteLimit).map { (stream, $0) }
            }
            let answers: [DeviceEvents?]
            do throws(StoreError) {
                answers = try log.read(asked.map { $0.1 })
            } catch {
                metrics.storeFailures.add()
                answers = asked.map { _ in nil }
            }
            for (place, pair) in asked.enumerated() {
                let events = place < answers.count ? answers[place] : nil
                metrics.delivered.add(events?.copies.count ?? 0)
                if let missed = events?.missed { metrics.missed.add(max(missed.count, 1)) }
                switch pair.0.take(events) {
                case .resume: pair.0.resume()
                case .read: again.look { $0 }?.add([pair.0])
                case .nothing: break
                }
            }
            // Streams that end while they are read still need to be resumed.
            if asked.count < streams.count {
                let wasAsked = Set(asked.map { ObjectIdentifier($0.0) })
                for stream in streams where !wasAsked.contains(ObjectIdentifier(stream)) {
                    if stream.take(nil) == .resume { stream.resume() }
                }
            }
        }
        guard let queue else { return nil }
        again.look { $0 = queue }
        (reading, self.again) = (queue, again)
        self.steady = steady
    }

    /// Number of streams.
    var count: Int { state.look { $0.streams.count } }

    /// Number of streams that wait for the log.
    var waitingCount: Int { reading.count }

    /// Adds a stream and ends an older one of the same device; returns false while the relay stops.
    func add(_ stream: EventStream) -> Bool {
        let (isTaken, older) = state.look { state -> (Bool, EventStream?) in
            guard !state.isEnding else { return (false, nil) }
            let older = state.streams.updateValue(stream, forKey: stream.device.id)
            for account in stream.device.accounts {
                state.accounts[account, default: [:]][stream.device.id] = stream
            }
            return (true, older)
        }
        if let older { end(older, with: []) }
        return isTaken
    }

    /// Removes a stream whose connection is closed.
    func remove(_ stream: EventStream) {
        stream.leave()
        state.change { state in
            guard state.streams[stream.device.id] === stream else { return }
            state.streams[stream.device.id] = nil
            for account in stream.device.accounts {
                state.accounts[account]?[stream.device.id] = nil
                if state.accounts[account]?.isEmpty == true { state.accounts[account] = nil }
            }
        }
    }

    /// Queues a read of the log for a stream.
    func read(for stream: EventStream) { reading.add([stream]) }

    /// Handles a change of the store.
    func take(_ change: StoreChange, relay: String) {
        switch change {
        case .events(let accounts):
            wake(
                state.look { state in
                    accounts.flatMap { state.accounts[$0].map { Array($0.values) } ?? [] }
                })
        case .removed(let devices):
            let streams = state.look { state in devices.compactMap { state.streams[$0] } }
            for stream in streams { end(stream, with: EventFrame.removed) }
        case .streamBegan(let device, let other):
            guard other != relay, let stream = state.look({ $0.streams[device] }) else { return }
            end(stream, with: [])
        case .anything: wake(all)
        }
    }

    /// Ends the streams of removed devices, if a store could not report each removal.
    func endRemovedDevices(_ register: any Register) {
        for stream in all {
            // A failed lookup is repeated with the next change.
            let isThere = (try? register.device(id: stream.device.id) != nil) ?? true
            if !isThere { end(stream, with: EventFrame.removed) }
        }
    }

    private var all: [EventStream] { state.look { Array($0.streams.values) } }

    private func wake(_ streams: [EventStream]) {
        let now = steady()
        reading.add(streams.filter { $0.wake(now: now) == .read })
    }

    private func end(_ stream: EventStream, with lines: [UInt8]) {
        if stream.end(with: lines) == .resume { stream.resume() }
    }

    /// Sends keep-alives, and returns the stuck streams.
    func tick() -> [EventStream] {
        let now = steady()
        var stuck: [EventStream] = []
        for stream in all {
            if stream.keepAlive(since: now - Self.keepAliveMilliseconds, now: now) == .resume {
                stream.resume()
            } else if stream.isStuck(since: now - Self.stuckMilliseconds) {
                stuck.append(stream)
            }
        }
        return stuck
    }

    /// Ends all streams and accepts no more.
    func endAll() {
        state.look { $0.isEnding = true }
        for stream in all { end(stream, with: []) }
    }

    /// Waits until the last stream is closed.
    func drain(milliseconds: Int64) {
        _ = state.wait(milliseconds: milliseconds) { $0.streams.isEmpty ? true : nil }
    }

    func close() {
        reading.close()
        again.look { $0 = nil }
    }
}
