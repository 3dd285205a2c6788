internal import CCurl
internal import HTTPClient
internal import Sealing

/// One request in progress: what libcurl reads from and writes to.
///
/// libcurl holds its address, so it must live as long as its handle is in use.
@safe
final class CurlTransfer {
    /// The index of the request among those sent together.
    let place: Int
    /// libcurl's handle, owned by the transport.
    let easy: UnsafeMutableRawPointer

    let library: CurlLibrary
    let request: HTTPRequest
    let timeouts: HTTPTimeouts
    let isStreaming: Bool
    let maximumByteCount: Int
    let headerList: CurlHeaderList
    let received: GuardedBytes
    let started = zg_curl_now()
    var lastActivity: Int64?
    /// The begin of the span in which the rate of the response is measured, once it has begun.
    var spanStart: Int64?
    /// The bytes of the response in that span.
    var spanByteCount = 0
    var bodyOffset = 0
    var bodyWasRead = false
    var status = 0
    var headers = HTTPHeaders()
    var isHeadComplete = false
    var hasBody = false
    var failure: TransportError.Code?

    /// Configures `easy` for `request` without sending it.
    init(
        _ request: HTTPRequest, place: Int, easy: UnsafeMutableRawPointer, library: CurlLibrary,
        isStreaming: Bool, configuration: CurlConfiguration
    ) throws(TransportError) {
        self.place = place
        unsafe self.easy = unsafe easy
        self.library = library
        self.request = request
        self.isStreaming = isStreaming
        // Any other byte could end the header field and start another one.
        let isTokenClean =
            request.token?.withBytes { bytes in
                (0..<bytes.byteCount).allSatisfy { (0x21...0x7E).contains(bytes.byte(at: $0)) }
            } ?? true
        guard isTokenClean else {
            throw TransportError(
                .failed, mayHaveReachedServer: false, reason: "the token is not printable ASCII")
        }
        timeouts = request.timeouts ?? configuration.timeouts
        maximumByteCount = configuration.maximumAnswerByteCount
        do throws(SealingError) {
            received = try GuardedBytes()
            headerList = try CurlHeaderList(request)
        } catch {
            throw TransportError(
                .failed, mayHaveReachedServer: false, reason: "out of guarded memory")
        }
        try setUp(configuration)
    }

    /// The response as far as it has arrived.
    var response: HTTPResponse { HTTPResponse(status: status, headers: headers, body: received) }

    /// Passes what has arrived of a streamed body, possibly nothing, to `onBytes`.
    ///
    /// - Returns: False if `onBytes` wants no more.
    func deliver(to onBytes: (RawSpan) -> Bool) -> Bool {
        guard isHeadComplete, (200..<300).contains(status) else { return true }
        let shouldContinue = received.withBytes { onBytes($0) }
        received.removeAll()
        return shouldContinue
    }
}

extension CurlTransfer {
    private func setUp(_ configuration: CurlConfiguration) throws(TransportError) {
        let url = "\(request.origin)\(request.target)"
        try set(CURLOPT_URL, to: url)
        try set(CURLOPT_NOSIGNAL, to: 1)
        try check(unsafe zg_curl_allow_only_http(library.table, easy))
        // Paths are sent unchanged: libcurl would resolve dots in them.
        try set(CURLOPT_PATH_AS_IS, to: 1)
        try set(CURLOPT_FOLLOWLOCATION, to: 0)
        try set(CURLOPT_HTTP_VERSION, to: 4)  // CURL_HTTP_VERSION_2TLS
        // A parallel request waits for the first one's connection rather than opening its own.
        try set(CURLOPT_PIPEWAIT, to: request.origin.isSecure ? 1 : 0)
        try set(CURLOPT_SSLVERSION, to: 6)  // CURL_SSLVERSION_TLSv1_2, which means "or newer"
        try set(CURLOPT_SSL_VERIFYPEER, to: 1)
        try set(CURLOPT_SSL_VERIFYHOST, to: 2)
        if let file = configuration.certificateAuthorityFile { try set(CURLOPT_CAINFO, to: file) }
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        if !request.origin.isSecure {
            // A proxy would see the token in plain text.
            try set(CURLOPT_PROXY, to: "")
        } else if let proxy = configuration.proxy {
            try set(CURLOPT_PROXY, to: proxy)
        }
        try set(CURLOPT_CONNECTTIMEOUT_MS, to: Int(timeouts.connect.wholeMilliseconds))
        try setUpMethod()
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe try check(
            zg_curl_set_pointer(library.table, easy, CURLOPT_HTTPHEADER, headerList.first))
        unsafe try check(zg_curl_set_pointer(library.table, easy, CURLOPT_WRITEDATA, me))
        unsafe try check(zg_curl_set_pointer(library.table, easy, CURLOPT_HEADERDATA, me))
        unsafe try check(zg_curl_set_pointer(library.table, easy, CURLOPT_READDATA, me))
        unsafe try check(zg_curl_set_pointer(library.table, easy, CURLOPT_SEEKDATA, me))
        unsafe try check(
            zg_curl_set_data_callback(
                library.table, easy, CURLOPT_WRITEFUNCTION, CurlTransfer.onBody))
        unsafe try check(
            zg_curl_set_data_callback(
                library.table, easy, CURLOPT_HEADERFUNCTION, CurlTransfer.onHeader))
        unsafe try check(
            zg_curl_set_data_callback(
                library.table, easy, CURLOPT_READFUNCTION, CurlTransfer.onRead))
        unsafe try check(zg_curl_set_seek_callback(library.table, easy, CurlTransfer.onSeek))
    }

    private func setUpMethod() throws(TransportError) {
        guard let body = request.body else {
            if request.method == .get {
                try set(CURLOPT_HTTPGET, to: 1)
            } else {
                try set(CURLOPT_CUSTOMREQUEST, to: request.method.rawValue)
            }
            // libcurl resends by itself when a reused connection turns out to be dead. With a body,
            // refusing to rewind prevents that for requests that must not be sent twice; without
            // one, only a new connection does.
            if !request.isRepeatable { try set(CURLOPT_FRESH_CONNECT, to: 1) }
            return
        }
        try set(CURLOPT_POST, to: 1)
        if request.method != .post { try set(CURLOPT_CUSTOMREQUEST, to: request.method.rawValue) }
        unsafe try check(
            zg_curl_set_size(
                library.table, easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
    }

    private func set(_ option: CURLoption, to value: Int) throws(TransportError) {
        try check(unsafe zg_curl_set_long(library.table, easy, option, value))
    }

    private func set(_ option: CURLoption, to text: String) throws(TransportError) {
        try check(unsafe zg_curl_set_text(library.table, easy, option, text))
    }

    private func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else {
            throw TransportError(
                .failed, mayHaveReachedServer: false,
                reason: "libcurl rejected an option: \(library.words(for: code))")
        }
    }
}

extension Duration {
    /// Milliseconds, rounded down and clamped to 0 through ten years.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return min(max(seconds, 0), 315_360_000) * 1000 + max(attoseconds, 0)
            / 1_000_000_000_000_000
    }
}
