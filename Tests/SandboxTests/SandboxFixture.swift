import JSON
import Sandbox
import Testing

/// The start time of the tests' manual clocks.
let testStart: Int64 = 1_800_000_000_000

/// A running sandbox with a manual clock, and a client with its token.
final class SandboxFixture {
    let server: SandboxServer
    let client: TestClient

    init(_ configure: (inout SandboxConfiguration) throws -> Void = { _ in }) throws {
        var configuration = SandboxConfiguration()
        configuration.clock = .manual(startMilliseconds: testStart)
        try configure(&configuration)
        server = try SandboxServer(configuration: configuration)
        let (url, token) = try server.start()
        client = TestClient(url: url, token: token)
    }

    deinit { server.stop() }

    /// The id of the seed's team.
    func teamId() throws -> String {
        try #require(try client.get("/v2/teams").json["teams"]?[0]?["id"]?.string)
    }

    /// The records in a project's list with that key.
    func listed(_ key: String, query: String = "") throws -> [JSONValue] {
        let envs = try client.get("/v10/projects/web/env\(query)").json["envs"]?.array ?? []
        return envs.filter { $0["key"]?.string == key }
    }

    /// Creates a variable and returns the answer.
    @discardableResult
    func create(
        _ key: String, _ value: String = "value", type: String = "encrypted",
        target: [String] = ["production"], more: [String: JSONValue] = [:], query: String = ""
    ) throws -> TestClient.Answer {
        try client.send(
            "POST", "/v10/projects/web/env\(query)",
            .members(item(key, value, type: type, target: target).merging(more) { $1 }))
    }

    func item(
        _ key: String, _ value: String = "value", type: String = "encrypted",
        target: [String] = ["production"]
    ) -> [String: JSONValue] {
        [
            "key": .string(key), "value": .string(value), "type": .string(type),
            "target": .array(target.map { .string($0) }),
        ]
    }

    /// The newest deployment of the project `web`.
    func newestDeployment() throws -> String {
        let list = try client.get("/v6/deployments?projectId=web").json
        return try #require(list["deployments"]?[0]?["uid"]?.string)
    }

    /// Redeploys the newest deployment and returns the new id.
    func redeploy(
        target: JSONValue = "production", query: String = "forceNew=1",
        more: [String: JSONValue] = [:]
    ) throws -> String {
        var body: [String: JSONValue] = [
            "name": "web", "deploymentId": .string(try newestDeployment()), "target": target,
        ]
        if target == .null { body["target"] = nil }
        let answer = try client.send(
            "POST", "/v13/deployments?\(query)", .members(body.merging(more) { $1 }))
        #expect(answer.status == 200)
        #expect(answer.json["readyState"] == "QUEUED")
        return try #require(answer.json["id"]?.string)
    }

    func deployment(_ id: String) throws -> JSONValue {
        try client.get("/v13/deployments/\(id)").json
    }

    /// The id of the project's current production deployment.
    func current() throws -> String? {
        try client.get("/v9/projects/web").json["targets"]?["production"]?["id"]?.string
    }

    /// Replaces the faults; the texts must be valid.
    func setFaults(_ texts: String...) throws {
        server.setFaults(try texts.map { try #require(Fault($0)) })
    }

    /// The stored variable of the project `web` with that key.
    func stored(_ key: String) -> StoredVariable? {
        server.storedVariables(project: "web")?.first { $0.key == key }
    }
}
