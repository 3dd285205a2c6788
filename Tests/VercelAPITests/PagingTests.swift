import Foundation
import HTTPClient
import Testing
import VercelAPI

@Suite struct `Lists of several pages` {
    private func page(_ ids: [Int], next: String) -> Result<HTTPResponse, TransportError> {
        let projects = ids.map { "{\"id\":\"prj_\($0)\",\"name\":\"p\($0)\"}" }
        return .answer(
            200,
            "{\"projects\":[\(projects.joined(separator: ","))],\"pagination\":{\"count\":2,\"next\":\(next),\"prev\":1}}"
        )
    }

    @Test func `number and text cursors are followed to the end`() throws {
        let api = try FakeAPI(
            page([1, 2], next: "1700000000000"), page([2, 3], next: "\"AB=/+ \""),
            page([4], next: "17.0"), page([5], next: "null"))
        #expect(try api.client.projects().map(\.name) == ["p1", "p2", "p3", "p4", "p5"])
        #expect(
            api.transport.sent.map(\.target) == [
                "/v10/projects?limit=100", "/v10/projects?limit=100&from=1700000000000",
                "/v10/projects?limit=100&from=AB%3D%2F%2B%20", "/v10/projects?limit=100&from=17",
            ])
    }

    @Test func `a cursor that repeats is an error`() throws {
        let still = try FakeAPI(page([1], next: "5"))
        #expect(still.error { _ = try still.client.projects() }?.code == .malformedAnswer)
        #expect(still.transport.sent.count == 2)
        let round = try FakeAPI(
            page([1], next: "5"), page([2], next: "4"), page([3], next: "5"))
        #expect(round.error { _ = try round.client.projects() }?.code == .malformedAnswer)
        #expect(round.transport.sent.count == 3)
        let variables = try FakeAPI(.answer(200, #"{"envs":[],"pagination":{"next":5}}"#))
        let arena = variables.arena
        #expect(
            variables.error {
                _ = try variables.client.environmentVariables(ofProject: "a", valuesInto: arena)
            }?.code == .malformedAnswer)
    }

    @Test func `an endless list is given up`() throws {
        let transport = FakeTransport { _, number in
            .answer(200, "{\"projects\":[],\"pagination\":{\"next\":\(number)}}")
        }
        let api = try FakeAPI(transport)
        #expect(api.error { _ = try api.client.projects() }?.code == .malformedAnswer)
        #expect(transport.sent.count == 1000)
    }

    @Test("SEC-F17: a page that fails late is not retried after the five minutes")
    func timeOfLastPage() throws {
        let clock = FakeAPI.Clock()
        let transport = FakeTransport { _, number in
            clock.room?.elapsed += .seconds(29)
            return number < 11
                ? .answer(200, "{\"projects\":[],\"pagination\":{\"next\":\(number)}}")
                : .answer(503, "{}")
        }
        let api = try FakeAPI(transport)
        clock.room = api.room
        #expect(api.error { _ = try api.client.projects() }?.code == .unavailable)
        #expect(transport.sent.count == 11)
    }

    @Test("SEC-F17: a list whose pages keep coming is given up after five minutes")
    func timeOfList() throws {
        let room = FakeAPI.Clock()
        let transport = FakeTransport { _, number in
            room.room?.elapsed += .seconds(29)
            return .answer(200, "{\"projects\":[],\"pagination\":{\"next\":\(number)}}")
        }
        let api = try FakeAPI(transport)
        room.room = api.room
        let error = api.error { _ = try api.client.projects() }
        #expect(error?.code == .unavailable)
        #expect(error?.reason.contains("5 minutes") == true)
        // 11 pages take 319 seconds.
        #expect(transport.sent.count == 11)
        // The last ones get only the list's remaining time.
        #expect(transport.timeouts.map { $0?.total }.last == .seconds(10))
        #expect(transport.timeouts.map { $0?.total }[1] == .seconds(120))
        // With values, and several at once, it is the same.
        for list in [
            { (api: FakeAPI) in
                _ = try api.client.environmentVariables(ofProject: "a", valuesInto: api.arena)
            },
            { (api: FakeAPI) in
                _ = try api.client.environmentVariables(ofProjects: ["a", "b"]).map { try $0.get() }
            },
        ] {
            let clock = FakeAPI.Clock()
            let slow = try FakeAPI(
                FakeTransport { _, number in
                    clock.room?.elapsed += .seconds(29)
                    return .answer(
                        200, "{\"envs\":[],\"pagination\":{\"next\":\(number)}}")
                })
            clock.room = slow.room
            #expect(slow.error { try list(slow) }?.code == .unavailable)
        }
    }

    @Test(arguments: [
        #"[{"id":"prj_1","name":"p1"}]"#, #"{"projects":[{"id":"prj_1","name":"p1"}]}"#,
        #"{"projects":[{"id":"prj_1","name":"p1"}],"pagination":null}"#,
        #"{"projects":[{"id":"prj_1","name":"p1"}],"pagination":{}}"#,
        #"{"projects":[{"id":"prj_1","name":"p1"}],"pagination":{"next":null}}"#,
        #"{"id":"prj_1","name":"p1"}"#,
    ])
    func `a list is read in several forms`(body: String) throws {
        let api = try FakeAPI(.answer(200, body))
        #expect(try api.client.projects().map(\.id) == ["prj_1"])
        #expect(api.transport.sent.count == 1)
    }

    @Test func `only as many pages are read as needed`() throws {
        let transport = FakeTransport { _, number in
            .answer(
                200,
                "{\"deployments\":[{\"uid\":\"a\(number)\"},{\"uid\":\"b\(number)\"}],\"pagination\":{\"next\":\(number)}}"
            )
        }
        let api = try FakeAPI(transport)
        var filter = DeploymentFilter()
        filter.limit = 3
        #expect(try api.client.deployments(filter).map(\.id) == ["a0", "b0", "a1"])
        #expect(transport.sent.count == 2)
    }

    @Test func `lists of many projects are read page by page`() throws {
        let transport = FakeTransport { sent, _ in
            let isSecond = sent.target.contains("until=7")
            let next = isSecond ? "null" : "7"
            return .answer(
                200,
                "{\"envs\":[{\"id\":\"\(isSecond ? 2 : 1)\",\"key\":\"K\"}],\"pagination\":{\"next\":\(next)}}"
            )
        }
        let api = try FakeAPI(transport, scope: .team(id: "team_1"))
        let results = try api.client.environmentVariables(ofProjects: ["a", "b"])
        #expect(try results.map { try $0.get().variables.map(\.id) } == [["1", "2"], ["1", "2"]])
        #expect(transport.sent.count == 4)
        #expect(transport.sent.allSatisfy { $0.target.contains("teamId=team_1") })
    }
}
