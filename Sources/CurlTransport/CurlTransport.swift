internal import CCurl
internal import Glibc
package import HTTPClient
internal import Synchronization

/// Sends requests with libcurl: several at a time, over HTTP/2 where the server supports it,
/// reusing connections.
///
/// Tokens and bodies reach libcurl in guarded memory. libcurl copies them into its own buffers and
/// wipes those when it frees them. Redirects are not followed.
///
/// Only one thread at a time may use a transport, because libcurl's connection cache is not
/// thread-safe; a second one traps.
@safe
package final class CurlTransport: HTTPTransport {
    private let configuration: CurlConfiguration
    private let library: CurlLibrary
    private let multi: UnsafeMutableRawPointer
    private var idle: [UnsafeMutableRawPointer] = unsafe []
    /// The thread whose requests are in progress; 0 for none.
    private let user = Atomic<pthread_t>(0)

    /// The longest single wait for the network, in milliseconds, which bounds the delay of a
    /// cancellation.
    private static let longestPoll: Int64 = 100

    /// Loads libcurl if necessary.
    ///
    /// - Throws: ``TransportError/Code/libraryMissing`` if libcurl cannot be loaded.
    package init(_ configuration: CurlConfiguration = CurlConfiguration()) throws(TransportError) {
        library = try CurlLibrary.shared()
        guard let multi = unsafe library.table.pointee.multi_init() else {
            throw TransportError(.failed, mayHaveReachedServer: false, reason: "out of memory")
        }
        unsafe self.multi = unsafe multi
        self.configuration = configuration
        _ = unsafe zg_curl_set_multi_long(library.table, multi, CURLMOPT_MAXCONNECTS, 64)
    }

    deinit {
        library.withoutPipeSignal {
            while let easy = unsafe idle.popLast() {
                unsafe library.table.pointee.easy_cleanup(easy)
            }
            _ = unsafe library.table.pointee.multi_cleanup(multi)
        }
    }

    /// Sends `requests` in order, at most `concurrency` at a time.
    package func send(
        _ requests: [HTTPRequest], concurrency: Int,
        onResponse: (Int, Result<HTTPResponse, TransportError>) -> Bool
    ) {
        run(
            requests, concurrency: concurrency, isStreaming: false, onBytes: { _ in true },
            onFinished: onResponse)
    }

    /// Sends `request` and passes the body on in pieces as it arrives.
    package func stream(
        _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
    ) throws(TransportError) -> HTTPResponse {
        var answer: Result<HTTPResponse, TransportError> = .failure(
            TransportError(.failed, mayHaveReachedServer: true, reason: "no response"))
        run([request], concurrency: 1, isStreaming: true, onBytes: onBytes) { _, result in
            answer = result
            return true
        }
        return try answer.get()
    }

    /// Runs all transfers to completion.
    private func run(
        _ requests: [HTTPRequest], concurrency: Int, isStreaming: Bool,
        onBytes: (RawSpan) -> Bool,
        onFinished: (Int, Result<HTTPResponse, TransportError>) -> Bool
    ) {
        let (isFirst, other) = user.compareExchange(
            expected: 0, desired: pthread_self(), ordering: .acquiringAndReleasing)
        precondition(isFirst || other == pthread_self(), "two threads are using the transport")
        defer { if isFirst { user.store(0, ordering: .releasing) } }
        var underWay: [CurlTransfer] = []
        var next = 0
        var mayBegin = true

        func finish(_ transfer: CurlTransfer, _ result: Result<HTTPResponse, TransportError>) {
            underWay.removeAll { $0 === transfer }
            release(transfer)
            if !onFinished(transfer.place, result) { mayBegin = false }
        }

        while true {
            while mayBegin, next < requests.count, underWay.count < max(concurrency, 1) {
                let place = next
                next += 1
                do throws(TransportError) {
                    let transfer = try begin(
                        requests[place], place: place, isStreaming: isStreaming)
                    underWay.append(transfer)
                } catch {
                    if !onFinished(place, .failure(error)) { mayBegin = false }
                }
            }
            guard !underWay.isEmpty else { return }
            var running: Int32 = 0
            let status = library.withoutPipeSignal {
                unsafe library.table.pointee.multi_perform(multi, &running)
            }
            guard status == CURLM_OK else {
                for transfer in underWay {
                    finish(transfer, .failure(transfer.error(.failed, reason: "libcurl failed")))
                }
                return
            }
            if isStreaming {
                for transfer in underWay where !transfer.deliver(to: onBytes) {
                    finish(transfer, .success(transfer.response))
                }
            }
            var code = CURLE_OK
            while let easy = unsafe zg_curl_next_finished(library.table, multi, &code) {
                guard let transfer = underWay.first(where: { unsafe $0.easy == easy }) else {
                    continue
                }
                finish(transfer, transfer.result(code))
            }
            let now = zg_curl_now()
            for transfer in underWay {
                if let error = transfer.timeout(at: now) { finish(transfer, .failure(error)) }
            }
            if configuration.shouldCancel() {
                mayBegin = false
                for transfer in underWay {
                    finish(transfer, .failure(transfer.error(.cancelled, reason: "canceled")))
                }
            }
            guard !underWay.isEmpty else { continue }
            let deadline = underWay.map { $0.deadline }.min() ?? now
            let pause = min(max(deadline - now, 1), Self.longestPoll)
            _ = unsafe library.table.pointee.multi_poll(multi, nil, 0, Int32(pause), nil)
        }
    }

    private func begin(
        _ request: HTTPRequest, place: Int, isStreaming: Bool
    ) throws(TransportError) -> CurlTransfer {
        guard !configuration.shouldCancel() else {
            throw TransportError(.cancelled, mayHaveReachedServer: false, reason: "canceled")
        }
        guard let easy = unsafe idle.popLast() ?? library.table.pointee.easy_init() else {
            throw TransportError(.failed, mayHaveReachedServer: false, reason: "out of memory")
        }
        let transfer: CurlTransfer
        do throws(TransportError) {
            transfer = unsafe try CurlTransfer(
                request, place: place, easy: easy, library: library, isStreaming: isStreaming,
                configuration: configuration)
        } catch {
            unsafe library.table.pointee.easy_cleanup(easy)
            throw error
        }
        guard unsafe library.table.pointee.multi_add_handle(multi, easy) == CURLM_OK else {
            unsafe library.table.pointee.easy_cleanup(easy)
            throw TransportError(.failed, mayHaveReachedServer: false, reason: "libcurl failed")
        }
        return transfer
    }

    /// Removes `transfer` from libcurl and keeps its handle for reuse.
    private func release(_ transfer: CurlTransfer) {
        library.withoutPipeSignal {
            _ = unsafe library.table.pointee.multi_remove_handle(multi, transfer.easy)
        }
        unsafe library.table.pointee.easy_reset(transfer.easy)
        unsafe idle.append(transfer.easy)
    }
}
