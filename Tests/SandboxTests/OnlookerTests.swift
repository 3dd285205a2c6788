internal import JSON
import Sandbox
import Testing
import Threads

@Suite struct `Somebody who looks on` {
    let sandbox: SandboxFixture
    private let seen = Monitor<[RequestObserver.Moment]>([])

    init() throws { sandbox = try SandboxFixture() }

    private func look(_ arrives: @escaping @Sendable (String, String) -> Bool = { _, _ in true }) {
        let seen = seen
        sandbox.server.show(
            to: RequestObserver(
                arrives: arrives, leaves: { moment in seen.look { $0.append(moment) } }))
    }

    private var moments: [RequestObserver.Moment] { seen.look { $0 } }

    private func values(_ variables: [StoredVariable]) -> [String] {
        variables.filter { $0.key == "A" }.map(\.value)
    }

    @Test func `sees the state before and after its own and other requests`()
        throws
    {
        try sandbox.create("A", "one")
        let path = "/v9/projects/web/env/" + (try #require(sandbox.stored("A")).id)
        look()
        try sandbox.setFaults(
            "PATCH * before:set,key=A,value=two", "PATCH * then:set,key=A,value=four")
        #expect(try sandbox.client.send("PATCH", path, ["value": "three"]).status == 200)
        let moment = try #require(moments.first)
        #expect(values(moment.before) == ["one"] && values(moment.asked) == ["two"])
        #expect(values(moment.served) == ["three"] && values(moment.after) == ["four"])
        #expect(moment.number == 0 && moment.request.method == "PATCH")
        #expect(moment.request.body == ["value": "***"])
        #expect(moment.fault?.contains("before:set,key=A,value=***") == true)
        _ = try sandbox.client.get("/v2/user")
        #expect(moments.map(\.number) == [0, 1])
        sandbox.server.show(to: nil)
        _ = try sandbox.client.get("/v2/user")
        #expect(moments.count == 2)
    }

    @Test func `keeps a request from being served`() throws {
        look { method, _ in method != "POST" }
        #expect(try sandbox.create("A").ending == .reset)
        #expect(sandbox.stored("A") == nil)
        #expect(moments.isEmpty)
        _ = try sandbox.client.get("/v2/user")
        #expect(moments.count == 1)
        sandbox.server.reset()
        #expect(sandbox.server.requests.isEmpty)
    }

    @Test func `sees the state after a failed response`() throws {
        try sandbox.create("A", "one")
        look()
        try sandbox.setFaults("GET * then:set,key=A,value=two", "GET * reset")
        #expect(try sandbox.client.get("/v2/user").ending == .reset)
        let moment = try #require(moments.first)
        #expect(moment.request.status == 0)
        #expect(values(moment.served) == ["one"] && values(moment.after) == ["two"])
    }
}
