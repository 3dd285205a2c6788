internal import CCurl
internal import HTTPClient

extension CurlTransfer {
    /// The earliest moment at which a timeout may be due.
    var deadline: Int64 {
        var deadline = Int64.max
        if let total = timeouts.total { deadline = started + total.wholeMilliseconds }
        if let lastActivity {
            let wait = status > 0 ? timeouts.idle : timeouts.firstByte
            deadline = min(deadline, lastActivity + wait.wholeMilliseconds)
        }
        if timeouts.total != nil, let spanStart {
            deadline = min(deadline, spanStart + timeouts.slowest.span.wholeMilliseconds)
        }
        return deadline
    }

    /// Returns the timeout error that is due at `now`, or nil.
    func timeout(at now: Int64) -> TransportError? {
        // Until the connection is made, libcurl's own timeout applies.
        if lastActivity == nil, mayHaveReachedServer { lastActivity = now }
        if isTooSlow(at: now) { return error(.tooSlow, reason: "the response is too slow") }
        guard now >= deadline else { return nil }
        if let total = timeouts.total, now >= started + total.wholeMilliseconds {
            return error(.timedOut, reason: "the request took too long")
        }
        return error(
            .timedOut, reason: status > 0 ? "the response stalled" : "no response in time")
    }

    /// Returns whether the response brought too few bytes in the span that ends now, and begins the
    /// next span. One without any bytes is left to the idle time-out.
    private func isTooSlow(at now: Int64) -> Bool {
        guard timeouts.total != nil, let begin = spanStart,
            now >= begin + timeouts.slowest.span.wholeMilliseconds
        else { return false }
        defer { (spanStart, spanByteCount) = (now, 0) }
        return (1..<max(timeouts.slowest.byteCount, 1)).contains(spanByteCount)
    }

    /// Returns the result of a transfer that ended with `code`.
    func result(_ code: CURLcode) -> Result<HTTPResponse, TransportError> {
        // libcurl treats a connection that ends within the header fields as a complete response.
        if code == CURLE_OK, status > 0, isHeadComplete { return .success(response) }
        let words = library.words(for: code)
        if let failure { return .failure(error(failure, reason: words)) }
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            .failure(error(.cannotResolve, reason: words))
        case CURLE_COULDNT_CONNECT: .failure(error(.cannotConnect, reason: words))
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_USE_SSL_FAILED:
            .failure(error(.tls, reason: words))
        case CURLE_OPERATION_TIMEDOUT: .failure(error(.timedOut, reason: words))
        case CURLE_ABORTED_BY_CALLBACK: .failure(error(.cancelled, reason: words))
        case CURLE_OK, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
            CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_WEIRD_SERVER_REPLY,
            CURLE_UNSUPPORTED_PROTOCOL:
            .failure(error(.cut, reason: words))
        default: .failure(error(.failed, reason: words))
        }
    }

    func error(_ code: TransportError.Code, reason: String) -> TransportError {
        TransportError(
            code, mayHaveReachedServer: mayHaveReachedServer,
            reason: "\(request.origin): \(reason)")
    }

    /// Whether libcurl got as far as sending, so that some of the request may have arrived.
    private var mayHaveReachedServer: Bool {
        if bodyWasRead || status > 0 { return true }
        return unsafe zg_curl_size_info(library.table, easy, CURLINFO_PRETRANSFER_TIME_T) > 0
    }
}
