internal import CMicroHTTPD
internal import Glibc
internal import Synchronization
internal import Threads

/// A small HTTP/1.1 server on 127.0.0.1 with a thread per connection.
///
/// The handler is called on the connections' threads, concurrently.
final class HTTPServer: Sendable {
    typealias Handler = @Sendable (HTTPRequest) -> HTTPAnswer

    private let handler: Handler
    private let daemon = Monitor(Daemon())
    private let stopping = Atomic(false)

    /// The C library's server; only the mutex around it makes it safe to share.
    @safe private struct Daemon: @unchecked Sendable {
        var pointer: OpaquePointer?
    }

    init(handler: @escaping Handler) { self.handler = handler }

    /// True once ``stop()`` was called; waiting threads then give up.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Starts to accept connections.
    ///
    /// - Parameter port: 0 lets the system choose.
    /// - Returns: The port, or `nil` if it is unavailable or the server is already running.
    func start(port: UInt16) -> UInt16? {
        daemon.look { daemon in
            guard unsafe daemon.pointer == nil else { return nil }
            stopping.store(false, ordering: .releasing)
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            guard
                let started = unsafe zg_start_loopback(
                    port, answerRequest, endRequest, beginRequest, context)
            else { return nil }
            unsafe daemon.pointer = started
            return unsafe zg_bound_port(started)
        }
    }

    /// Closes all connections and waits for their threads. Does nothing if not started.
    func stop() {
        stopping.store(true, ordering: .releasing)
        daemon.look { daemon in
            if let pointer = unsafe daemon.pointer { unsafe MHD_stop_daemon(pointer) }
            unsafe daemon.pointer = nil
        }
    }

    /// Sleeps in steps so that ``stop()`` does not wait long.
    func sleep(seconds: Double) {
        var left = seconds
        while left > 0, !isStopping {
            let step = min(left, 0.01)
            usleep(UInt32(step * 1_000_000))
            left -= step
        }
    }

    fileprivate func answer(_ exchange: Exchange, method: String) -> HTTPAnswer {
        handler(
            HTTPRequest(
                method: method, target: exchange.target, headers: exchange.headers,
                body: exchange.body, isTooLarge: exchange.isTooLarge))
    }
}

/// The state of a request while it is received.
private final class Exchange {
    let target: String
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    var hasHeaders = false
    var receivedBytes = 0

    init(target: String) { self.target = target }

    var isTooLarge: Bool { receivedBytes > HTTPRequest.maximumBodyBytes }
}

/// A body sent in chunks, which also ends with its server.
private final class BodySource {
    var pending: ArraySlice<UInt8> = []
    let next: @Sendable () -> [UInt8]?
    let server: HTTPServer

    init(next: @escaping @Sendable () -> [UInt8]?, server: HTTPServer) {
        self.next = next
        self.server = server
    }
}

// Free functions because the library calls them on its own threads.

private func beginRequest(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>, _ connection: OpaquePointer
) -> UnsafeMutableRawPointer? {
    unsafe Unmanaged.passRetained(Exchange(target: String(cString: target))).toOpaque()
}

private func endRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let state = unsafe state, let exchange = unsafe state.pointee else { return }
    unsafe Unmanaged<Exchange>.fromOpaque(exchange).release()
    unsafe state.pointee = nil
}

private func collectHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return .YES }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
    exchange.headers[unsafe String(cString: name).lowercased()] = text
    return .YES
}

private func answerRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadBytes: UnsafeMutablePointer<Int>?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection,
        let method = unsafe method,
        let uploadBytes = unsafe uploadBytes, let state = unsafe state,
        let opaque = unsafe state.pointee
    else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(opaque).takeUnretainedValue()
    if !exchange.hasHeaders {
        exchange.hasHeaders = true
        unsafe MHD_get_connection_values(connection, .HEADER_KIND, collectHeader, opaque)
        return .YES
    }
    let count = unsafe uploadBytes.pointee
    if count > 0 {
        exchange.receivedBytes += count
        // A body over the limit is read and dropped so that the sender sees the response, but not
        // forever.
        guard exchange.receivedBytes <= 4 * HTTPRequest.maximumBodyBytes else { return .NO }
        if exchange.isTooLarge {
            exchange.body = []
        } else if let upload = unsafe upload {
            let piece = unsafe UnsafeRawBufferPointer(start: upload, count: count)
            unsafe exchange.body.append(contentsOf: piece)
        }
        unsafe uploadBytes.pointee = 0
        return .YES
    }
    let server = unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    let answer = server.answer(exchange, method: unsafe String(cString: method))
    if answer.delaySeconds > 0 { server.sleep(seconds: answer.delaySeconds) }
    return unsafe send(answer, on: connection, of: server)
}

private func send(_ answer: HTTPAnswer, on connection: OpaquePointer, of server: HTTPServer)
    -> MHD_Result
{
    switch answer.delivery {
    case .silence:
        return .NO
    case .reset:
        unsafe zg_reset_connection(connection)
        return .NO
    case .whole, .halfBody, .drip:
        break
    }
    guard let response = unsafe response(for: answer, of: server) else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    for (name, value) in answer.headers {
        unsafe MHD_add_response_header(response, name, value)
    }
    return unsafe MHD_queue_response(connection, UInt32(answer.status), response)
}

private func response(for answer: HTTPAnswer, of server: HTTPServer) -> OpaquePointer? {
    let announced: UInt64
    let source: BodySource
    switch (answer.body, answer.delivery) {
    case (.bytes(let bytes), .whole):
        return unsafe bytes.withUnsafeBytes { buffer in
            // The copying mode only reads the buffer; the parameter is not const because of other
            // modes.
            unsafe MHD_create_response_from_buffer(
                buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                .RESPMEM_MUST_COPY)
        }
    case (.bytes(let bytes), .drip):
        announced = UInt64(bytes.count)
        let rest = Monitor(bytes[...])
        source = BodySource(
            next: {
                server.sleep(seconds: 0.4)
                return rest.look { $0.popFirst() }.map { [$0] }
            }, server: server)
    case (.bytes(let bytes), _):
        announced = UInt64(bytes.count)
        let half = Monitor<[UInt8]?>(Array(bytes.prefix(bytes.count / 2)))
        source = BodySource(next: { half.look { $0.take() } }, server: server)
    case (.stream(let next), let delivery):
        announced = UInt64.max
        let left = Atomic(delivery == .halfBody ? 2 : Int.max)
        source = BodySource(
            next: {
                guard left.load(ordering: .relaxed) > 0, let piece = next() else { return nil }
                if !piece.isEmpty { left.subtract(1, ordering: .relaxed) }
                return piece
            }, server: server)
    }
    let opaque = unsafe Unmanaged.passRetained(source).toOpaque()
    let cut = answer.delivery == .halfBody
    return cut
        ? unsafe MHD_create_response_from_callback(
            announced, 16384, readCutBody, opaque, releaseBody)
        : unsafe MHD_create_response_from_callback(
            announced, 16384, readBody, opaque, releaseBody)
}

private func readBody(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64,
    _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
) -> Int {
    unsafe read(context, into: buffer, room: room, atEnd: -1)
}

private func readCutBody(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64,
    _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
) -> Int {
    unsafe read(context, into: buffer, room: room, atEnd: -2)
}

/// Returns the next chunk; -1 is MHD_CONTENT_READER_END_OF_STREAM, -2 ..._WITH_ERROR.
private func read(
    _ context: UnsafeMutableRawPointer?, into buffer: UnsafeMutablePointer<CChar>?, room: Int,
    atEnd end: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer, room > 0 else { return end }
    let source = unsafe Unmanaged<BodySource>.fromOpaque(context).takeUnretainedValue()
    while source.pending.isEmpty {
        guard !source.server.isStopping else { return -2 }
        guard let piece = source.next() else { return end }
        source.pending = piece[...]
        if piece.isEmpty { usleep(10_000) }
    }
    let piece = source.pending.prefix(room)
    let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: room)
    unsafe target.copyBytes(from: piece)
    source.pending = source.pending.dropFirst(piece.count)
    return piece.count
}

private func releaseBody(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<BodySource>.fromOpaque(context).release()
}
