import CurlTransport
import Foundation
import HTTPClient
import Sealing
import TestSupport
import Testing

@testable import VercelAPI

@Suite struct `The client over libcurl` {
    private func client(_ server: LocalServer, _ token: SecretSlice) throws -> VercelClient {
        try VercelClient(
            transport: CurlTransport(), origin: APIOrigin(server.origin), token: token,
            waitingRoom: SystemSleeper(),
            policy: RetryPolicy(maximumAttempts: 3, firstPause: .milliseconds(5)))
    }

    @Test func `a thousand variables of a hundred projects`() throws {
        let server = try LocalServer { request in
            let path = request.target.split(separator: "/").map(String.init)
            if request.target.hasPrefix("/v3/env/pull") {
                let project = path[3]
                let members = (0..<10).map { "\"K\($0)\":\"\(project)-\($0)\"" }
                return [
                    .answer(200, "{\"env\":{\(members.joined(separator: ","))},\"buildEnv\":{}}")
                ]
            }
            let records = (0..<10).map {
                "{\"id\":\"\(path[2])-\($0)\",\"key\":\"K\($0)\",\"type\":\"encrypted\",\"target\":[\"production\"],\"value\":\"eyJ\"}"
            }
            return [.answer(200, "{\"envs\":[\(records.joined(separator: ","))]}")]
        }
        defer { server.stop() }
        let arena = SecretArena()
        let client = try client(server, arena.secret("tok"))
        let projects = (0..<100).map { "p\($0)" }
        let lists = try client.environmentVariables(ofProjects: projects)
        #expect(try lists.reduce(0) { try $0 + $1.get().variables.count } == 1000)
        let pulled = try client.pulledEnvironments(
            projects.map { ($0, "production", nil) }, valuesInto: arena)
        for (project, result) in zip(projects, pulled) {
            let values = try result.get().environment
            #expect(values.count == 10)
            #expect(values["K3"]?.exposedText == "\(project)-3")
        }
        #expect(server.requests.count == 200)
        #expect(server.mostUnderWay <= client.concurrency)
        #expect(server.connectionCount <= client.concurrency)
    }

    @Test func `a lost response is resolved by the caller, and the request sent by nobody else`()
        throws
    {
        let server = try LocalServer { request in
            switch request.method {
            case "POST": [.close]
            case "PATCH": request.number % 2 == 1 ? [.close] : [.answer()]
            default: [.answer(200, #"{"envs":[]}"#)]
            }
        }
        defer { server.stop() }
        let arena = SecretArena()
        let client = try client(server, arena.secret("tok"))
        _ = try client.environmentVariables(ofProject: "p")
        let new = NewEnvironmentVariable(
            key: "K", value: try arena.secret("v"), targets: [.production])
        do throws(VercelAPIError) {
            _ = try client.create(new, inProject: "p")
            Issue.record("no answer came")
        } catch {
            #expect(error.code == .outcomeUnknown)
        }
        #expect(server.requests.filter { $0.method == "POST" }.count == 1)
    }

    @Test func `the token is in the Authorization field only`() throws {
        let token = "tok-abcdefghijklmnop"
        let other = try LocalServer { _ in [.answer()] }
        let elsewhere = other.origin
        let server = try LocalServer { request in
            switch request.number {
            case 0: [.answer(200, #"{"envs":[]}"#)]
            case 1: [.answer(302, "", headers: ["Location: \(elsewhere)/\(token)"])]
            default:
                [.answer(403, "{\"error\":{\"code\":\"\(token)\",\"message\":\"bad \(token)\"}}")]
            }
        }
        defer {
            server.stop()
            other.stop()
        }
        let client = try client(server, SecretArena().secret(token))
        var printed = ""
        for _ in 0..<3 {
            do throws(VercelAPIError) {
                _ = try client.environmentVariables(ofProject: "p")
            } catch {
                printed += "\(error)"
                dump(error, to: &printed)
            }
        }
        dump(client, to: &printed)
        #expect(printed.contains("redirect"))
        #expect(!printed.contains(token))
        #expect(other.connectionCount == 0)
        #expect(server.requests.count == 3)
        for request in server.requests {
            #expect(request.headers["authorization"] == "Bearer \(token)")
            #expect(!request.target.contains(token))
            #expect(request.headers.filter { $0.value.contains(token) }.count == 1)
            #expect(request.body.isEmpty)
        }
    }

    @Test func `a log is followed over a connection that breaks`() throws {
        let server = try LocalServer { request in
            let head = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"
            func chunk(_ id: Int) -> String {
                let line =
                    "{\"type\":\"stdout\",\"created\":\(7_000 + id),\"date\":\(7_000 + id),\"id\":\"e\(id)\",\"text\":\"t\"}\n"
                return String(line.utf8.count, radix: 16) + "\r\n\(line)\r\n"
            }
            return request.number == 0
                ? [.text(head + chunk(1)), .pause(milliseconds: 20), .text(chunk(2)), .close]
                : [.text(head + chunk(2) + chunk(3) + "0\r\n\r\n")]
        }
        defer { server.stop() }
        let client = try client(server, SecretArena().secret("tok"))
        var ids: [String?] = []
        let end = try client.followEvents(ofDeployment: "d") { event in
            ids.append(event.id)
            return true
        }
        #expect(end == .ended)
        #expect(ids == ["e1", "e2", "e3"])
        #expect(server.requests.last?.target.hasSuffix("since=5002") == true)
    }

    @Test func `a log that ends within an event is not complete`() throws {
        let line = #"{"type":"stdout","created":7001,"date":7001,"id":"e1","text":"t"}"# + "\n"
        let second = line.replacing("7001", with: "7002").replacing("e1", with: "e2")
        for isArray in [false, true] {
            let server = try LocalServer { request in
                let head = "HTTP/1.1 200 X\r\nConnection: close\r\nContent-Length: "
                let part = isArray ? "[\(line)," : line + second.prefix(20)
                let body =
                    request.number == 0 ? part : isArray ? "[\(line),\(second)]" : line + second
                return [.text(head + "\(body.utf8.count)\r\n\r\n" + body)]
            }
            defer { server.stop() }
            let client = try client(server, SecretArena().secret("tok"))
            var ids: [String?] = []
            var lost = 0
            let end = try client.followEvents(
                ofDeployment: "d", follows: false, onLoss: { lost += $0 }
            ) { event in
                ids.append(event.id)
                return true
            }
            #expect(end == .ended)
            #expect(ids == ["e1", "e2"] && lost == 0)
        }
    }

    @Test func `an error in place of a log is not an empty log`() throws {
        let server = try LocalServer { _ in
            let body = #"{"error":{"code":"forbidden","message":"nope"}}"#
            return [
                .text(
                    "HTTP/1.1 200 X\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                        + body)
            ]
        }
        defer { server.stop() }
        let client = try client(server, SecretArena().secret("tok"))
        #expect(throws: VercelAPIError.self) {
            _ = try client.followEvents(ofDeployment: "d", follows: false) { _ in true }
        }
    }

    @Test func `a wait is as long as requested, and ends when interrupted`() {
        let clock = ContinuousClock()
        let room = SystemSleeper()
        let time = clock.measure { #expect(room.wait(.milliseconds(120))) }
        #expect(time >= .milliseconds(110) && time < .seconds(20))
        #expect(room.wait(.seconds(-1)))
        #expect(abs(room.secondsSince1970 - Int64(Date().timeIntervalSince1970)) <= 1)
        let begin = clock.now
        let interrupted = SystemSleeper { clock.now - begin > .milliseconds(60) }
        #expect(!interrupted.wait(.seconds(30)))
        #expect(clock.now - begin < .seconds(20))
    }
}
