import Foundation
import HTTPClient
import Sealing
import Testing

@testable import VercelAPI

@Suite struct `Logs of builds` {
    private let flat =
        #"{"type":"stdout","created":1,"date":2,"id":"a","serial":"1","text":"hello","info":{"type":"build","name":"bld_1","step":"install"}}"#
    private let nested =
        #"{"type":"stderr","created":3,"payload":{"id":"b","date":4,"text":"oh","info":{"name":"bld_1"}}}"#
    private let state =
        #"{"type":"deployment-state","created":5,"payload":{"id":"c","date":6,"info":{"readyState":"READY"}}}"#
    private let old = #"{"event":"state","payload":{"value":"ERROR"}}"#
    private let alias =
        #"{"type":"alias-assigned","deploymentId":"d","date":7,"alias":["a.b"],"aliasError":{"message":"no"},"aliasWarning":null}"#

    private func check(_ events: [DeploymentEvent]) {
        #expect(
            events.map(\.type) == [
                "stdout", "stderr", "deployment-state", "deployment-state", "alias-assigned",
            ])
        #expect(events.map(\.text) == ["hello", "oh", nil, nil, nil])
        #expect(events.map { $0.date?.milliseconds } == [2, 4, 6, nil, 7])
        #expect(events.map(\.id) == ["a", "b", "c", nil, nil])
        #expect(events.map(\.state) == [nil, nil, .ready, .error, nil])
        #expect(events[0].step == "install")
        #expect(events[4].aliasError == "no")
    }

    @Test func `an array and lines are read alike, in both forms`() throws {
        let all = [flat, nested, "{}", state, #"{"type":"keep"}"#, old, alias]
        for body in [
            "[\(all.joined(separator: ","))]", all.joined(separator: "\n"),
            all.joined(separator: "\r\n") + "\r\n\r\n", "[\(all.joined(separator: ",\n"))]\n",
        ] {
            let api = try FakeAPI(.answer(200, body))
            check(try api.events("dpl_1"))
            #expect(
                api.transport.sent[0].target
                    == "/v3/deployments/dpl_1/events?direction=forward&follow=0&limit=-1&builds=1")
        }
    }

    @Test(arguments: ["", "[]", "\n\n"])
    func `no events are not an error`(body: String) throws {
        let api = try FakeAPI(.answer(200, body))
        #expect(try api.events("d").isEmpty)
    }

    @Test func `a page that is not a log is an error`() throws {
        let api = try FakeAPI(.answer(200, "<html>\n</html>"))
        #expect(
            api.error { _ = try api.events("d") }?.code == .malformedAnswer)
    }

    @Test func `lines are followed wherever they are cut`() throws {
        let api = try FakeAPI(
            .answer(
                200, [flat, nested, "{}", "garbage", state, old, alias].joined(separator: "\n")))
        var events: [DeploymentEvent] = []
        let end = try api.client.followEvents(ofDeployment: "d") { event in
            events.append(event)
            return true
        }
        #expect(end == .ended)
        check(events)
    }

    @Test func `a response that does not follow is read as well`() throws {
        let api = try FakeAPI(
            .answer(200, "[\([flat, nested, state, old, alias].joined(separator: ","))]"))
        var events: [DeploymentEvent] = []
        _ = try api.client.followEvents(ofDeployment: "d") { event in
            events.append(event)
            return true
        }
        check(events)
    }

    @Test func `a broken connection continues where it was, without repetition`() throws {
        let cut = [("X-Then-Cut", "1")]
        let api = try FakeAPI(
            .answer(200, "\(flat)\n\(nested)\n{\"type\":\"std", headers: cut), .answer(500, ""),
            .broken(.timedOut), .answer(200, "\(nested)\n\(state)\n"))
        var ids: [String?] = []
        let end = try api.client.followEvents(ofDeployment: "d") { event in
            ids.append(event.id)
            return true
        }
        #expect(end == .ended)
        #expect(ids == ["a", "b", "c"])
        #expect(
            api.transport.sent.map { $0.target.components(separatedBy: "since=").dropFirst().first }
                == [nil, "0", "0", "0"])
    }

    @Test func `a connection that always breaks is given up`() throws {
        let api = try FakeAPI(.broken(.cut))
        let error = api.error {
            _ = try api.client.followEvents(ofDeployment: "d") { _ in true }
        }
        #expect(error?.code == .unavailable)
        #expect(api.transport.sent.count == 5)
        let missing = try FakeAPI(.answer(404, #"{"error":{"code":"not_found"}}"#))
        #expect(
            missing.error {
                _ = try missing.client.followEvents(ofDeployment: "d") { _ in true }
            }?.code == .notFound)
        #expect(missing.transport.sent.count == 1)
    }

    @Test func `the receiver can end the stream`() throws {
        let api = try FakeAPI(.answer(200, "\(flat)\n\(nested)\n\(state)\n"))
        var count = 0
        let end = try api.client.followEvents(ofDeployment: "d") { _ in
            count += 1
            return count < 2
        }
        #expect(end == .stopped && count == 2)
    }

    @Test func `a line without an end is skipped`() throws {
        let api = try FakeAPI(
            .answer(200, "\(flat)\n" + String(repeating: "x", count: 3 << 20) + "\n\(nested)\n"))
        var ids: [String?] = []
        _ = try api.client.followEvents(ofDeployment: "d") { event in
            ids.append(event.id)
            return true
        }
        #expect(ids == ["a", "b"])
    }

    @Test func `equal lines are separate lines, on each connection`() throws {
        let line = #"{"type":"stdout","date":9000,"text":"same"}"#
        let api = try FakeAPI(
            .answer(200, "\(line)\n\(line)\n", headers: [("X-Then-Cut", "1")]),
            .answer(200, "\(line)\n\(line)\n\(line)\n"))
        #expect(try api.events("d").map(\.text) == ["same", "same", "same"])
        #expect(api.transport.sent[1].target.contains("since=7000"))
    }

    @Test func `a late event out of order is not lost`() throws {
        func line(_ id: Int, _ date: Int) -> String {
            #"{"type":"stdout","id":"\#(id)","date":\#(date),"text":"\#(id)"}"#
        }
        let api = try FakeAPI(
            .answer(200, "\(line(1, 5000))\n\(line(3, 6000))\n", headers: [("X-Then-Cut", "1")]),
            .answer(200, "\(line(1, 5000))\n\(line(2, 5500))\n\(line(3, 6000))\n\(line(4, 9000))"))
        #expect(try api.events("d").map(\.text) == ["1", "3", "2", "4"])
    }

    @Test func `the memory for a long log stays small, and nothing is repeated`() throws {
        let cursor = EventCursor()
        // Ten times as many at one moment as are remembered.
        for number in 0..<200_000 {
            let text = #"{"type":"stdout","id":"\#(number)","date":\#(1000 + number / 1000)}"#
            let event = try #require(DeploymentEvent(bytes: text))
            #expect(cursor.isNew(event))
            if number % 1000 == 0 { #expect(!cursor.isNew(event)) }
        }
        #expect(cursor.rememberedCount <= EventCursor.capacity)
    }

    @Test func `invalid UTF-8 costs a character, not the line`() throws {
        let lone = #"{"type":"stdout","date":1,"id":"a","text":"lone \ud800 here"}"#
        let broken: [UInt8] =
            Array(#"{"type":"stdout","date":2,"id":"b","text":"byte "#.utf8) + [0xFF, 0xC3]
            + Array(#" here"}"#.utf8)
        let api = try FakeAPI(.answer(200, bytes: Array("\(lone)\n".utf8) + broken + [0x0A]))
        #expect(
            try api.events("d").map(\.text)
                == ["lone \u{FFFD} here", "byte \u{FFFD}\u{FFFD} here"])
    }

    @Test func `unreadable lines are counted`() throws {
        let text = String(repeating: "x", count: 2 << 20)
        let long = #"{"type":"stdout","date":1,"text":"\#(text)"}"#
        let api = try FakeAPI(
            .answer(200, "\(flat)\n{\"type\":\"stdout\n\(long)\n{\"date\":1,}\n\(nested)\n"))
        var lost = 0
        var ids: [String?] = []
        _ = try api.client.followEvents(
            ofDeployment: "d", onLoss: { lost += $0 },
            onEvent: { event in
                ids.append(event.id)
                return true
            })
        #expect(ids == ["a", "b"] && lost == 3)
    }

    @Test func `the objects are the same wherever the bytes are cut`() throws {
        let all = [flat, #"{"a":"}\\\"{\n"}"#, nested, "{}"]
        for text in [all.joined(separator: "\n"), "[\(all.joined(separator: " ,\n"))]"] {
            let bytes = Array(text.utf8)
            for size in 1...40 {
                let objects = try EventObjects()
                var found: [String] = []
                for start in stride(from: 0, to: bytes.count, by: size) {
                    let piece = Array(bytes[start..<min(start + size, bytes.count)])
                    _ = piece.withBytes { piece in
                        objects.take(piece) { object in
                            let text = (0..<object.byteCount).map { object.byte(at: $0) }
                            found.append(String(decoding: text, as: UTF8.self))
                            return true
                        }
                    }
                }
                #expect(found == all && objects.lostCount == 0)
            }
        }
    }
}

extension FakeAPI {
    /// The log of a deployment so far.
    fileprivate func events(_ id: String) throws -> [DeploymentEvent] {
        var events: [DeploymentEvent] = []
        _ = try client.followEvents(ofDeployment: id, follows: false) { event in
            events.append(event)
            return true
        }
        return events
    }
}

extension DeploymentEvent {
    fileprivate init?(bytes text: String) {
        let reading = Array(text.utf8).withBytes { DeploymentEvent.read($0) }
        guard case .event(let event) = reading else { return nil }
        self = event
    }
}
