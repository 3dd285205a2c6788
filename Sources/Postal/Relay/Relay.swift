internal import Glibc
internal import Sealing
internal import Threads

/// The relay: a store, the webhooks and a server.
final class Relay: Sendable {
    /// An event on its way to the store.
    struct Arrival: Sendable {
        let event: AcceptedEvent
        let beganAt: Int64
        let reply: @Sendable (HTTPAnswer) -> Void
    }

    /// How long requests may take to finish before connections are closed.
    private static let endMilliseconds: Int64 = 10_000
    private static let pruneMilliseconds: Int64 = 10 * 60_000

    let store: any PostalStore
    let secrets: HookSecrets
    let clock: PostalContext.Clock
    let metrics = Metrics()
    let failures: FailureLimiter
    let health: HealthCheck
    /// Identifies this relay among others on the same store.
    let name = String(decoding: Base64.encoded(Random.bytes(12)), as: UTF8.self)
    private let parts = Monitor(Parts?.none)

    /// The parts that need the relay itself.
    struct Parts: Sendable {
        let server: HTTPServer
        let hub: StreamHub
        let requests: WorkQueue<@Sendable () -> Void>
        let arrivals: WorkQueue<Arrival>
        let acknowledging: WorkQueue<Acknowledgement>
    }

    /// A device's acknowledgement of all events up to a number.
    struct Acknowledgement: Sendable {
        let device: String
        let number: Int64
        /// Called with true once it is stored, or with false.
        let done: @Sendable (Bool) -> Void
    }

    init(store: any PostalStore, secrets: HookSecrets, clock: PostalContext.Clock) {
        (self.store, self.secrets, self.clock) = (store, secrets, clock)
        failures = FailureLimiter(now: clock.steady())
        health = HealthCheck(store, steady: clock.steady)
    }

    /// Starts everything. Returns the port, or nil with `errno` set without an address or threads.
    func start(_ settings: HTTPServer.Settings) -> UInt16? {
        let server = HTTPServer(
            settings, metrics: metrics, steady: clock.steady,
            plan: { [unowned self] in plan(for: $0) },
            readStream: { [unowned self] in running?.hub.read(for: $0) },
            streamEnded: { [unowned self] in running?.hub.remove($0) })
        guard
            let hub = StreamHub(log: store, metrics: metrics, steady: clock.steady),
            let requests = WorkQueue<@Sendable () -> Void>(
                threads: 4, limit: 16_384, { jobs in for job in jobs { job() } }),
            let arrivals = WorkQueue<Arrival>(
                threads: 2, limit: 4_096, most: 256, { [unowned self] in keep($0) }),
            let acknowledging = WorkQueue<Acknowledgement>(
                threads: 1, most: 1_024, { [unowned self] in keep($0) })
        else { return nil }
        parts.look {
            $0 = Parts(
                server: server, hub: hub, requests: requests, arrivals: arrivals,
                acknowledging: acknowledging)
        }
        // Not unowned: the store's thread may still report changes during shutdown.
        store.observe { [self, hub] change in
            hub.take(change, relay: name)
            if change == .anything { hub.endRemovedDevices(store) }
        }
        return server.start()
    }

    /// Nil before the start.
    var running: Parts? { parts.look { $0 } }

    /// Sends keep-alives and closes slow connections, about once a second.
    func tick() {
        guard let parts = running else { return }
        let closed = parts.server.connections.sweep(now: clock.steady())
        if closed > 0 { metrics.closedForLimits.add(closed) }
        for stream in parts.hub.tick() {
            parts.server.connections.shut(stream.connection.socket, in: .stream)
            metrics.closedForLimits.add()
        }
    }

    /// Prunes the store every ten minutes. Returns when it is due again.
    func pruneIfDue(_ due: Int64) -> Int64 {
        let now = clock.steady()
        guard now >= due else { return due }
        do throws(StoreError) {
            try store.prune(now: clock.now())
        } catch {
            metrics.storeFailures.add()
        }
        return now + Self.pruneMilliseconds
    }

    /// Shuts down in order: accepted events are stored and answered, then streams end.
    func stop() {
        guard let parts = running else { return }
        store.observe { _ in }
        parts.server.quiesce(milliseconds: Self.endMilliseconds)
        parts.hub.endAll()
        parts.hub.drain(milliseconds: Self.endMilliseconds)
        // A request that waits for a slow store keeps its connection suspended.
        parts.requests.close()
        parts.arrivals.close()
        parts.acknowledging.close()
        parts.hub.close()
        parts.server.stop()
    }

    /// Runs work on a thread that may block; refused if too much is queued.
    func queue(
        _ reply: @escaping @Sendable (HTTPAnswer) -> Void,
        _ work: @escaping @Sendable () -> HTTPAnswer
    ) {
        guard running?.requests.add({ reply(work()) }) == true else {
            reply(refusal(.busy))
            return
        }
    }

    /// Runs work with the store. A failure of the store is counted and refuses the request.
    func withStore(_ work: () throws(StoreError) -> HTTPAnswer) -> HTTPAnswer {
        do throws(StoreError) {
            return try work()
        } catch {
            metrics.storeFailures.add()
            return refusal(.store)
        }
    }

    /// Returns the response of a refusal, and counts it.
    func refusal(_ reason: Refusal) -> HTTPAnswer {
        metrics.refuse(reason)
        return .refusal(reason)
    }

    private func keep(_ acknowledgements: [Acknowledgement]) {
        var numbers: [String: Int64] = [:]
        for one in acknowledgements {
            numbers[one.device] = max(numbers[one.device] ?? 0, one.number)
        }
        var isKept = true
        do throws(StoreError) {
            try store.acknowledge(numbers)
        } catch {
            metrics.storeFailures.add()
            isKept = false
        }
        for one in acknowledgements { one.done(isKept) }
    }
}
