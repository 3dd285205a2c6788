internal import CMicroHTTPD
internal import Glibc
internal import Synchronization
internal import Threads

/// An HTTP/1.1 server for many idle connections: a few threads, which only wait for the network.
///
/// Work that needs the store runs elsewhere while the connection is suspended.
@safe
final class HTTPServer: @unchecked Sendable {
    struct Settings: Sendable {
        var address: String
        /// 0 lets the system choose.
        var port: UInt16
        var connectionLimit: UInt32 = 12_288
        /// The only addresses that may connect.
        var peers: Set<String>
        var limits = ConnectionTable.Limits()
        /// More threads make waking a stream cheaper: each has its own list of suspended
        /// connections.
        var threadCount: UInt32 = 8
    }

    /// For the header fields of a request, and for each part of a stream.
    private static let connectionMemoryByteCount = 6_144

    let settings: Settings
    let connections: ConnectionTable
    let steady: @Sendable () -> Int64
    let metrics: Metrics
    /// Plans a request. Called on the server's threads, so it must not wait.
    let plan: @Sendable (RequestHead) -> RequestPlan
    /// Called when a stream has sent everything and there is more.
    let readStream: @Sendable (EventStream) -> Void
    /// Called before the connection of a stream is closed.
    let streamEnded: @Sendable (EventStream) -> Void
    let bodyBudget = Atomic<Int>(0)
    /// Number of running requests, each with its connection suspended.
    private let running = Monitor(0)
    /// Set while `running` is locked, so that no request starts afterwards.
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

    /// True once the server stops accepting requests.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Starts to accept connections. Returns the port, or nil with `errno` set if it cannot listen.
    func start() -> UInt16? {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe daemon = settings.address.withCString { address in
            unsafe zg_start_relay(
                zg_relay_settings(
                    address: address, port: settings.port, thread_count: settings.threadCount,
                    connection_limit: settings.connectionLimit,
                    connection_memory: Self.connectionMemoryByteCount, accept: acceptPeer,
                    access: takeRequest, completed: endRequest, target: beginRequest,
                    connection: recordConnection, context: context))
        }
        return unsafe daemon.map { unsafe zg_bound_port($0) }
    }

    /// Accepts no new connections or requests, and waits for the running ones.
    func quiesce(milliseconds: Int64) {
        running.look { _ in stopping.store(true, ordering: .releasing) }
        if let daemon = unsafe daemon {
            let listening = unsafe MHD_quiesce_daemon(daemon)
            if listening >= 0 { Glibc.close(listening) }
        }
        _ = running.wait(milliseconds: milliseconds) { $0 == 0 ? true : nil }
    }

    /// Closes all connections and ends the threads. No connection may be suspended: the library
    /// aborts the process otherwise.
    func stop() {
        if let daemon = unsafe daemon { unsafe MHD_stop_daemon(daemon) }
        unsafe daemon = nil
    }

    /// Runs a request while its connection is suspended. Returns false if the server is stopping.
    func work(on exchange: Exchange, _ work: RequestWork) -> Bool {
        let isTaken = running.look { count in
            guard !isStopping else { return false }
            count += 1
            return true
        }
        guard isTaken else { return false }
        // Before another thread can resume it.
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
