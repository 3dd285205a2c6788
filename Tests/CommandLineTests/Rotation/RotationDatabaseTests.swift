import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// The recipes in docs/rotation.md against a real PostgreSQL server and a test service.
@Suite("Rotating database passwords", .enabled(if: PrivatePostgres.isInstalled, "PostgreSQL"))
struct RotationDatabaseTests {
    /// The recipes' directory.
    static let recipes = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/recipes").path

    /// A sandbox whose `KEY` of `web` has a value that is pushed and live.
    private static func platform(holding value: String) throws -> SandboxHome {
        let platform = try SandboxHome()
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--redeploy", "--yes",
                input: .text(value)))
        return platform
    }

    /// A check that asks the sandbox which value the deployment has, and logs in with it.
    static func check(
        _ platform: SandboxHome, _ recipe: String, of key: String = "KEY"
    ) throws -> String {
        let script = try platform.home.directory.write(
            """
            import json, os, urllib.request
            request = urllib.request.Request(
                "\(platform.url)/v3/env/pull/" + os.environ["ZG_ENV_DEPLOYMENT_ID"],
                headers={"Authorization": "Bearer \(platform.token)"})
            answer = json.load(urllib.request.urlopen(request))
            print(answer["buildEnv"]["\(key)"], end="")
            """, to: "built.py")
        return "python3 \(script) | sh \(recipes)/\(recipe)"
    }

    /// A recipe's check alone, with a value on stdin.
    static func recipe(
        _ name: String, _ value: String, _ platform: SandboxHome
    ) -> ProgramRunner {
        var runner = platform.home.wrapped("/bin/sh") { _ in ["\(recipes)/\(name)"] }
        runner.input = .text(value)
        runner.environment["ZG_ENV_STEP"] = "check"
        return runner
    }

    private static func value(_ platform: SandboxHome) throws -> String {
        String(
            decoding: try platform.home.revealed("KEY", "-t", "production"), as: UTF8.self)
    }

    private static func rotate(
        _ platform: SandboxHome, _ arguments: [String], _ environment: [String: String]
    ) throws -> ProgramResult {
        var runner = platform.runner(
            ["rotate", "KEY", "-p", "web", "--redeploy", "--yes", "--json"] + arguments,
            environment: environment)
        runner.timeLimit = .seconds(90)
        return try runner.run()
    }

    @Test func `one role gets a new password`() throws {
        let server = try PrivatePostgres()
        let old = "old-pass'word"
        try server.query("CREATE ROLE app LOGIN PASSWORD 'old-pass''word'")
        let platform = try Self.platform(holding: old)
        let recipe = "postgres-password.sh"
        let environment = server.environment.merging(["ROLE": "app", "DATABASE": "app"]) { $1 }
        let arguments = [
            "--generate", "base64:30", "--apply", "sh \(Self.recipes)/\(recipe)", "--check",
            try Self.check(platform, recipe), "--revoke", "sh \(Self.recipes)/\(recipe)",
        ]
        let report = try json(Self.rotate(platform, arguments, environment))
        #expect(report["outcome"] == "done")
        #expect(report["revoked"] == true)
        let new = try Self.value(platform)
        #expect(new != old)
        #expect(try server.accepts("app", new))
        #expect(try !server.accepts("app", old))
        #expect(platform.records("KEY") == ["production=\(new)"])

        // After a failed build, database, Vercel and production have the previous value.
        platform.server.setBuild(.fail)
        let (failed, _) = try failedReport(
            Self.rotate(platform, arguments, environment), 10, "rolled_back")
        #expect(failed["outcome"] == "rolled_back")
        #expect(try Self.value(platform) == new)
        #expect(try server.accepts("app", new))
        #expect(platform.records("KEY") == ["production=\(new)"])

        // With the server down nothing is installed and nothing pushed.
        platform.server.setBuild(.ok)
        let writes = try platform.writes {
            let (stopped, _) = try failedReport(
                Self.rotate(
                    platform, arguments, environment.merging(["PGPORT": "1"]) { $1 }), 11,
                "needs_attention")
            #expect(stopped["open"] == true)
        }
        #expect(writes == [])
        let aborted = try json(
            platform.runner(
                ["rotate", "--abort", "--yes", "--json"], environment: environment
            ).run())
        #expect(aborted["outcome"] == "rolled_back")
        #expect(try server.accepts("app", new))
    }

    @Test("SYNC-A7: the database checks ask the deployment at HEALTH_PATH")
    func checksAskTheDeployment() throws {
        let server = try PrivatePostgres()
        try server.query("CREATE ROLE app_a LOGIN PASSWORD 'first0'")
        let platform = try SandboxHome(isLoggedIn: false)
        // A deployment with a page that names the role in use, and one that does not.
        let deployment = try LocalServer { request in
            let bodies = ["/health": "app_a", "/other": "app_z"]
            return [bodies[request.target].map { .answer(200, $0) } ?? .answer(404)]
        }
        defer { deployment.stop() }
        func check(_ name: String, _ value: String, _ path: String?) throws -> ProgramResult {
            var runner = Self.recipe(name, value, platform)
            runner.environment.merge(server.environment) { $1 }
            runner.environment.merge(
                [
                    "ROLES": "app_a app_b", "ROLE": "app_a", "DATABASE": "app",
                    "ZG_ENV_DEPLOYMENT_URL": deployment.origin,
                ]) { $1 }
            if let path { runner.environment["HEALTH_PATH"] = path }
            return try runner.run()
        }
        let url = "postgres://app_a:first0@127.0.0.1:\(server.port)/app"
        for (name, value) in [("postgres-roles.sh", url), ("postgres-password.sh", "first0")] {
            let alone = done(try check(name, value, nil))
            #expect(alone.error.contains("checked only the database"), "\(alone.error)")
            #expect(try check(name, value, "/nothing-is-here").status != 0, "\(name)")
        }
        #expect(try check("postgres-roles.sh", url, "/other").status != 0)
        #expect(done(try check("postgres-password.sh", "first0", "/health")).error == "")
        #expect(done(try check("postgres-roles.sh", url, "/health")).error == "")
    }

    @Test func `two roles alternate`() throws {
        let server = try PrivatePostgres()
        try server.query("CREATE ROLE app_a LOGIN PASSWORD 'first0'")
        try server.query("CREATE ROLE app_b NOLOGIN")
        let place = "127.0.0.1:\(server.port)/app"
        let old = "postgres://app_a:first0@\(place)"
        let platform = try Self.platform(holding: old)
        let recipe = "sh \(Self.recipes)/postgres-roles.sh"
        let environment = server.environment.merging([
            "ROLES": "app_a app_b", "DATABASE": "app",
        ]) { $1 }
        func arguments(_ check: String) -> [String] {
            [
                "--from-command", recipe, "--apply", recipe, "--check", check, "--revoke", recipe,
            ]
        }
        func password(_ url: String) -> String {
            String(url.split(separator: "@")[0].split(separator: ":")[2])
        }
        // While the new value is checked, the old one still works.
        let both = """
            \(recipe) && PGUSER=app_a PGPASSWORD=first0 psql -X -q -w -d app -c 'SELECT 1' >/dev/null
            """
        let first = try json(Self.rotate(platform, arguments(both), environment))
        #expect(first["outcome"] == "done")
        let second = try Self.value(platform)
        #expect(second.hasPrefix("postgres://app_b:"))
        #expect(second.hasSuffix("@\(place)"))
        #expect(try server.accepts("app_b", password(second)))
        #expect(try !server.accepts("app_a", "first0"))

        // A failed rotation leaves the role in use unchanged.
        platform.server.setBuild(.fail)
        _ = try failedReport(
            Self.rotate(platform, arguments(recipe), environment), 10, "rolled_back")
        #expect(try server.accepts("app_b", password(second)))
        platform.server.setBuild(.ok)

        // Back to the first role.
        #expect(
            try json(Self.rotate(platform, arguments(recipe), environment))["outcome"] == "done")
        let third = try Self.value(platform)
        #expect(third.hasPrefix("postgres://app_a:"))
        #expect(try server.accepts("app_a", password(third)))
        #expect(try !server.accepts("app_b", password(second)))
    }
}

/// Recipes that need no database.
@Suite("Rotating keys of services")
struct RotationRecipeTests {
    @Test func `a signing key keeps its predecessor valid`() throws {
        let platform = try SandboxHome()
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--redeploy", "--yes",
                input: .text("first")))
        let recipe = "sh \(RotationDatabaseTests.recipes)/signing-key.sh"
        func rotated() throws -> [String] {
            let report = try json(
                platform.run(
                    "rotate", "KEY", "-p", "web", "--from-command", recipe, "--redeploy", "--yes",
                    "--json"))
            #expect(report["outcome"] == "done")
            #expect(report.project?["proof"] == "deployment")
            let value = try platform.home.revealed("KEY", "-t", "production")
            return String(decoding: value, as: UTF8.self).split(separator: ",").map(String.init)
        }
        let second = try rotated()
        #expect(second.count == 2 && second[0].count == 64 && second[1] == "first")
        let third = try rotated()
        #expect(third.count == 2 && third[0] != second[0] && third[1] == second[0])
    }

    @Test(
        "SYNC-A7: a service with two valid keys: the check asks the deployment which one it uses"
    )
    func keyOfAService() throws {
        let platform = try SandboxHome()
        let directory = platform.home.directory
        let keys = try directory.makeDirectory("keys")
        let token = try directory.write("administrator-token\n", to: "administrator")
        let script = try directory.write(
            """
            import http.server, os, secrets, threading
            # Not for ever, should the test itself be killed.
            threading.Timer(120, lambda: os._exit(0)).start()
            class Service(http.server.BaseHTTPRequestHandler):
                def log_message(self, *arguments): pass
                def bearer(self): return self.headers["Authorization"].split(" ", 1)[1]
                def answer(self, status, text=""):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text.encode())
                def do_POST(self):
                    if self.bearer() != "administrator-token": return self.answer(403)
                    key = secrets.token_hex(16)
                    open("\(keys)/" + key, "w").close()
                    self.answer(200, key + "\\n")
                def do_GET(self):
                    if self.path == "/health":
                        if self.headers["x-vercel-protection-bypass"] != "let-me-in": return self.answer(401)
                        return self.answer(200, "key " + open("\(directory.path("deployed"))").read() + "\\n")
                    self.answer(200 if self.bearer() in os.listdir("\(keys)") else 401)
                def do_DELETE(self):
                    if self.bearer() != "administrator-token": return self.answer(403)
                    for key in os.listdir("\(keys)"):
                        if key.startswith(self.path.split("/")[-1]): os.remove("\(keys)/" + key)
                    self.answer(204)
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
            open("\(directory.path("port"))", "w").write(str(server.server_port) + "\\n")
            server.serve_forever()
            """, to: "service.py")
        let service = Process()
        service.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        service.arguments = [script]
        try service.run()
        // It may have been started with other signals blocked.
        defer { kill(service.processIdentifier, SIGKILL) }
        var port = ""
        for _ in 0..<500 where !port.hasSuffix("\n") {
            usleep(20_000)
            port = (try? directory.read("port")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let first = String(repeating: "0", count: 32)
        try directory.write("", to: "keys/\(first)")
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--redeploy", "--yes",
                input: .text(first)))
        let recipe = "sh \(RotationDatabaseTests.recipes)/api-key.sh"
        let report = try json(
            platform.run(
                "rotate", "KEY", "-p", "web", "--from-command", recipe, "--check", recipe,
                "--revoke", recipe, "--redeploy", "--yes", "--json",
                environment: [
                    "SERVICE": "http://127.0.0.1:\(port.dropLast())", "ADMIN_TOKEN_FILE": token,
                ]))
        #expect(report["outcome"] == "done")
        let value = String(
            decoding: try platform.home.revealed("KEY", "-t", "production"), as: UTF8.self)
        let left = try FileManager.default.contentsOfDirectory(atPath: keys)
        #expect(left == [value])
        #expect(value != first)
        #expect(report["warnings"]?.elements.isEmpty ?? true)

        // Alone: with HEALTH_PATH the deployment has to use this very key.
        func checked(_ environment: [String: String]) throws -> ProgramResult {
            var runner = RotationDatabaseTests.recipe("api-key.sh", value, platform)
            runner.environment.merge(
                [
                    "ZG_ENV_STEP": "check", "SERVICE": "http://127.0.0.1:\(port.dropLast())",
                    "ADMIN_TOKEN_FILE": token,
                    "ZG_ENV_DEPLOYMENT_URL": "http://127.0.0.1:\(port.dropLast())",
                ].merging(environment) { $1 }
            ) { $1 }
            return try runner.run()
        }
        let alone = done(try checked([:]))
        #expect(alone.error.contains("checked only the service"), "\(alone.error)")
        let secret = try directory.write("let-me-in\n", to: "bypass")
        let health = ["HEALTH_PATH": "/health", "BYPASS_FILE": secret]
        try directory.write(String(value.prefix(8)), to: "deployed")
        #expect(done(try checked(health)).error == "")
        #expect(try checked(["HEALTH_PATH": "/health"]).status != 0)
        try directory.write("other-ke", to: "deployed")
        #expect(try checked(health).status != 0)
    }

}
