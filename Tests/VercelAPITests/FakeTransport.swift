import Foundation
import HTTPClient
import Sealing
import Testing
import VercelAPI

/// Time that passes only while something waits.
final class FakeSleeper: Sleeper {
    var elapsed: Duration = .seconds(1000)
    var waits: [Duration] = []
    var isInterrupted = false
    static let startSecond: Int64 = 1_800_000_000

    var secondsSince1970: Int64 {
        Self.startSecond + (elapsed - .seconds(1000)).components.seconds
    }

    func wait(_ duration: Duration) -> Bool {
        guard !isInterrupted else { return false }
        waits.append(duration)
        elapsed += duration
        return true
    }
}

/// A transport whose responses a test computes; records what was sent.
final class FakeTransport: HTTPTransport, CustomReflectable {
    struct Sent: Equatable {
        let method: String
        let target: String
        let body: String?
        let token: String?
        let isRepeatable: Bool
    }

    var sent: [Sent] = []
    /// The time limits of each request.
    var timeouts: [HTTPTimeouts?] = []
    var largestBatch = 0
    /// What it records is not a leak of the client's.
    var customMirror: Mirror { Mirror(self, children: []) }
    private let answer: (Sent, Int) throws -> Result<HTTPResponse, TransportError>

    init(_ answer: @escaping (Sent, Int) throws -> Result<HTTPResponse, TransportError>) {
        self.answer = answer
    }

    /// Returns these responses in order, and then the last one again.
    convenience init(answers: [Result<HTTPResponse, TransportError>]) {
        self.init { _, number in answers[min(number, answers.count - 1)] }
    }

    func send(
        _ requests: [HTTPRequest], concurrency: Int,
        onResponse: (Int, Result<HTTPResponse, TransportError>) -> Bool
    ) {
        largestBatch = max(largestBatch, requests.count)
        // Requests under way are answered even if no further one starts.
        var shouldContinue = true
        for (place, request) in requests.enumerated()
        where shouldContinue || place % concurrency != 0 {
            if !onResponse(place, reply(to: request)) { shouldContinue = false }
        }
    }

    func stream(
        _ request: HTTPRequest, onBytes: (RawSpan) -> Bool
    ) throws(TransportError) -> HTTPResponse {
        let response = try reply(to: request).get()
        guard (200..<300).contains(response.status) else { return response }
        response.body.withBytes { bytes in
            // In odd pieces, so that lines are cut anywhere.
            var start = 0
            while start < bytes.byteCount {
                let end = min(start + 7, bytes.byteCount)
                guard onBytes(bytes.extracting(start..<end)) else { return }
                start = end
            }
        }
        if response.headers[name: "X-Then-Cut"] != nil {
            throw TransportError(.cut, mayHaveReachedServer: true, reason: "cut")
        }
        return response
    }

    private func reply(to request: HTTPRequest) -> Result<HTTPResponse, TransportError> {
        let sent = Sent(
            method: request.method.rawValue, target: request.target,
            body: request.body?.exposedText, token: request.token?.exposedText,
            isRepeatable: request.isRepeatable)
        self.sent.append(sent)
        timeouts.append(request.timeouts)
        do {
            return try answer(sent, self.sent.count - 1)
        } catch {
            Issue.record(error)
            return .failure(TransportError(.failed, mayHaveReachedServer: false, reason: "test"))
        }
    }
}

extension Result<HTTPResponse, TransportError> {
    static func answer(
        _ status: Int = 200, _ body: String = "{}", headers: [(String, String)] = []
    ) -> Self {
        do {
            return .success(
                HTTPResponse(
                    status: status, headers: HTTPHeaders(headers), body: try .holding(body)))
        } catch {
            return .failure(TransportError(.failed, mayHaveReachedServer: false, reason: "test"))
        }
    }

    static func answer(_ status: Int = 200, bytes: [UInt8]) throws -> Self {
        .success(
            HTTPResponse(
                status: status, headers: HTTPHeaders(), body: try .holding(bytes: bytes)))
    }

    static func broken(_ code: TransportError.Code, reached: Bool = true) -> Self {
        .failure(TransportError(code, mayHaveReachedServer: reached, reason: "broken"))
    }
}

/// A client on fakes.
struct FakeAPI {
    /// The clock of an API, advanced by its transport's responses.
    final class Clock {
        var room: FakeSleeper?
    }

    let transport: FakeTransport
    let room = FakeSleeper()
    let client: VercelClient
    let arena = SecretArena()
    static let token = "token-0123456789abcdef"

    init(
        _ answers: Result<HTTPResponse, TransportError>..., scope: APIScope = .personal
    ) throws {
        try self.init(FakeTransport(answers: answers), scope: scope)
    }

    /// - Parameter known: Those of a vault that is open, and empty.
    init(
        _ transport: FakeTransport, scope: APIScope = .personal,
        known: KnownSecrets = KnownSecrets { [] }
    ) throws {
        self.transport = transport
        client = try VercelClient(
            transport: transport, origin: .vercel, token: arena.secret(Self.token), scope: scope,
            waitingRoom: room, known: known, random: { 0 })
    }

    /// The error of `body`; records an issue if it succeeds.
    func error(_ body: () throws -> Void) -> VercelAPIError? {
        do {
            try body()
        } catch let error as VercelAPIError {
            return error
        } catch {
            Issue.record(error)
        }
        return nil
    }
}
