internal import CMicroHTTPD
internal import Glibc
internal import Synchronization
internal import Threads

/// An HTTP/1.1 server that holds many connections which have nothing to say: a few threads, and no
/// thread waits for anything but the network.
///
/// What needs the store is done elsewhere while the connection is suspended.
@safe
final class HTTPServer: @unchecked Sendable {
    /// What the server is made with.
    struct Settings: Sendable {
        var address: String
        /// 0 lets the system choose.
        var port: UInt16
        var connectionLimit: UInt32 = 12_288
        /// Addresses that may connect; others are not let in.
        var peers: Set<String>
        var limits = ConnectionTable.Limits()
        /// More threads make waking a stream cheaper: each has its own list of suspended connections.
        var threadCount: UInt32 = 8
    }

    /// Fields of a request, and what is sent on a stream at a time.
    private static let connectionMemoryByteCount = 6_144

    let settings: Settings
    let connections: ConnectionTable
    let steady: @Sendable () -> Int64
    let metrics: Metrics
    /// Makes the plan of a request. Called on the server's threads, so it must not wait.
    let plan: @Sendable (RequestHead) -> RequestPlan
    /// Called when a stream has sent all it had, and there is more.
    let readStream: @Sendable (EventStream) -> Void
    /// Called before the connection of a stream is gone.
    let streamEnded: @Sendable (EventStream) -> Void
    let bodyBudget = Atomic<Int>(0)
    /// How many requests are worked on, each with its connection suspended.
    private let running = Monitor(0)
    /// Set while `running` is looked at, so that none is begun behind it.
    private let stopping = Atomic(false)
    private var daemon: OpaquePointer?

    init(
        _ settings: Settings, metrics: Metrics, steady: @escaping @Sendable () -> Int64,
        plan: @escaping @Sendable (RequestHead) -> RequestPlan,
        readStream: @escaping @Sendable (EventStream) -> Void,
        streamEnded: @escaping @Sendable (EventStream) -> Void
    ) {
        (self.settings, self.metrics, self.steady) = (settings, metrics, steady)
        (self.plan, self.readStream, self.streamEnded) = (plan, readStream, streamEnded)
        connections = ConnectionTable(settings.limits)
    }

    /// True once the end has begun: no request is worked on any more.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Starts to accept connections.
    ///
    /// - Returns: The port, or nil where the address cannot be had; `errno` says why.
    func start() -> UInt16? {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe daemon = settings.address.withCString { address in
            unsafe zg_start_relay(
                zg_relay_settings(
                    address: address, port: settings.port, thread_count: settings.threadCount,
                    connection_limit: settings.connectionLimit,
                    connection_memory: Self.connectionMemoryByteCount, accept: acceptPeer,
                    access: takeRequest, completed: endRequest, target: beginRequest,
                    connection: noteConnection, context: context))
        }
        return unsafe daemon.map { unsafe zg_bound_port($0) }
    }

    /// Takes no new connections and no new requests, and waits until those that are worked on are
    /// answered.
    func quiesce(milliseconds: Int64) {
        running.look { _ in stopping.store(true, ordering: .releasing) }
        if let daemon = unsafe daemon {
            let listening = unsafe MHD_quiesce_daemon(daemon)
            if listening >= 0 { Glibc.close(listening) }
        }
        _ = running.wait(milliseconds: milliseconds) { $0 == 0 ? true : nil }
    }

    /// Ends all connections and the server's threads. No connection may be suspended any more: the
    /// library ends the process where one is.
    func stop() {
        if let daemon = unsafe daemon { unsafe MHD_stop_daemon(daemon) }
        unsafe daemon = nil
    }

    /// Has a request worked on while its connection is suspended.
    ///
    /// - Returns: False once the end has begun: its head may have come before.
    func work(on exchange: Exchange, _ work: RequestWork) -> Bool {
        let isTaken = running.look { count in
            guard !isStopping else { return false }
            count += 1
            return true
        }
        guard isTaken else { return false }
        // Before anybody could resume it.
        exchange.connection.suspend()
        let body = exchange.body
        exchange.body = []
        work(body, exchange.connection) { [self] answer in
            bodyBudget.wrappingSubtract(body.count, ordering: .relaxed)
            exchange.answer = answer
            exchange.connection.resume()
            running.change { $0 -= 1 }
        }
        return true
    }
}
