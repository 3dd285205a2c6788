import Foundation
import JSON
import TestSupport
import Testing

@testable import Sandbox

/// The built program, run as a child.
private struct Program {
    struct Result {
        var status: Int32
        var output: String
        var errors: String
    }

    let process: ChildProcess
    private let output = Pipe()
    private let errors = Pipe()

    init(_ arguments: [String]) throws {
        var description = ChildProcess.Description(
            try ProgramRunner.pathOfProduct("zg-env-sandbox"), arguments, environment: [:])
        description.descriptors = [
            1: output.fileHandleForWriting.fileDescriptor,
            2: errors.fileHandleForWriting.fileDescriptor,
        ]
        process = try ChildProcess(description)
        // Only the child writes, so the output ends with the child.
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
    }

    /// The first line of the output.
    func line() -> String {
        var bytes = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            if byte[0] == 0x0A { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func end() throws -> Result {
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        let status: Int32
        switch process.reap() {
        case .exited(let code): status = code
        case .signalled(let signal): status = 128 + signal
        }
        return Result(
            status: status, output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self))
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The program` {
    @Test(arguments: [SIGTERM, SIGINT])
    func `prints its URL, serves, and ends on a signal`(signal: Int32) throws {
        let program = try Program(["--port", "0", "--build-seconds=0.2"])
        let line = program.line()
        #expect(line.hasPrefix(#"{"url":"http://127.0.0.1:"#))
        let greeting = try JSONValue(parsing: Array(line.utf8))
        let client = TestClient(
            url: try #require(greeting["url"]?.string), token: greeting["token"]?.string)
        #expect(try client.get("/v2/user").status == 200)
        let list = try client.get("/v6/deployments?projectId=web").json
        let body: JSONValue = [
            "name": "web", "deploymentId": list["deployments"]?[0]?["uid"] ?? .null,
            "target": "production",
        ]
        let id = try client.send("POST", "/v13/deployments?forceNew=1", body).json["id"]
        let isCurrent = try eventually {
            try client.get("/v9/projects/web").json["targets"]?["production"]?["id"] == id
        }
        #expect(isCurrent)
        program.process.signal(signal)
        let result = try program.end()
        #expect(result.status == 0)
        #expect(result.output == "")
        #expect(result.errors == "")
        #expect(throws: TestClient.ConnectError.self) { try client.get("/v2/user") }
    }

    @Test func `takes faults, a build mode, a limit, a seed and a state file`() throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("zg-env-sandbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let seed = directory.appendingPathComponent("seed.json").path
        let state = directory.appendingPathComponent("state.json").path
        try Data(#"{"token":"tok","projects":[{"name":"one"}]}"#.utf8)
            .write(to: URL(fileURLWithPath: seed))
        for isAgain in [false, true] {
            let program = try Program([
                "--seed", seed, "--state", state, "--fault", "GET /v2/teams 418 x1",
                "--fault=* /v2/user reset x1", "--build", "staged", "--rate-limit", "5/20",
                "--latency=20ms", "--clock-offset=-864000", "--date-offset", "3.5",
                "--max-variables", "7",
            ])
            let greeting = try JSONValue(parsing: Array(program.line().utf8))
            #expect(greeting["token"] == "tok")
            let client = TestClient(
                url: try #require(greeting["url"]?.string), token: greeting["token"]?.string)
            #expect(try client.get("/v2/teams").status == 418)
            #expect(try client.get("/v2/user").ending == .reset)
            #expect(try client.get("/_sandbox/faults").json["build"] == "staged")
            let settings = try client.get("/_sandbox/settings").json
            #expect(settings["latencySeconds"]?.number == 0.02)
            #expect(settings["clockOffsetSeconds"]?.number == -864000)
            #expect(settings["dateOffsetSeconds"]?.number == 3.5)
            #expect(settings["rateLimit"] == ["requests": 5, "seconds": .number(20)])
            #expect(settings["maximumVariables"] == 7)
            let made = try client.send("POST", "/v11/projects", ["name": "two"])
            #expect(made.status == (isAgain ? 409 : 200))
            #expect(made.headers["x-ratelimit-limit"] == "5")
            program.process.signal(SIGTERM)
            #expect(try program.end().status == 0)
        }
    }

    @Test("VER-B3: 2,000 idle connections do not keep others out")
    func idleConnections() throws {
        let program = try Program(["--port", "0"])
        let greeting = try JSONValue(parsing: Array(program.line().utf8))
        let client = TestClient(
            url: try #require(greeting["url"]?.string), token: greeting["token"]?.string)
        var open: [Int32] = []
        defer { for file in open { close(file) } }
        for _ in 0..<2000 { open.append(try client.connected()) }
        // Some of them have sent a part of a request.
        for file in open.prefix(200) {
            #expect(unsafe send(file, "GET /v2", 7, Int32(MSG_NOSIGNAL)) == 7)
        }
        #expect(try client.get("/v2/user").status == 200)
        program.process.signal(SIGTERM)
        #expect(try program.end().status == 0)
    }

    @Test(arguments: [
        ["--port"], ["--port", "x"], ["--port", "70000"], ["--port=-1"], ["--nothing"], ["extra"],
        ["--fault", "GET"], ["--build", "explode"], ["--build-seconds", "-1"],
        ["--rate-limit", "5/"], ["--rate-limit", "5/0"], ["--rate-limit", "5/1/1"],
        ["--latency", "-1"], ["--latency", "x"], ["--clock-offset", "nan"],
        ["--clock-offset", "1e9"], ["--date-offset", ""], ["--max-variables", "-1"],
        ["--build-seconds", "nan"], ["--rate-limit", "0"], ["--webhook", "http://127.0.0.1:1/"],
        ["--webhook-secret-file", "/nothing"], ["--seed", "/nothing/at/all"], ["--state", ""],
        ["--webhook", "https://example.com/", "--webhook-secret-file", "/nothing"],
        ["--seed", "/dev/null"],
    ])
    func `refuses wrong arguments with one sentence`(arguments: [String]) throws {
        let result = try Program(arguments).end()
        #expect(result.status == 2)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("zg-env-sandbox: "))
        #expect(result.errors.hasSuffix(".\n"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func `prints help and its version, and reports a port in use`() throws {
        let help = try Program(["--help"]).end()
        #expect(help.status == 0)
        for option in ["--port", "--seed", "--state", "--fault", "--webhook-secret-file"] {
            #expect(help.output.contains(option))
        }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: package.appendingPathComponent("docs/sandbox.md"), encoding: .utf8)
        let others = [
            "reset", "lost-answer", "slow", "truncate", "challenge", "saml", "html", "redirect",
            "ongoing", "silent-batch", "echoes-value", "before", "then", "alias-never", "staged",
            "keeps-old-env", "alias-late", "alias-error", "--latency", "--clock-offset",
            "--date-offset", "--max-variables", "--rate-limit",
        ]
        for word in Fault.Effect.allCases.map(\.rawValue) + others {
            #expect(help.output.contains(word))
            #expect(page.contains("`" + word))
        }
        for deed in Act.Deed.allCases { #expect(page.contains("| `\(deed.rawValue)` |")) }
        let version = try Program(["--version"]).end()
        #expect(version.status == 0)
        #expect(version.output.hasPrefix("zg-env-sandbox "))
        let sandbox = try SandboxFixture()
        let taken = try Program(["--port", String(sandbox.client.port)]).end()
        #expect(taken.status == 1)
        #expect(taken.errors.contains("Cannot listen on port"))
    }
}
