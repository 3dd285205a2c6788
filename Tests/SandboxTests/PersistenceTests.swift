import Foundation
internal import JSON
import Sandbox
import Testing

@Suite struct `The state file` {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("zg-env-sandbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private var path: String { directory.appendingPathComponent("state.json").path }

    private func remove() { try? FileManager.default.removeItem(at: directory) }

    @Test func `lets a sandbox continue where it was`() throws {
        defer { remove() }
        let path = path
        let start = {
            try SandboxFixture { configuration in
                configuration.stateFile = path
                configuration.buildSeconds = 100
            }
        }
        var sandbox: SandboxFixture? = try start()
        let token = sandbox?.client.token
        try sandbox?.create("KEPT", "kept value", type: "sensitive")
        let id = try #require(try sandbox?.redeploy())
        sandbox?.server.advanceClock(bySeconds: 50)
        #expect(try sandbox?.deployment(id)["readyState"] == "BUILDING")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["state.json"])
        sandbox = nil
        let again = try start()
        #expect(again.client.token == token)
        #expect(again.stored("KEPT")?.value == "kept value")
        #expect(try again.deployment(id)["readyState"] == "BUILDING")
        again.server.advanceClock(bySeconds: 50)
        #expect(try again.current() == id)
        let made = try again.create("AFTER")
        #expect(made.status == 201)
        let ids = again.server.storedVariables(project: "web")?.map(\.id) ?? []
        #expect(Set(ids).count == ids.count)
        #expect(try again.client.send("POST", "/_sandbox/reset").status == 200)
        let fresh = try start()
        #expect(fresh.stored("KEPT") == nil)
    }

    @Test(arguments: ["", "{", "{\"format\":2}", "[]", "{\"format\":1,\"state\":{}}"])
    func `that is damaged is not replaced`(text: String) throws {
        defer { remove() }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: SandboxError.self) {
            var configuration = SandboxConfiguration()
            configuration.stateFile = path
            _ = try SandboxServer(configuration: configuration)
        }
        #expect(error?.code == .stateUnreadable)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `that cannot be written is an error`() {
        defer { remove() }
        let error = #expect(throws: SandboxError.self) {
            var configuration = SandboxConfiguration()
            configuration.stateFile = path + "/x"
            _ = try SandboxServer(configuration: configuration)
        }
        #expect(error?.code == .stateUnwritable)
    }
}

@Suite struct `Seeds` {
    @Test func `make the same sandbox every time`() throws {
        let ids = {
            let sandbox = try SandboxFixture()
            let envs = try sandbox.client.get("/v10/projects/web/env").text
            return try [envs, sandbox.client.get("/v9/projects/web").json["id"]?.string ?? ""]
                + [sandbox.redeploy(), sandbox.client.token ?? ""]
        }
        #expect(try ids() == ids())
        let other = try SandboxFixture { configuration in
            configuration.seed = try Seed(
                json: Array(#"{"seed":2,"projects":[{"name":"web"}]}"#.utf8))
        }
        #expect(try other.client.token != SandboxFixture().client.token)
        #expect(try other.client.get("/v10/projects/web/env").json["envs"] == [])
    }

    @Test func `may be large`() throws {
        let projects = (0..<100).map { project in
            let env = (0..<10).map { #"{"key":"K\#($0)","value":"v\#(project)"}"# }
            return #"{"name":"p\#(project)","env":[\#(env.joined(separator: ","))]}"#
        }
        let text = #"{"projects":[\#(projects.joined(separator: ","))]}"#
        let sandbox = try SandboxFixture { $0.seed = try Seed(json: Array(text.utf8)) }
        let page = try sandbox.client.get("/v10/projects?limit=100").json
        #expect(page["projects"]?.array?.count == 100)
        #expect(page["pagination"]?["next"] == .null)
        #expect(sandbox.server.storedVariables(project: "p99")?.count == 10)
    }

    @Test(arguments: [
        "[]", #"{"projects":5}"#, #"{"projects":[{"name":"x","env":[{"key":"1","value":"v"}]}]}"#,
        #"{"projects":[{"name":"x","team":"none"}]}"#,
        #"{"projects":[{"name":"x","env":[{"key":"K","value":"v"},{"key":"K","value":"v"}]}]}"#,
        #"{"projects":[{"name":"x","deployments":[{"state":"BUILDING"}]}]}"#,
        #"{"sharedEnv":[{"team":"none","key":"K","value":"v"}]}"#,
        #"{"teams":[{"slug":"x","sensitiveEnvironmentVariablePolicy":"maybe"}]}"#,
    ])
    func `that are impossible are refused`(text: String) {
        let error = #expect(throws: SandboxError.self) {
            try SandboxFixture { configuration in
                configuration.seed = try Seed(json: Array(text.utf8))
            }
        }
        #expect(error?.code == .seedUnreadable)
    }
}
