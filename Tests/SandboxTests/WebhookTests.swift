import Foundation
import Glibc
import JSON
import Sandbox
import Sealing
import Testing
import Threads
import WebhookSigning

/// Waits in real time.
func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

/// Waits until a condition holds, at most five seconds.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < end else { return false }
        pause(milliseconds: 10)
    }
    return true
}

/// A server that records what is posted to it.
final class Receiver: Sendable {
    struct Message: Sendable {
        let signature: String
        let body: [UInt8]

        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
        var type: String { json["type"]?.string ?? "" }
    }

    private let socket: Int32
    let port: UInt16
    private let received = Monitor<[Message]>([])
    private let refusals: Monitor<Int>

    /// - Parameter refusals: The number of messages answered with 500 first.
    init(refusals: Int = 0) throws {
        self.refusals = Monitor(refusals)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let file = socket
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                let bound = unsafe bind(file, generic, size) == 0 && listen(file, 16) == 0
                let named = unsafe getsockname(file, generic, &size) == 0
                return bound && named
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(result)
        Thread { [self] in accept() }.start()
    }

    var url: String { "http://127.0.0.1:\(port)/hook?x=1" }
    var messages: [Message] { received.look { $0 } }

    /// Ends the thread.
    func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

    private func accept() {
        while true {
            let connection = Glibc.accept(socket, nil, nil)
            guard connection >= 0 else { break }
            serve(connection)
            close(connection)
        }
        close(socket)
    }

    private func serve(_ connection: Int32) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound].split(separator: "\r\n")
                let header = { (name: String) in
                    head.first { $0.lowercased().hasPrefix(name + ":") }
                        .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
                }
                let start = text[..<end.upperBound].utf8.count
                let count = header("content-length").flatMap { Int($0) } ?? 0
                if bytes.count >= start + count {
                    let message = Message(
                        signature: header("x-vercel-signature") ?? "", body: Array(bytes[start...]))
                    let isRefused = refusals.look { left in
                        defer { left = max(0, left - 1) }
                        return left > 0
                    }
                    received.look { $0.append(message) }
                    let answer = Array("HTTP/1.1 \(isRefused ? 500 : 204) x\r\n\r\n".utf8)
                    _ = unsafe answer.withUnsafeBytes { bytes in
                        unsafe send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                    }
                    return
                }
            }
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe recv(connection, room.baseAddress, room.count, 0)
            }
            guard count > 0 else { return }
            bytes.append(contentsOf: buffer[..<count])
        }
    }
}

@Suite struct `Webhooks` {
    @Test func `are created, shown and removed`() throws {
        let sandbox = try SandboxFixture()
        let client = sandbox.client
        let made = try client.send(
            "POST", "/v1/webhooks",
            [
                "url": "https://example.com/x",
                "events": ["deployment.created", "deployment.rollback"],
            ])
        #expect(made.status == 200)
        #expect(made.json["secret"]?.string?.isEmpty == false)
        let id = try #require(made.json["id"]?.string)
        let shown = try client.get("/v1/webhooks/\(id)").json
        #expect(shown["secret"] == nil)
        #expect(try client.get("/v1/webhooks").json == [shown])
        #expect(try client.get("/v1/webhooks?slug=acme").json == [])
        #expect(try client.send("DELETE", "/v1/webhooks/\(id)").status == 204)
        #expect(try client.get("/v1/webhooks/\(id)").status == 404)
    }

    @Test(
        arguments: [
            (["url": "ftp://x", "events": ["deployment"]], "invalid_url"),
            (["url": "http://x", "events": ["nothing"]], "invalid_event"),
            (["url": "http://x", "events": []], "bad_request"),
            (["url": "http://x"], "bad_request"),
            (["events": ["deployment"]], "bad_request"),
            (["url": "http://x", "events": ["deployment"], "projectIds": []], "bad_request"),
            (["url": "http://x", "events": ["deployment"], "projectIds": ["x"]], "not_found"),
        ] as [(JSONValue, String)])
    func `that are impossible are refused`(body: JSONValue, code: String) throws {
        let sandbox = try SandboxFixture()
        #expect(try sandbox.client.send("POST", "/v1/webhooks", body).code == code)
    }

    @Test func `receive signed messages on deployments and variables`() throws {
        let receiver = try Receiver()
        defer { receiver.stop() }
        let sandbox = try SandboxFixture { configuration in
            configuration.buildSeconds = 1
            configuration.webhook = .init(url: receiver.url, secret: "hook secret")
        }
        try sandbox.create("TOLD", "marker-value")
        let id = try sandbox.redeploy()
        // No more requests: the rest must happen by time alone.
        sandbox.server.advanceClock(bySeconds: 1)
        #expect(eventually { receiver.messages.count >= 4 })
        #expect(
            receiver.messages.map(\.type) == [
                "project.env-variable.created", "deployment.created", "deployment.ready",
                "deployment.succeeded",
            ])
        for message in receiver.messages {
            let isValid = message.body.withBytes { body in
                Array("hook secret".utf8).withBytes {
                    WebhookSignature.isValid(message.signature, of: body, secret: $0)
                }
            }
            #expect(isValid)
            #expect(!String(decoding: message.body, as: UTF8.self).contains("marker-value"))
            #expect(message.json["createdAt"]?.integer != nil)
        }
        let last = try #require(receiver.messages.last?.json["payload"])
        #expect(last["deployment"]?["id"]?.string == id)
        #expect(last["target"] == "production")
        #expect(last["alias"]?.array?.contains("web.vercel.app") == true)
        #expect(try sandbox.client.get("/v1/webhooks").json == [])
    }

    @Test func `get a message again until they accept it, and on demand`() throws {
        let receiver = try Receiver(refusals: 2)
        defer { receiver.stop() }
        let sandbox = try SandboxFixture { configuration in
            configuration.webhook = .init(url: receiver.url, secret: "s")
            configuration.clock = .real
        }
        try sandbox.create("A")
        #expect(eventually { receiver.messages.count == 3 })
        #expect(Set(receiver.messages.map { $0.json["id"]?.string }).count == 1)
        let isDone = try eventually {
            let state = try sandbox.client.get("/_sandbox/webhooks").json["messages"]?[0]
            return state?["attempts"] == 3 && state?["isDone"] == true && state?["status"] == 204
        }
        #expect(isDone)
        let id = receiver.messages[0].json["id"] ?? .null
        let again = try sandbox.client.send("POST", "/_sandbox/webhooks/redeliver", ["id": id])
        #expect(again.status == 200)
        #expect(eventually { receiver.messages.count == 4 })
        #expect(receiver.messages[3].body == receiver.messages[0].body)
        let unknown = try sandbox.client.send(
            "POST", "/_sandbox/webhooks/redeliver", ["id": "x"])
        #expect(unknown.status == 404)
    }

    @Test func `receive only the events they asked for`() throws {
        let receiver = try Receiver()
        defer { receiver.stop() }
        let sandbox = try SandboxFixture { $0.buildSeconds = 1 }
        let made = try sandbox.client.send(
            "POST", "/v1/webhooks",
            [
                "url": .string(receiver.url), "events": ["deployment.error"],
                "projectIds": [try sandbox.client.get("/v9/projects/web").json["id"] ?? .null],
            ])
        #expect(made.status == 200)
        sandbox.server.setBuild(.fail)
        _ = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 1)
        #expect(eventually { !receiver.messages.isEmpty })
        #expect(receiver.messages.map(\.type) == ["deployment.error"])
    }
}
