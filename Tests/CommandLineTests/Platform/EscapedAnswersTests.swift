import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

@testable import ZGEnvCommands

/// A sandbox that adds terminal control characters to everything it returns.
///
/// Each command with each kind of answer on a pipe, as JSON or on a terminal, as the seed selects;
/// with ZG_ENV_PROOF=full in every way.
@Suite("Responses with escape sequences")
struct EscapedAnswersTests {
    /// The state that a command is run on.
    private struct Subject {
        let platform: SandboxHome
        /// The live deployment, one before it, and a preview.
        let (current, earlier, preview): (String, String, String)
        let webhook: String
    }

    private struct Case {
        let arguments: (Subject) -> [String]
        let input: String?
        /// Whether `web` is shared with a group first.
        let isShared: Bool
        /// Ends it with a signal after that many requests.
        let requests: Int?
        /// The kinds of output: a screen needs a terminal, and event output is the same for each.
        let ways: [String]

        init(
            _ words: String..., input: String? = nil, shared isShared: Bool = false,
            requests: Int? = nil,
            ways: [String] = ["piped", "json", "terminal"],
            with more: @escaping (Subject) -> [String] = { _ in [] }
        ) {
            arguments = { words + more($0) }
            (self.input, self.requests, self.ways) = (input, requests, ways)
            self.isShared = isShared
        }
    }

    /// The runs of each command that talks to Vercel.
    private static var cases: [String: [Case]] {
        [
            "login": [Case("login", "--name", "second", input: "token")],
            "logout": [Case("logout", "--all")],
            "account list": [Case("account", "list", "--refresh")],
            "account use": [Case("account", "use", "dev", "--team", "acme")],
            "project list": [
                Case("project", "list", "--refresh"),
                Case("project", "list", "--refresh", "--team", "acme"),
            ],
            "project create": [
                Case("project", "create", "fresh"), Case("project", "create", "bare"),
            ],
            "link": [
                Case("link", "web", "--as", "linked"), Case("link", "api", "--team", "acme"),
                Case("link", "none"),
            ],
            "status": [Case("status", "--refresh"), Case("status")],
            "list": [
                Case("list", "-p", "web", "--refresh"), Case("list", "--all-projects", "--refresh"),
            ],
            "show": [Case("show", "KEY", "-p", "web", "--refresh")],
            "reveal": [Case("reveal", "SEED_ONLY", "-p", "web", "--remote")],
            "diff": [Case("diff", "--remote", "-p", "web")],
            "set": [Case("set", "SENT", "-p", "web", "--push", "--yes", input: "value")],
            "rm": [Case("rm", "KEY", "-p", "web", "--push", "--yes")],
            "import": [
                Case("import", "-", "-p", "web", "--push", "--yes", input: "IMPORTED=value\n")
            ],
            "pull": [
                Case("pull", "-p", "web", "--yes"), Case("pull", "--all-projects", "--yes"),
                Case("pull", "-p", "bare", "--yes"),
            ],
            "push": [
                Case("push", "-p", "web", "--yes"), Case("push", "-p", "web", "--dry-run"),
                Case("push", "-p", "web", "--yes", "--redeploy"),
            ],
            "harden": [Case("harden", "-p", "web", "--yes")],
            "rotate": [
                Case(
                    "rotate", "KEY", "-p", "web", "--yes", "--redeploy", "--timeout", "5s",
                    "--apply",
                    "cat >/dev/null",
                    "--check", "cat >/dev/null", input: "rotated"),
                Case("rotate", "--status"), Case("rotate", "--abort", "--yes"),
            ],
            "redeploy": [
                Case("redeploy", "-p", "web", "--yes", "--wait", "--logs", "--timeout", "5s"),
                Case("redeploy", "-p", "web", "--yes"),
                Case("redeploy", "--yes", "--wait", "--timeout", "5s") { [$0.preview] },
            ],
            "deployment list": [
                Case("deployment", "list", "-p", "web"),
                Case("deployment", "list", "-p", "web", "--failed"),
            ],
            "deployment show": [Case("deployment", "show") { [$0.current] }],
            "deployment logs": [
                Case("deployment", "logs") { [$0.current] },
                Case("deployment", "logs", "--follow") { [$0.current] },
            ],
            "deployment promote": [
                Case("deployment", "promote", "--yes", "--timeout", "5s") { [$0.current] },
                Case("deployment", "promote", "--yes", "--timeout", "5s") { [$0.earlier] },
                Case("deployment", "promote", "--yes", "--timeout", "5s") { [$0.preview] },
            ],
            "deployment rollback": [
                Case("deployment", "rollback", "--yes", "--timeout", "5s"),
                Case("deployment", "rollback", "--yes", "--timeout", "5s") { [$0.current] },
            ],
            "deployment cancel": [Case("deployment", "cancel", "--yes") { [$0.preview] }],
            "deployment delete": [
                Case("deployment", "delete", "--yes") { [$0.preview, $0.current] }
            ],
            "webhook list": [Case("webhook", "list")],
            "webhook create": [
                Case("webhook", "create", "https://x.example/hook", "-p", "web", "--yes")
            ],
            "webhook delete": [Case("webhook", "delete", "--yes") { [$0.webhook] }],
            "watch": [Case("watch", "--every", "5s", requests: 2, ways: ["json", "terminal"])],
            "notify set": [Case("notify", "set", "bare", "--on", "ready")],
            "notify show": [Case("notify", "show")],
            "notify run": [
                Case(
                    "notify", "run", "--no-desktop", "--every", "5s", "--every-building", "5s",
                    "--verbose", requests: 1, ways: ["json"])
            ],
            "exposure": [Case("exposure", "--since", "0s")],
            "group exposure": [Case("group", "exposure", "me", shared: true)],
            "open": [
                Case("open", "latest", "-p", "web"), Case("open", "-p", "web", "--dashboard"),
            ],
            "doctor": [Case("doctor", "-p", "web")],
            "check": [
                Case(
                    "check", "-p", "web", "--schema", "schema", "--on", "vault,vercel,live", "-t",
                    "production")
            ],
        ]
    }

    /// Commands that never talk to Vercel: for the vault, files, a relay or the desktop.
    private static let others: Set<String> = [
        "share", "sync", "group invite", "group join", "group show", "group adopt",
        "group accept", "resolve",
        "group role", "group remove", "group leave",
        "init", "try", "projects", "unlock", "lock", "__unlocked", "__strength", "passwd",
        "slot list",
        "slot add",
        "slot remove",
        "rekey", "verify", "backup", "restore", "log", "config get", "config set", "config unset",
        "config list",
        "__clear-clipboard", "edit", "export", "convert", "copy", "run", "scan", "history",
        "restore-version", "history prune", "rename", "project rename", "project remove",
        "notify test", "notify install", "postal join", "postal status", "postal leave",
        "completion", "__complete", "__manual",
    ]

    private static func subject() throws -> Subject {
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme", "name": "Acme"}],
                 "projects": [
                   {"name": "web", "customEnvironments": [{"slug": "qa", "type": "preview"}],
                    "env": [{"key": "SEED_ONLY", "value": "seed", "target": ["production"],
                             "comment": "a note"}],
                    "deployments": [{"target": "production"}, {"target": "production"},
                                    {"target": "preview", "branch": "feature"}]},
                   {"name": "api", "team": "acme", "deployments": [{"target": "production"}]},
                   {"name": "bare"}]}
                """, buildSeconds: 0.05)
        try platform.set("KEY", "value", "-t", "production")
        done(try platform.push())
        try platform.set("KEY", "value2", "-t", "production")
        done(try platform.run("notify", "set", "web", "--on", "started,ready,failed"))
        try platform.home.directory.write("KEY=\nSEED_ONLY=\nMISSING=\n", to: "work/schema")
        let ids = try platform.deployments()
        let webhook = try platform.teammate.send(
            "POST", "/v1/webhooks",
            ["url": "https://x.example/old", "events": ["deployment.created"]])
        return Subject(
            platform: platform, current: ids[1], earlier: ids[2], preview: ids[0],
            webhook: try #require(webhook["id"]?.string))
    }

    /// The control and bidirectional formatting characters in a command's output.
    private static func unsafe(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A, 0x09: false
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
                true
            default: false
            }
        }.map { "U+" + String($0.value, radix: 16) }
    }

    private static func share(_ platform: SandboxHome) throws {
        let place = try platform.home.directory.makeDirectory("place")
        done(
            try platform.runner([
                "share", "web", "--group", "acme", "--as", "me", "--at", place, "--yes",
            ]).run())
    }

    /// The same for a terminal, where lines end with CR LF and progress lines are erased.
    private static func unsafeOnTerminal(_ bytes: [UInt8]) -> [String] {
        var text = String(decoding: bytes, as: UTF8.self)
        for legitimate in ["\u{1B}[K", "\u{1B}[2K", "\r"] {
            text = text.replacingOccurrences(of: legitimate, with: "")
        }
        return unsafe(Array(text.utf8))
    }

    /// Sequences that the sandbox added and that no `watch` screen uses itself.
    private static func holdsInjected(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains("\u{1B}]0;PWN") || text.contains("\u{202E}")
            || text.contains("\u{9B}32m")
    }

    @Test(
        "SEC-F10: no response controls the terminal, whatever the command",
        arguments: CommandTable.paths.map { $0.joined(separator: " ") })
    func escapes(name: String) throws {
        if Self.others.contains(name) { return }
        var random = ProofRandom(71)
        let cases = try #require(Self.cases[name], "\(name) has no run with escape sequences")
        for (number, entry) in cases.enumerated() {
            var subject = try Self.subject()
            for fault in ["escapes:400", "escapes:all", "escapes"] {
                // Changes by the earlier faults must not interfere.
                if fault == "escapes" { subject = try Self.subject() }
                let platform = subject.platform
                if entry.isShared, fault != "escapes:all" { try Self.share(platform) }
                platform.server.setFaults([try #require(Fault("* * \(fault)"))])
                for way in Proof.sample(entry.ways, short: 1, using: &random) {
                    var runner = platform.runner(
                        entry.arguments(subject) + (way == "json" ? ["--json"] : []),
                        input: entry.input.map { .text($0 == "token" ? platform.token : $0) }
                            ?? .null,
                        environment: ["NO_COLOR": "1", "TERM": "xterm"])
                    if way == "terminal" {
                        runner.terminal = .init()
                        runner.terminal?.columns = 200
                        runner.output = .terminal
                        runner.error = .terminal
                        if entry.input == nil { runner.input = .terminal }
                    }
                    if let requests = entry.requests {
                        let before = platform.server.requests.count
                        let wait = ProgramRunner.Action.call { _, _ in
                            platform.server.waits(after: before) { $0.count >= requests }
                            // Something to report, if a response was understood.
                            _ = try? platform.teammate.send(
                                "POST", "/v13/deployments?forceNew=1",
                                [
                                    "name": "web", "deploymentId": .string(subject.current),
                                    "target": "production",
                                ])
                        }
                        let tells = name == "notify run" && fault == "escapes"
                        runner.script = [
                            (.now, wait),
                            (tells ? .output("\"event\"") : .now, .signal(SIGTERM)),
                        ]
                    }
                    let result = try runner.run()
                    let place: Comment =
                        "\(name) #\(number), \(fault), \(way), \(random.seedText): \(result.end)"
                    #expect(!result.timedOut, place)
                    #expect(Self.unsafe(result.standardOutput) == [], place)
                    #expect(Self.unsafe(result.standardError) == [], place)
                    let screen = result.terminal
                    #expect(!Self.holdsInjected(screen), place)
                    if name != "watch" {
                        #expect(Self.unsafeOnTerminal(screen) == [], place)
                    }
                }
            }
        }
    }

    @Test("SEC-F10: promote and redeploy name the deployment, without what Vercel added")
    func addresses() throws {
        let subject = try Self.subject()
        try subject.platform.setFaults("* * escapes")
        for arguments in [
            ["deployment", "promote", subject.current, "--yes"],
            ["deployment", "promote", subject.earlier, "--yes", "--timeout", "20s"],
            ["deployment", "rollback", subject.current, "--yes"],
            ["redeploy", "-p", "web", "--yes"],
        ] {
            let result = done(try subject.platform.runner(arguments).run())
            #expect(result.output.hasPrefix("https://web-"), "\(arguments): \(result.output)")
            #expect(Self.unsafe(result.standardOutput) == [])
        }
    }
}
