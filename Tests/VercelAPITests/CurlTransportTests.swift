import CurlTransport
import Foundation
import HTTPClient
import Sealing
import Synchronization
import TestSupport
import Testing
import Threads
import VercelAPI

@Suite struct `Requests through libcurl` {
    @Test func `method, target, headers, token and body arrive as they are`() throws {
        let server = try LocalServer { _ in
            [.answer(201, #"{"a":1}"#, headers: ["X-Answer: yes", "x-twice:  a ", "X-Twice: b"])]
        }
        defer { server.stop() }
        let transport = try CurlTransport()
        let arena = SecretArena()
        for method in [HTTPRequest.Method.post, .patch, .delete] {
            let response = try transport.send(
                server.request(
                    method, target: "/a/..%2Fb/./c?x=%20", token: arena.secret("tok-1"),
                    body: .holding("{\"k\":\"\u{fc}\"}")))
            #expect(response.status == 201)
            #expect(response.body.exposedText == #"{"a":1}"#)
            #expect(response.headers[name: "x-answer"] == "yes")
            #expect(response.headers[name: "X-TWICE"] == "a")
        }
        #expect(server.requests.map(\.method) == ["POST", "PATCH", "DELETE"])
        for request in server.requests {
            #expect(request.target == "/a/..%2Fb/./c?x=%20")
            #expect(request.headers["authorization"] == "Bearer tok-1")
            #expect(request.headers["x-one"] == "1")
            #expect(request.headers["expect"] == nil)
            #expect(String(decoding: request.body, as: UTF8.self) == "{\"k\":\"\u{fc}\"}")
        }
    }

    @Test func `requests without a body send none`() throws {
        let server = try LocalServer { _ in [.answer()] }
        defer { server.stop() }
        let transport = try CurlTransport()
        for method in [HTTPRequest.Method.get, .post, .patch, .delete] {
            _ = try transport.send(server.request(method))
        }
        #expect(server.requests.map(\.method) == ["GET", "POST", "PATCH", "DELETE"])
        #expect(server.requests.allSatisfy { $0.body.isEmpty })
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test func `connections are reused for the next request`() throws {
        let server = try LocalServer { _ in [.answer()] }
        defer { server.stop() }
        let transport = try CurlTransport()
        for _ in 0..<50 { _ = try transport.send(server.request()) }
        #expect(server.requests.count == 50)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [1, 4, 16])
    func `as many requests as allowed run at once`(bound: Int) throws {
        // No request is answered before this many are under way, however busy the machine.
        let wanted = min(bound, 4)
        let arrived = Monitor(0)
        let server = try LocalServer { _ in
            arrived.change { $0 += 1 }
            _ = arrived.wait(milliseconds: 60_000) { $0 >= wanted ? true : nil }
            return [.pause(milliseconds: 20), .answer()]
        }
        defer { server.stop() }
        let transport = try CurlTransport()
        let requests = try (0..<48).map { try server.request(target: "/\($0)") }
        let answers = transport.send(requests, concurrency: bound)
        #expect(answers.count == 48)
        #expect(answers.allSatisfy { (try? $0.get())?.status == 200 })
        #expect(server.mostUnderWay <= bound)
        #expect(server.mostUnderWay >= wanted)
        #expect(server.connectionCount <= bound)
        #expect(Set(server.requests.map(\.target)).count == 48)
    }

    @Test func `responses are returned in the order of the requests`() throws {
        let server = try LocalServer { request in
            let place = Int(request.target.dropFirst()) ?? 0
            return [.pause(milliseconds: (8 - place) * 10), .answer(200, "{\"n\":\(place)}")]
        }
        defer { server.stop() }
        let transport = try CurlTransport()
        let requests = try (0..<8).map { try server.request(target: "/\($0)") }
        let answers = transport.send(requests, concurrency: 8)
        for (place, answer) in answers.enumerated() {
            #expect(try answer.get().body.exposedText == "{\"n\":\(place)}")
        }
    }

    @Test func `no further request starts once the caller has enough`() throws {
        let server = try LocalServer { _ in [.answer(429)] }
        defer { server.stop() }
        let transport = try CurlTransport()
        var places: [Int] = []
        let requests = try (0..<20).map { _ in try server.request() }
        transport.send(requests, concurrency: 2) { place, _ in
            places.append(place)
            return false
        }
        #expect(places.count <= 2)
        #expect(server.requests.count <= 2)
    }

    @Test(arguments: [
        "HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{\"a\":",
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
        "HTTP/1.1 200 X\r\nContent-Le", "", "nonsense\r\n\r\n",
    ])
    func `a cut response is an error that may have reached the server`(text: String) throws {
        let server = try LocalServer { _ in [.text(text), .close] }
        defer { server.stop() }
        let error = try CurlTransport().failure(of: server.request())
        #expect(error?.code == .cut)
        #expect(error?.mayHaveReachedServer == true)
    }

    @Test func `a request that must not be sent twice is not, even on a connection that died`()
        throws
    {
        let server = try LocalServer { request in
            request.method == "POST" ? [.close] : [.answer()]
        }
        defer { server.stop() }
        let transport = try CurlTransport()
        for _ in 0..<5 {
            _ = try transport.send(server.request())
            for body in [try GuardedBytes.holding(#"{"value":"1"}"#), nil] {
                let error = try transport.failure(of: server.request(.post, body: body))
                #expect(error?.code == .cut)
                #expect(error?.mayHaveReachedServer == true)
            }
        }
        #expect(server.requests.filter { $0.method == "POST" }.count == 10)
    }

    @Test func `a request that may be sent twice is resent with its whole body`() throws {
        let server = try LocalServer { request in
            request.method == "PATCH" && request.connection == 0 ? [.close] : [.answer()]
        }
        defer { server.stop() }
        let transport = try CurlTransport()
        _ = try transport.send(server.request())
        let body = try GuardedBytes.holding(#"{"value":"1"}"#)
        _ = try transport.send(server.request(.patch, body: body))
        let patches = server.requests.filter { $0.method == "PATCH" }
        #expect(patches.count == 2)
        #expect(patches.allSatisfy { $0.body == body.exposed })
    }

    @Test func `a refused connection is an error that has not reached the server`() throws {
        let server = try LocalServer { _ in [.answer()] }
        let origin = server.origin
        server.stop()
        usleep(50_000)
        let request = HTTPRequest(origin: try APIOrigin(origin), target: "/")
        let error = try CurlTransport().failure(of: request)
        #expect(error?.code == .cannotConnect)
        #expect(error?.mayHaveReachedServer == false)
    }

    @Test func `a name that does not resolve is an error that has not reached the server`() throws {
        let origin = try APIOrigin("https://nothing-here.invalid")
        var configuration = CurlConfiguration()
        configuration.proxy = ""
        let transport = try CurlTransport(configuration)
        let error = transport.failure(of: HTTPRequest(origin: origin, target: "/"))
        #expect(error?.code == .cannotResolve)
        #expect(error?.mayHaveReachedServer == false)
    }

    @Test func `a server that does not speak TLS is a TLS error`() throws {
        let server = try LocalServer { _ in [.answer()] }
        defer { server.stop() }
        let origin = try APIOrigin("https://127.0.0.1:\(server.port)")
        let timeouts = HTTPTimeouts(connect: .milliseconds(500))
        let error = try CurlTransport().failure(
            of: HTTPRequest(origin: origin, target: "/", timeouts: timeouts))
        #expect(error?.code == .tls || error?.code == .timedOut)
        #expect(error?.mayHaveReachedServer == false)
    }

    @Test func `redirects are not followed, and the token is sent nowhere else`() throws {
        let other = try LocalServer { _ in [.answer()] }
        let elsewhere = other.origin
        let server = try LocalServer { request in
            [.answer(307, "", headers: ["Location: \(elsewhere)/x"])]
        }
        defer {
            server.stop()
            other.stop()
        }
        let token = try SecretArena().secret("token-that-stays")
        let response = try CurlTransport().send(server.request(token: token))
        #expect(response.status == 307)
        #expect(response.headers[name: "Location"] == "\(elsewhere)/x")
        #expect(other.connectionCount == 0)
    }

    @Test func `plain http never uses a proxy`() throws {
        let proxy = try LocalServer { _ in [.answer(200, "\"proxy\"")] }
        let server = try LocalServer { _ in [.answer(200, "\"direct\"")] }
        defer {
            server.stop()
            proxy.stop()
        }
        var configuration = CurlConfiguration()
        configuration.proxy = proxy.origin
        let token = try SecretArena().secret("token-that-stays")
        let response = try CurlTransport(configuration).send(server.request(token: token))
        #expect(response.body.exposedText == "\"direct\"")
        #expect(proxy.connectionCount == 0)
    }

    @Test func `a proxy gets the host name and not the token`() throws {
        let proxy = try LocalServer { _ in [.answer(403, "no")] }
        defer { proxy.stop() }
        var configuration = CurlConfiguration()
        configuration.proxy = proxy.origin
        let token = try SecretArena().secret("token-that-stays")
        let error = try CurlTransport(configuration).failure(
            of: HTTPRequest(origin: .vercel, target: "/v2/user", token: token))
        #expect(error != nil)
        #expect(error?.mayHaveReachedServer == false)
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        #expect(proxy.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test func `large bodies are sent and received whole`() throws {
        let large = String(repeating: "0123456789abcdef", count: 1 << 19)
        let server = try LocalServer { request in
            request.method == "POST" ? [.answer(200, "{}")] : [.answer(200, large)]
        }
        defer { server.stop() }
        let transport = try CurlTransport()
        let response = try transport.send(server.request())
        #expect(response.body.count == 8 << 20)
        #expect(response.body.exposedText == large)
        _ = try transport.send(server.request(.post, body: .holding(large)))
        #expect(server.requests.last?.body.count == 8 << 20)
        #expect(server.requests.last.map { $0.body == Array(large.utf8) } == true)
    }

    @Test(arguments: [true, false])
    func `a response over the limit is refused`(isAnnounced: Bool) throws {
        let server = try LocalServer { _ in
            let length = isAnnounced ? "Content-Length: 5000000" : "Connection: close"
            return [
                .text("HTTP/1.1 200 X\r\n\(length)\r\n\r\n"),
                .text(String(repeating: "x", count: 5_000_000)), .close,
            ]
        }
        defer { server.stop() }
        var configuration = CurlConfiguration()
        configuration.maximumAnswerByteCount = 1 << 20
        let error = try CurlTransport(configuration).failure(of: server.request())
        #expect(error?.code == .tooLarge)
    }

    @Test func `too many header fields are refused`() throws {
        let server = try LocalServer { _ in
            [.answer(200, "{}", headers: (0..<400).map { "X-\($0): \($0)" })]
        }
        defer { server.stop() }
        #expect(try CurlTransport().failure(of: server.request())?.code == .tooLarge)
    }

    @Test func `a stream is handed over piece by piece`() throws {
        let server = try LocalServer { _ in
            [.text("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")]
                + (0..<5).flatMap { number in
                    [.text("3\r\n\(number)a\n\r\n"), .pause(milliseconds: 40)]
                        as [LocalServer.Action]
                } + [.text("0\r\n\r\n")]
        }
        defer { server.stop() }
        var pieces: [String] = []
        let response = try CurlTransport().stream(server.request()) { bytes in
            pieces.append(
                String(
                    decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self))
            return true
        }
        #expect(response.status == 200)
        #expect(response.body.count == 0)
        #expect(pieces.joined() == "0a\n1a\n2a\n3a\n4a\n")
        #expect(pieces.count >= 3)
    }

    @Test func `a stream ends when its reader has enough`() throws {
        let server = try LocalServer { _ in
            [.text("HTTP/1.1 200 X\r\n\r\nfirst"), .pause(milliseconds: 9000), .text("second")]
        }
        defer { server.stop() }
        var count = 0
        let clock = ContinuousClock()
        let time = try clock.measure {
            _ = try CurlTransport().stream(server.request()) { bytes in
                count += bytes.byteCount
                return false
            }
        }
        #expect(count == 5)
        #expect(time < .seconds(8))
    }

    @Test func `the body of a refused stream is in its response`() throws {
        let server = try LocalServer { _ in [.answer(404, #"{"error":{}}"#)] }
        defer { server.stop() }
        let response = try CurlTransport().stream(server.request()) { _ in
            Issue.record("delivered the body of a 404")
            return true
        }
        #expect(response.status == 404)
        #expect(response.body.exposedText == #"{"error":{}}"#)
    }

    @Test func `an interim response is skipped`() throws {
        let server = try LocalServer { _ in
            [
                .text("HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\n"),
                .answer(200, "{}", headers: ["X-Late: 1"]),
            ]
        }
        defer { server.stop() }
        let response = try CurlTransport().send(server.request())
        #expect(response.status == 200)
        #expect(response.headers[name: "X-Early"] == nil)
        #expect(response.headers[name: "X-Late"] == "1")
    }

    @Test func `a token that could end its line is not sent`() throws {
        let server = try LocalServer { _ in [.answer()] }
        defer { server.stop() }
        for token in ["a\r\nX-Evil: 1", "a\u{0}b", "a\nb", "a b"] {
            let secret = try SecretArena().secret(token)
            #expect(try CurlTransport().failure(of: server.request(token: secret)) != nil)
        }
        #expect(server.requests.isEmpty)
    }
}
