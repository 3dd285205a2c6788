import Foundation
import Testing
import VercelAPI

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
        #expect(events.map(\.name) == ["bld_1", "bld_1", nil, nil, nil])
        #expect(events[0].step == "install")
        #expect(events[4].aliasError == "no")
    }

    @Test func `an array and lines are read alike, in both shapes`() throws {
        let all = [flat, nested, "{}", state, #"{"type":"keep"}"#, old, alias]
        for body in [
            "[\(all.joined(separator: ","))]", all.joined(separator: "\n"),
            all.joined(separator: "\r\n") + "\r\n\r\n", "[\(all.joined(separator: ",\n"))]\n",
        ] {
            let api = try FakeAPI(.answer(200, body))
            check(try api.client.events(ofDeployment: "dpl_1"))
            #expect(
                api.transport.sent[0].target
                    == "/v3/deployments/dpl_1/events?direction=forward&follow=0&limit=-1&builds=1")
        }
    }

    @Test(arguments: ["", "[]", "\n\n"])
    func `no events are no error`(body: String) throws {
        let api = try FakeAPI(.answer(200, body))
        #expect(try api.client.events(ofDeployment: "d").isEmpty)
    }

    @Test func `a page that is no log is an error`() throws {
        let api = try FakeAPI(.answer(200, "<html>\n</html>"))
        #expect(
            api.error { _ = try api.client.events(ofDeployment: "d") }?.code == .malformedAnswer)
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

    @Test func `an answer that does not follow is read as well`() throws {
        let api = try FakeAPI(
            .answer(200, "[\([flat, nested, state, old, alias].joined(separator: ","))]"))
        var events: [DeploymentEvent] = []
        _ = try api.client.followEvents(ofDeployment: "d") { event in
            events.append(event)
            return true
        }
        check(events)
    }

    @Test func `a broken connection goes on where it was, without repetition`() throws {
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
                == [nil, "4", "4", "4"])
    }

    @Test func `a connection that only breaks is given up`() throws {
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

    @Test func `the receiver can end it`() throws {
        let api = try FakeAPI(.answer(200, "\(flat)\n\(nested)\n\(state)\n"))
        var count = 0
        let end = try api.client.followEvents(ofDeployment: "d") { _ in
            count += 1
            return count < 2
        }
        #expect(end == .stopped && count == 2)
    }

    @Test func `a line without an end is passed over`() throws {
        let api = try FakeAPI(
            .answer(200, "\(flat)\n" + String(repeating: "x", count: 3 << 20) + "\n\(nested)\n"))
        var ids: [String?] = []
        _ = try api.client.followEvents(ofDeployment: "d") { event in
            ids.append(event.id)
            return true
        }
        #expect(ids == ["a", "b"])
    }
}
