import Foundation
import HTTPClient
import Sealing
import Testing
import VercelAPI

@Suite struct `Sending and repeating` {
    private let user = #"{"user":{"id":"u1","username":"ann"}}"#
    private let created =
        #"{"created":{"id":"e1","key":"K","type":"encrypted","target":["production"]},"failed":[]}"#

    private func create(
        _ api: FakeAPI, value: String = "value-0123456789", isUpsert: Bool = false
    ) throws -> EnvironmentVariable {
        try api.client.create(
            NewEnvironmentVariable(
                key: "K", value: api.arena.secret(value), targets: [.production]),
            inProject: "web", isUpsert: isUpsert)
    }

    @Test(arguments: [500, 502, 503, 504, 520, 408])
    func `a read that fails on the server is retried`(status: Int) throws {
        let api = try FakeAPI(.answer(status, ""), .answer(status, "<html>"), .answer(200, user))
        #expect(try api.client.user().username == "ann")
        #expect(api.transport.sent.count == 3)
        #expect(api.room.waits == [.milliseconds(250), .milliseconds(500)])
    }

    @Test(arguments: [
        TransportError.Code.cannotResolve, .cannotConnect, .timedOut, .cut, .failed,
    ])
    func `a read that fails in transit is retried`(code: TransportError.Code) throws {
        let api = try FakeAPI(.broken(code), .answer(200, user))
        #expect(try api.client.user().id == "u1")
        #expect(api.transport.sent.count == 2)
    }

    @Test(arguments: [
        (TransportError.Code.tls, VercelAPIError.Code.unavailable), (.cancelled, .cancelled),
        (.tooLarge, .tooLarge), (.libraryMissing, .libraryMissing),
    ])
    func `an error that a retry cannot fix is final`(
        code: TransportError.Code, expected: VercelAPIError.Code
    ) throws {
        let api = try FakeAPI(.broken(code))
        #expect(api.error { _ = try api.client.user() }?.code == expected)
        #expect(api.transport.sent.count == 1)
    }

    @Test(arguments: ["", "{", "<html></html>", #"{"user":{"id":"u1"}"#, "{} x"])
    func `a response that is cut or not JSON is unavailable after retries`(body: String) throws {
        let api = try FakeAPI(.answer(200, body))
        let error = api.error { _ = try api.client.user() }
        #expect(error?.code == .unavailable)
        #expect(api.transport.sent.count == 5)
        #expect(api.room.waits.reduce(.zero, +) < .seconds(10))
    }

    @Test func `JSON of another form is not retried`() throws {
        let api = try FakeAPI(.answer(200, "[]"))
        #expect(api.error { _ = try api.client.user() }?.code == .malformedAnswer)
        #expect(api.transport.sent.count == 1)
    }

    @Test(arguments: [
        FakeCase.broken(.cut, reached: true), .broken(.timedOut, reached: true), .answer(500, ""),
        .answer(502, "<html>"), .answer(503, ""), .answer(201, ""), .answer(201, "{\"created\":"),
        .answer(200, "<html>"), .answer(201, "{}"), .answer(201, "[]"),
        .broken(.cancelled, reached: true),
    ])
    func `a creation of unknown outcome is not retried, and reported as such`(answer: FakeCase)
        throws
    {
        let api = try FakeAPI(answer.result)
        let error = api.error { _ = try create(api) }
        #expect(error?.code == .outcomeUnknown)
        #expect(error?.hint != nil)
        #expect(api.transport.sent.count == 1)
        #expect(api.transport.sent.first?.isRepeatable == false)
    }

    @Test func `a creation that the response does not mention is not reported as done`() throws {
        let api = try FakeAPI(.answer(201, #"{"created":[],"failed":[]}"#))
        let new = NewEnvironmentVariable(
            key: "K", value: try api.arena.secret("value"), targets: [.production])
        let batch = try api.client.createEnvironmentVariables([new], inProject: "web")
        #expect(batch.created.isEmpty && batch.failed.isEmpty)
        #expect(api.transport.sent.count == 1)
    }

    @Test(arguments: [
        FakeCase.broken(.cannotConnect, reached: false), .broken(.cut, reached: false),
        .answer(429, ""), .retryAfter(503, "1"),
        .answer(
            400,
            #"{"error":{"code":"bad_request","message":"an ongoing update env update is already happening"}}"#
        ),
    ])
    func `a creation that cannot have happened is retried`(answer: FakeCase) throws {
        let api = try FakeAPI(answer.result, .answer(201, created))
        #expect(try create(api).id == "e1")
        #expect(api.transport.sent.count == 2)
    }

    @Test(
        "SYNC-A8: a running update of the project is waited for, whatever its wording",
        arguments: [
            "another env update of this project is ongoing", "An update is ongoing. Try later.",
            "There is an ONGOING Update",
        ])
    func ongoing(message: String) throws {
        let api = try FakeAPI(
            .answer(400, #"{"error":{"code":"bad_request","message":"\#(message)"}}"#),
            .answer(201, created))
        #expect(try create(api).id == "e1")
        #expect(api.transport.sent.count == 2)
        let other = try FakeAPI(
            .answer(400, #"{"error":{"message":"this update is refused"}}"#), .answer(201, created))
        #expect(throws: VercelAPIError.self) { try create(other) }
        #expect(other.transport.sent.count == 1)
    }

    @Test func `a value equal to one of Vercel's own words does not affect that word`() throws {
        let busy = #"{"error":{"message":"an ongoing update env update is already happening"}}"#
        for value in ["a", "update", "ongoing update"] {
            let api = try FakeAPI(.answer(400, busy), .answer(201, created))
            #expect(try create(api, value: value).id == "e1")
        }
    }

    @Test func `an upsert is safe to retry`() throws {
        let api = try FakeAPI(.broken(.cut), .answer(500, ""), .answer(201, created))
        #expect(try create(api, isUpsert: true).id == "e1")
        #expect(api.transport.sent.count == 3)
        #expect(api.transport.sent.allSatisfy { $0.isRepeatable })
        #expect(api.transport.sent.first?.target == "/v10/projects/web/env?upsert=true")
    }

    @Test func `a deletion of a missing variable is an error at first and a success when retried`()
        throws
    {
        let gone = #"{"error":{"code":"not_found","message":"gone"}}"#
        let first = try FakeAPI(.answer(404, gone))
        #expect(
            first.error {
                _ = try first.client.deleteEnvironmentVariable("e1", ofProject: "web")
            }?.code == .notFound)
        let second = try FakeAPI(.broken(.cut), .answer(404, gone))
        #expect(
            try second.client.deleteEnvironmentVariable("e1", ofProject: "web") == .alreadyGone)
        let third = try FakeAPI(.broken(.cannotConnect, reached: false), .answer(404, gone))
        #expect(
            third.error {
                _ = try third.client.deleteEnvironmentVariable("e1", ofProject: "web")
            }?.code == .notFound)
        let fourth = try FakeAPI(.answer(500, ""), .answer(204, ""))
        #expect(try fourth.client.deleteDeployment("dpl_1") == .deleted)
    }

    @Test(
        arguments: [
            (["Retry-After": "7"], "", 7), (["Retry-After": "0"], "", 0),
            (
                [
                    "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT",
                    "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
                ], "", 60
            ),
            (
                ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
                #"{"error":{"code":"rate_limited","limit":{"remaining":0,"reset":784111782}}}"#, 5
            ),
            (
                [:],
                #"{"error":{"limit":{"reset":1,"resetMs":1800000009000}}}"#, 9
            ),
        ] as [([String: String], String, Int)])
    func `429 is retried after Vercel's stated time`(
        headers: [String: String], body: String, seconds: Int
    ) throws {
        let api = try FakeAPI(
            .answer(429, body, headers: headers.map { ($0, $1) }), .answer(200, user))
        #expect(try api.client.user().id == "u1")
        #expect(api.room.waits.reduce(.zero, +) == .seconds(seconds))
    }

    @Test func `429 with too long a wait is reported with its time`() throws {
        let api = try FakeAPI(.answer(429, "", headers: [("Retry-After", "900")]))
        let error = api.error { _ = try api.client.user() }
        #expect(error?.code == .rateLimited)
        #expect(error?.retryAfter == .seconds(900))
        #expect(api.room.waits.isEmpty)
        let always = try FakeAPI(.answer(429, "", headers: [("Retry-After", "50")]))
        #expect(always.error { _ = try always.client.user() }?.code == .rateLimited)
        #expect(always.room.waits.reduce(.zero, +) <= .seconds(120))
    }

    @Test func `an interrupt while waiting ends everything`() throws {
        let api = try FakeAPI(.answer(500, ""))
        api.room.isInterrupted = true
        let results = try api.client.environmentVariables(ofProjects: ["a", "b", "c"])
        let codes = results.map { result -> VercelAPIError.Code? in
            if case .failure(let error) = result { return error.code }
            return nil
        }
        #expect(codes == [.cancelled, .cancelled, .cancelled])
    }

    @Test func `one failure among many does not stop the others`() throws {
        let transport = FakeTransport { sent, _ in
            sent.target.contains("/b/")
                ? .answer(404, #"{"error":{"code":"not_found"}}"#) : .answer(200, #"{"envs":[]}"#)
        }
        let api = try FakeAPI(transport)
        let results = try api.client.environmentVariables(ofProjects: ["a", "b", "c"])
        #expect(results.map { (try? $0.get())?.variables.count } == [0, nil, 0])
    }

    @Test func `once one of many is rate-limited, the rest wait`() throws {
        let room = FakeSleeper()
        var openAt: Duration = .seconds(1010)
        openAt = .seconds(1010)
        let transport = FakeTransport { _, _ in
            room.elapsed < openAt
                ? .answer(429, "", headers: [("Retry-After", "10")]) : .answer(200, #"{"envs":[]}"#)
        }
        let arena = SecretArena()
        let client = try VercelClient(
            transport: transport, origin: .vercel, token: arena.secret("t"), waitingRoom: room,
            concurrency: 4, random: { 0 })
        let results = try client.environmentVariables(ofProjects: (0..<40).map { "p\($0)" })
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect(transport.sent.count <= 44)
    }
}

/// A response as a test argument.
enum FakeCase: Sendable, CustomTestStringConvertible {
    case broken(TransportError.Code, reached: Bool)
    case answer(Int, String)
    case retryAfter(Int, String)

    var result: Result<HTTPResponse, TransportError> {
        switch self {
        case .broken(let code, let reached): .broken(code, reached: reached)
        case .answer(let status, let body): .answer(status, body)
        case .retryAfter(let status, let time):
            .answer(status, "", headers: [("Retry-After", time)])
        }
    }

    var testDescription: String { "\(self)" }
}
