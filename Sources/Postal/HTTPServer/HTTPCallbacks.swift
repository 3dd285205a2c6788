internal import CMicroHTTPD
internal import Synchronization

// Free functions without an actor, because the library calls them on its own threads.

private func server(_ context: UnsafeMutableRawPointer) -> HTTPServer {
    unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
}

/// Accepts connections from allowed addresses.
func acceptPeer(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ count: socklen_t
) -> MHD_Result {
    guard let context = unsafe context, let address = unsafe address else { return .NO }
    var text = [CChar](repeating: 0, count: 64)
    guard unsafe zg_address_text(address, &text, 64) != 0 else { return .NO }
    let peer = String(
        decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return unsafe server(context).settings.peers.contains(peer) || PeerAddress.isLoopback(peer)
        ? .YES : .NO
}

/// Updates the table of connections.
func recordConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ what: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection else { return }
    let server = unsafe server(context)
    let socket = unsafe zg_connection_socket(connection)
    // MHD_CONNECTION_NOTIFY_STARTED
    if what.rawValue == 0 {
        server.connections.begin(socket, now: server.steady())
    } else {
        server.connections.end(socket)
    }
}

func beginRequest(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>, _ connection: OpaquePointer
) -> UnsafeMutableRawPointer? {
    let exchange = unsafe Exchange(ConnectionHandle(connection), target: String(cString: target))
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

func endRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let state = unsafe state,
        let opaque = unsafe state.pointee
    else { return }
    let server = unsafe server(context)
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(opaque).takeRetainedValue()
    unsafe state.pointee = nil
    exchange.give(backTo: server.bodyBudget)
    if let stream = exchange.stream ?? exchange.answer?.stream { server.streamEnded(stream) }
    server.connections.set(exchange.connection.socket, .resting, now: server.steady())
}

/// Called with the head, then parts of the body, then the end, and again after a suspended request.
func takeRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadBytes: UnsafeMutablePointer<Int>?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let method = unsafe method,
        let uploadBytes = unsafe uploadBytes, let state = unsafe state,
        let opaque = unsafe state.pointee
    else { return .NO }
    let server = unsafe server(context)
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(opaque).takeUnretainedValue()
    guard let plan = exchange.plan else {
        let head = unsafe head(of: exchange, method: String(cString: method))
        exchange.target = ""
        exchange.plan = server.isStopping ? .answer(.refusal(.busy)) : server.plan(head)
        server.connections.set(exchange.connection.socket, .body, now: server.steady())
        return .YES
    }
    let count = unsafe uploadBytes.pointee
    if count > 0 {
        guard let upload = unsafe upload else { return .NO }
        let piece = unsafe UnsafeRawBufferPointer(start: upload, count: count)
        unsafe uploadBytes.pointee = 0
        return unsafe exchange.take(piece, budget: server.bodyBudget, metrics: server.metrics)
            ? .YES : .NO
    }
    if let answer = exchange.answer { return send(answer, for: exchange, of: server) }
    server.connections.set(exchange.connection.socket, .answering, now: server.steady())
    switch plan {
    case .answer(let answer): return send(answer, for: exchange, of: server)
    case .work(_, let work):
        if server.work(on: exchange, work) { return .YES }
        return send(.refusal(.busy), for: exchange, of: server)
    }
}

private func head(of exchange: Exchange, method: String) -> RequestHead {
    let path = exchange.target.prefix { $0 != "?" }
    return RequestHead(
        method: method, path: String(path), token: token(of: exchange),
        signature: field("x-vercel-signature", of: exchange),
        lastEventID: field("Last-Event-ID", of: exchange),
        client: field("X-Forwarded-For", of: exchange).flatMap(PeerAddress.client(of:)))
}

private func field(_ name: String, of exchange: Exchange) -> String? {
    unsafe exchange.connection.field(name).map { unsafe String(cString: $0) }
}

/// Returns the digest of `Authorization: Bearer TOKEN`, computed in place so that the token is
/// never copied.
private func token(of exchange: Exchange) -> DeviceToken? {
    guard let value = unsafe exchange.connection.field("Authorization") else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: value, count: strlen(value))
    let scheme = Array("bearer ".utf8)
    guard bytes.count > scheme.count,
        unsafe zip(scheme, bytes).allSatisfy({ $0 == $1 | 0x20 })
    else { return nil }
    var rest = unsafe bytes[scheme.count...]
    while unsafe rest.first == 0x20 { unsafe rest = rest.dropFirst() }
    while unsafe rest.last == 0x20 { unsafe rest = rest.dropLast() }
    return unsafe DeviceToken(text: RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: rest)))
}

private func send(_ answer: HTTPAnswer, for exchange: Exchange, of server: HTTPServer) -> MHD_Result
{
    if let stream = answer.stream {
        exchange.answer = nil
        return sendStream(stream, for: exchange, of: server)
    }
    let response = unsafe answer.body.withUnsafeBytes { buffer in
        // The copying mode only reads the buffer; the parameter is not const because of other
        // modes.
        unsafe MHD_create_response_from_buffer(
            buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress),
            .RESPMEM_MUST_COPY)
    }
    guard let response = unsafe response else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    if !answer.body.isEmpty { unsafe add("Content-Type", answer.type, to: response) }
    unsafe add("Cache-Control", "no-store", to: response)
    if let seconds = answer.retryAfter { unsafe add("Retry-After", "\(seconds)", to: response) }
    if let allowed = answer.allowed { unsafe add("Allow", allowed, to: response) }
    if server.isStopping { unsafe add("Connection", "close", to: response) }
    return unsafe exchange.connection.answer(answer.status, response)
}

private func add(_ name: String, _ value: String, to response: OpaquePointer) {
    unsafe MHD_add_response_header(response, name, value)
}

private final class StreamBody {
    let stream: EventStream
    let server: HTTPServer

    init(_ stream: EventStream, _ server: HTTPServer) {
        (self.stream, self.server) = (stream, server)
    }
}

private func sendStream(
    _ stream: EventStream, for exchange: Exchange, of server: HTTPServer
) -> MHD_Result {
    exchange.stream = stream
    exchange.plan = .answer(HTTPAnswer(status: 200))
    let body = StreamBody(stream, server)
    let opaque = unsafe Unmanaged.passRetained(body).toOpaque()
    guard
        let response = unsafe MHD_create_response_from_callback(
            UInt64.max, 512, fillStream, opaque, releaseStream)
    else {
        unsafe releaseStream(opaque)
        return .NO
    }
    defer { unsafe MHD_destroy_response(response) }
    unsafe add("Content-Type", "text/event-stream", to: response)
    unsafe add("Cache-Control", "no-store", to: response)
    // nginx buffers responses by default.
    unsafe add("X-Accel-Buffering", "no", to: response)
    server.connections.set(exchange.connection.socket, .stream, now: server.steady())
    return unsafe exchange.connection.answer(200, response)
}

/// -1 is MHD_CONTENT_READER_END_OF_STREAM; 0 means nothing yet.
private func fillStream(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64,
    _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer, room > 0 else { return -1 }
    let body = unsafe Unmanaged<StreamBody>.fromOpaque(context).takeUnretainedValue()
    let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: room)
    let (supply, duty, waited) = unsafe body.stream.fill(target, now: body.server.steady())
    if let waited { body.server.metrics.delivering.add(milliseconds: waited) }
    if duty == .read { body.server.readStream(body.stream) }
    switch supply {
    case .bytes(let count): return count
    case .wait: return 0
    case .end: return -1
    }
}

private func releaseStream(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<StreamBody>.fromOpaque(context).release()
}
