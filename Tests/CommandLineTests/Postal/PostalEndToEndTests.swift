import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// The relay's program, if the package builds it.
enum RelayProgram {
    static let path = try? ProgramRunner.pathOfProduct("zg-env-postal")
}

/// End to end: the sandbox's signed webhooks, the relay, two devices, and two real notification
/// servers.
@Suite(
    "From the platform to two desktops",
    .enabled(if: RelayProgram.path != nil, "needs zg-env-postal, which this build lacks"),
    .timeLimit(.minutes(5)))
struct PostalEndToEndTests {
    /// A machine with a vault and a desktop.
    private struct Machine {
        let home: CommandHome
        let desktop: NotificationServer
        let url: String

        func runner(_ words: String..., input: ProgramRunner.Input = .null) -> ProgramRunner {
            home.runner(
                words, input: input,
                environment: desktop.environment.merging(["ZG_ENV_API_URL": url]) { $1 })
        }

        /// The sync state of `KEY` of `web` in `list`, without a request.
        func state() throws -> String? {
            let shown = try json(runner("list", "-p", "web", "--json", "--offline").run())
            return shown["variables"]?.elements.first { $0["key"] == "KEY" }?["sync"]?.text
        }

        func waitForState(_ wanted: String) throws -> String? {
            for _ in 0..<150 {
                if try state() == wanted { return wanted }
                usleep(100_000)
            }
            return try state()
        }

    }

    private let platform: SandboxHome
    private let directory: TemporaryDirectory
    private let account: String
    private let port: Int

    init() throws {
        platform = try SandboxHome(buildSeconds: 0.3)
        directory = try TemporaryDirectory(named: "zg-relay")
        account = try #require(
            try platform.teammate.send("GET", "/v2/user")["user"]?["id"]?.string)
        // A port that was free a moment ago.
        let probe = try LocalServer { _ in [.close] }
        port = probe.port
        probe.stop()
        usleep(200_000)
        try directory.makeDirectory("hooks")
    }

    private func relay(_ words: String...) throws -> ProgramRunner {
        ProgramRunner(
            path: try #require(RelayProgram.path),
            words + ["--database", directory.path("relay.db")],
            environment: ["PATH": "/usr/bin:/bin"])
    }

    /// A second machine with a copy of the first one's vault.
    private func machines() throws -> (first: Machine, second: Machine) {
        try platform.set("KEY", "value")
        done(try platform.runner(["push", "-p", "web", "--yes"]).run())
        let other = try CommandHome()
        try other.directory.makeDirectory("data/zg-env")
        try other.directory.write(
            try platform.home.vaultBytes(), to: "data/zg-env/vault.zgv", mode: 0o600)
        return (
            Machine(home: platform.home, desktop: try NotificationServer(), url: platform.url),
            Machine(home: other, desktop: try NotificationServer(), url: platform.url)
        )
    }

    private func join(_ machine: Machine) throws {
        let invite = try json(relay("invite", "--account", account, "--json").run())
        let code = try #require(invite["invite"]?.text)
        done(
            try machine.runner(
                "postal", "join", "http://127.0.0.1:\(port)", input: .text(code + "\n")
            ).run())
    }

    /// Runs `notify run` on a machine while `body` runs.
    private func watching(_ machine: Machine, _ body: @escaping () -> Void) throws -> ProgramResult
    {
        var runner = machine.runner("notify", "run", "--every", "1h", "--every-building", "1h")
        runner.timeLimit = .seconds(200)
        runner.script = [(.now, .call { _, _ in body() }), (.now, .signal(SIGTERM))]
        return try runner.run()
    }

    /// Waits until the relay reports that number of open streams.
    private func waitForStreams(_ count: Int) {
        for _ in 0..<300 {
            let fetched = try? ProgramRunner(
                path: "/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/metrics"],
                environment: [:]
            ).run().output
            let open = fetched?.split(separator: "\n").first {
                $0.hasPrefix("zg_postal_streams ")
            }
            if let open, open.hasSuffix(" \(count)") { return }
            usleep(50_000)
        }
    }

    private func deploy(_ target: String) throws {
        let source = try #require(try platform.deployments().first)
        try platform.teammate.send(
            "POST", "/v13/deployments?forceNew=1",
            target == "production"
                ? ["name": "web", "deploymentId": .string(source), "target": "production"]
                : ["name": "web", "deploymentId": .string(source)])
    }

    @Test func `each desktop shows its selected events, and list knows that it is behind`() throws {
        let (first, second) = try machines()
        var problems: [String] = []
        var states: [String?] = []
        var latency = Duration.zero
        var serve = try relay(
            "serve", "--listen", "127.0.0.1:\(port)", "--webhook-secrets",
            directory.path("hooks"))
        serve.timeLimit = .seconds(240)
        serve.script = [
            (
                .output("Serving at"),
                .call { _, _ in
                    do {
                        try join(first)
                        try join(second)
                        let made = try json(
                            first.runner(
                                "webhook", "create", "--postal", "--all-projects", "--json",
                                "--credential-file", directory.path("hooks/new")
                            ).run())
                        let hook = try #require(made["hook"]?.text)
                        try FileManager.default.moveItem(
                            atPath: directory.path("hooks/new"),
                            toPath: directory.path("hooks/webhook.\(hook)"))
                        done(try first.runner("notify", "set", "web", "--on", "ready,failed").run())
                        done(
                            try second.runner(
                                "notify", "set", "web", "--on", "ready,failed",
                                "--production-only"
                            ).run())
                        problems += try watchBoth(first, second, &states, &latency)
                    } catch { problems.append("\(error)") }
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let result = try serve.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(problems == [])
        #expect(
            Set(first.desktop.shown.map(\.title)) == [
                "web: ready (preview)", "web: ready (production)",
            ])
        #expect(first.desktop.shown.count == 2 && second.desktop.shown.count == 1)
        #expect(second.desktop.shown.map(\.title) == ["web: ready (production)"])
        #expect(states == ["synced", "synced", "behind"])
        print("from the webhook to the desktop: \(latency)")
        // The relay stores only ciphertext.
        let project = try #require(
            try platform.teammate.send("GET", "/v9/projects/web")["id"]?.string)
        for name in ["relay.db", "relay.db-wal"] {
            let bytes = (try? directory.read(name)) ?? []
            for text in [project, "feature", "vercel.app"] {
                #expect(bytes.firstRange(of: Array(text.utf8)) == nil, "\(name) has \(text)")
            }
        }
    }

    private func watchBoth(
        _ first: Machine, _ second: Machine, _ states: inout [String?], _ latency: inout Duration
    ) throws -> [String] {
        var problems: [String] = []
        var (seen, time): ([String?], Duration) = ([], .zero)
        let result = try watching(first) {
            do {
                let other = try watching(second) {
                    do {
                        waitForStreams(2)
                        usleep(2_000_000)
                        try deploy("preview")
                        _ = first.desktop.wait(for: 1)
                        let begun = ContinuousClock.now
                        try deploy("production")
                        _ = second.desktop.wait(for: 1)
                        _ = first.desktop.wait(for: 2)
                        time = .now - begun
                        seen.append(try second.state())
                        // One machine pushes; the other learns of it, and the first stays in sync.
                        try platform.set("KEY", "another")
                        done(try platform.runner(["push", "-p", "web", "--yes"]).run())
                        let behind = try second.waitForState("behind")
                        seen += [try first.state(), behind]
                    } catch { problems.append("\(error)") }
                }
                if other.end != .exited(143) { problems.append("second: \(other.error)") }
            } catch { problems.append("\(error)") }
        }
        if result.end != .exited(143) { problems.append("first: \(result.error)") }
        (states, latency) = (seen, time)
        return problems
    }

    // MARK: The live view

    @Test
    func `the live view gets events at once, also from another process's stream`()
        throws
    {
        let (first, second) = try machines()
        var problems: [String] = []
        var serve = try relay(
            "serve", "--listen", "127.0.0.1:\(port)", "--webhook-secrets",
            directory.path("hooks"))
        serve.timeLimit = .seconds(240)
        serve.script = [
            (
                .output("Serving at"),
                .call { _, _ in
                    do {
                        try join(first)
                        try join(second)
                        let made = try json(
                            first.runner(
                                "webhook", "create", "--postal", "--all-projects", "--json",
                                "--credential-file", directory.path("hooks/new")
                            ).run())
                        let hook = try #require(made["hook"]?.text)
                        try FileManager.default.moveItem(
                            atPath: directory.path("hooks/new"),
                            toPath: directory.path("hooks/webhook.\(hook)"))
                        done(try first.runner("notify", "set", "web", "--on", "ready").run())
                        problems += try showBoth(first, second)
                    } catch { problems.append("\(error)") }
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let result = try serve.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(problems == [])
    }

    /// One machine shows a screen; the other prints lines while `notify run` runs beside it.
    /// Neither polls within an hour.
    private func showBoth(_ first: Machine, _ second: Machine) throws -> [String] {
        var problems: [String] = []
        let shell = second.runner()
        let terminal = try TmuxTerminal(
            environment: shell.environment, columns: 80, rows: 24,
            workingDirectory: shell.workingDirectory)
        try terminal.run("\(shell.path) watch -p web --every 1h --every-building 1h")
        try terminal.wait(for: "READY, live")
        try terminal.press("Enter")
        try terminal.wait(for: "zg-env: web")
        var lines = first.runner(
            "watch", "--json", "--every", "1h", "--every-building", "1h")
        lines.timeLimit = .seconds(200)
        lines.script = [
            (.output("\"kept\":false"), .call { _, _ in waitForStreams(2) }),
            (
                .now,
                .call { _, _ in
                    do { problems += try tellBeside(first) } catch { problems.append("\(error)") }
                }
            ),
            (.output("\"event\":\"ready\""), .call { _, _ in }),
            (.output("\"event\":\"live\""), .call { _, _ in }), (.now, .signal(SIGTERM)),
        ]
        let printed = try lines.run()
        if printed.end != .exited(143) { problems.append("lines: \(printed.error)") }
        let made = try #require(try platform.deployments().first)
        if printed.output.ranges(of: "\"event\":\"ready\"").count != 1
            || !printed.output.contains(made)
        {
            problems.append(printed.output)
        }
        try terminal.wait(for: String(made.prefix(16)))
        try terminal.wait("what serves production") {
            terminal.screen.split(separator: "\n").contains {
                $0.contains(made.prefix(16)) && $0.contains("READY, live")
            }
        }
        try terminal.press("q")
        try terminal.wait("the shell") { !terminal.isAlternate }
        return problems
    }

    /// `notify run` on a machine where another process reads the relay's stream.
    private func tellBeside(_ machine: Machine) throws -> [String] {
        var runner = machine.runner(
            "notify", "run", "--no-desktop", "--json", "--every", "1h", "--every-building", "1h")
        runner.timeLimit = .seconds(120)
        runner.script = [
            (
                .now,
                .call { _, _ in
                    usleep(3_000_000)
                    try? deploy("production")
                }
            ),
            (.output("\"event\":\"ready\""), .signal(SIGTERM)),
        ]
        let result = try runner.run()
        return result.end == .exited(143) ? [] : ["beside: \(result.error)\(result.output)"]
    }
}
