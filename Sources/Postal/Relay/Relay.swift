internal import Glibc
internal import Sealing
internal import Threads

/// The relay: a store, the hooks, a server, and what is between them.
final class Relay: Sendable {
    /// One event on its way to the store.
    struct Arrival: Sendable {
        let event: AcceptedEvent
        let beganAt: Int64
        let reply: @Sendable (HTTPAnswer) -> Void
    }

    /// How long the end may take before connections are cut.
    private static let endMilliseconds: Int64 = 10_000
    private static let pruneMilliseconds: Int64 = 10 * 60_000

    let store: any PostalStore
    let secrets: HookSecrets
    let clock: PostalContext.Clock
    let metrics = Metrics()
    let failures: FailureLimiter
    let health: HealthCheck
    /// Tells this relay from others of the same store.
    let name = String(decoding: Base64.encoded(Random.bytes(12)), as: UTF8.self)
    private let parts = Monitor(Parts?.none)

    /// What needs the relay itself, and is made after it.
    struct Parts: Sendable {
        let server: HTTPServer
        let hub: StreamHub
        let requests: WorkQueue<@Sendable () -> Void>
        let arrivals: WorkQueue<Arrival>
        let acknowledging: WorkQueue<Acknowledgement>
    }

    /// The number up to which a device has had everything.
    struct Acknowledgement: Sendable {
        let device: String
        let number: Int64
        /// Called with whether it is kept.
        let done: @Sendable (Bool) -> Void
    }

    init(store: any PostalStore, secrets: HookSecrets, clock: PostalContext.Clock) {
        (self.store, self.secrets, self.clock) = (store, secrets, clock)
        failures = FailureLimiter(now: clock.steady())
        health = HealthCheck(store, steady: clock.steady)
    }

    /// Starts everything.
    ///
    /// - Returns: The port, or nil where the address or threads cannot be had; `errno` says why.
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
        // Not unowned: the store's thread may still be telling while everything ends.
        store.observe { [self, hub] change in
            hub.take(change, relay: name)
            if change == .anything { hub.endRemoved(store) }
        }
        return server.start()
    }

    /// What runs; nil before the start.
    var running: Parts? { parts.look { $0 } }

    /// Does what time asks for, about once a second: keeps streams alive, ends what takes too long.
    func tick() {
        guard let parts = running else { return }
        let closed = parts.server.connections.sweep(now: clock.steady())
        if closed > 0 { metrics.closedForLimits.add(closed) }
        for stream in parts.hub.tick() {
            parts.server.connections.shut(stream.connection.socket, in: .stream)
            metrics.closedForLimits.add()
        }
    }

    /// Forgets what is too old, every ten minutes from `due` on. Returns when it is due again.
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

    /// Ends everything in order: what was accepted is kept and answered, then streams end.
    func stop() {
        guard let parts = running else { return }
        store.observe { _ in }
        parts.server.quiesce(milliseconds: Self.endMilliseconds)
        parts.hub.endAll()
        parts.hub.drain(milliseconds: Self.endMilliseconds)
        // Whoever still works, because the store is slow, holds a connection suspended until he is done.
        parts.requests.close()
        parts.arrivals.close()
        parts.acknowledging.close()
        parts.hub.close()
        parts.server.stop()
    }

    /// Has something done by a thread that may wait; refused where too much waits.
    func queue(
        _ reply: @escaping @Sendable (HTTPAnswer) -> Void,
        _ work: @escaping @Sendable () -> HTTPAnswer
    ) {
        guard running?.requests.add({ reply(work()) }) == true else {
            reply(refusal(.busy))
            return
        }
    }

    /// The answer of a refusal, which is counted.
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
