import HTTPClient
import Testing
import Threads
import VercelAPI

@testable import ZGEnvCommands

/// Requests of several threads under one lock.
@Suite struct LockReleasingTransportTests {
    private static let threads = 4

    /// Answers when every thread has sent its request, so that a held lock would end in a timeout.
    private final class MeetingTransport: HTTPTransport {
        private static let end = TransportError(
            .cut, mayHaveReachedServer: false, reason: "The test ends it.")

        private let arrived = Monitor(0)
        private(set) var haveAllMet = true
        private let threads: Int

        init(threads: Int) { self.threads = threads }

        private func meet() {
            arrived.change { $0 += 1 }
            let haveMet = arrived.wait(milliseconds: 10_000) { $0 >= threads ? true : nil }
            if haveMet == nil { haveAllMet = false }
        }

        func send(
            _ requests: [HTTPRequest], concurrency: Int,
            onResponse: (Int, Result<HTTPResponse, TransportError>) -> Bool
        ) {
            meet()
            for number in requests.indices {
                guard onResponse(number, .failure(Self.end)) else { return }
            }
        }

        func stream(
            _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
        ) throws(TransportError) -> HTTPResponse {
            meet()
            let piece: [UInt8] = [1]
            for _ in 0..<100 { guard unsafe onBytes(piece.span.bytes) else { break } }
            throw Self.end
        }
    }

    /// What the receivers share without a lock of its own.
    private final class Shared {
        var count = 0
        var isInside = false
        var hasOverlapped = false

        func enter() {
            hasOverlapped = hasOverlapped || isInside
            isInside = true
            WorkThread.pause(milliseconds: 1)
            count += 1
            isInside = false
        }
    }

    @Test(arguments: [false, true])
    func `requests overlap, and the receivers of their responses do not`(isStream: Bool) throws {
        let lock = GlobalLock()
        let network = MeetingTransport(threads: Self.threads)
        let transport = LockReleasingTransport(network, lock)
        let shared = Shared()
        let request = HTTPRequest(origin: .vercel, target: "/")
        lock.run(Self.threads, limit: Self.threads) { _ in
            if isStream {
                _ = try? transport.stream(request) { _ in
                    shared.enter()
                    return true
                }
            } else {
                let requests = [HTTPRequest](repeating: request, count: 100)
                transport.send(requests, concurrency: 1) { _, _ in
                    shared.enter()
                    return true
                }
            }
            return true
        }
        #expect(network.haveAllMet)
        #expect(!shared.hasOverlapped)
        #expect(shared.count == 100 * Self.threads)
    }
}
