import Sandbox
import TestSupport
import Testing

@testable import ZGEnvCommands

extension LeakTests {
    /// Commands of the vault and its history; see ``commands``.
    static let furtherCommands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "edit": { witness in
            let (good, bad) = (witness.typed.text, witness.malformed.text)
            let values = try witness.write(
                "KEY=\(good)\nNEW='\(good)'\nPEM=-----BEGIN KEY-----\(good)\n", to: "values")
            let broken = try witness.write("KEY=\(bad)\n\(bad)\nKEY=\(bad)\n", to: "broken")
            for (file, more, status) in [
                (values, ["--yes"], 0), (values, ["--json", "--dry-run"], 0), (broken, [], 2),
            ] as [(String, [String], Int32)] {
                var runner = try witness.home.editing(
                    ["-p", "web"] + more,
                    with: "sh " + witness.write("cat \(file) >\"$1\"", to: "editor"),
                    script: status == 0 ? [] : [(.terminal("Throw the text away?"), .line("y"))])
                runner.environment["TMPDIR"] = witness.home.directory.path
                try witness.run(runner, status: status)
            }
        },
        "completion": { witness in
            try witness.run(["completion", "bash"])
            try witness.run(["completion", witness.argument.text], status: 2)
        },
        "__complete": { witness in
            try witness.run(["-p", "web", "__complete", "variable"])
            try witness.run(["__complete", "variable", "--", witness.argument.text])
        },
        "__manual": { witness in
            let directory = try witness.home.directory.makeDirectory("manual")
            try witness.run(["__manual", directory])
        },
        "doctor": { witness in
            try witness.run(["doctor", "--offline"])
            try witness.run(["doctor", "--offline", "--json", "--verbose"])
        },
        "history": { witness in
            try witness.run(["history", "KEY", "-p", "web"])
            try witness.run(["history", "KEY", "-p", "web", "--json"])
            try witness.run(["reveal", "KEY", "-p", "web", "--version", "1"], givesOut: true)
        },
        "history prune": { witness in
            try witness.run(["history", "prune", "KEY", "-p", "web", "--yes", "--json"])
        },
        "restore-version": { witness in
            try witness.run(["restore-version", "KEY", "--version", "1", "-p", "web"])
            try witness.run(["restore-version", "KEY", "--version", "999", "-p", "web"], status: 4)
        },
        "convert": { witness in
            let text =
                "A=\(witness.typed.text)\nB=x#\(witness.typed.text)\nCUT='\(witness.typed.text)\n"
            try witness.run(
                ["convert", "-", "--format", "json"], input: .text(text), givesOut: true)
            try witness.run(["convert", "-", "--dry-run", "--json"], input: .text(text))
            try witness.run(["convert", "-", "--strict"], input: .text(text), status: 2)
            let lines = "A='\(witness.malformed.text)\n\(witness.malformed.text)'\n"
            try witness.run(
                ["convert", "-", "--format", "docker"], input: .text(lines), status: 2)
            try witness.run(
                ["convert", "-", "--dialect", "shell"],
                input: .text("A=$(\(witness.malformed.text))\n"), status: 2)
        },
        "diff": { witness in
            let text = "KEY=\(witness.typed.text)\nNEW=\(witness.typed.text)\n"
            let diff = ["diff", "-", "-p", "web"]
            try witness.run(diff, input: .text(text))
            try witness.run(diff + ["--json", "--exit-code"], input: .text(text), status: 1)
            try witness.run(diff + ["--names", "--verbose"], input: .text(text))
        },
        "copy": { witness in
            try witness.run(["copy", "KEY", "-p", "web", "--to-project", "copied"])
            try witness.run(["copy", "KEY", "-p", "web", "--to-target", "preview", "--json"])
            try witness.run(
                ["copy", "KEY=\(witness.argument.text)", "-p", "web", "--to-target", "preview"],
                status: 2)
        },
        "rename": { witness in
            try witness.run(["set", "OLD", "-p", "web"], input: .text(witness.typed.text))
            try witness.run(["rename", "OLD", "RENAMED", "-p", "web", "--json"])
            try witness.run(
                ["rename", "RENAMED", "A=\(witness.argument.text)", "-p", "web"], status: 2)
        },
        "project rename": { witness in
            try witness.run(["set", "KEY", "-p", "first"], input: .text(witness.typed.text))
            try witness.run(["project", "rename", "first", "second"])
        },
        "project remove": { witness in
            try witness.run(["set", "KEY", "-p", "gone"], input: .text(witness.typed.text))
            try witness.run(["project", "remove", "gone", "--yes", "--json"])
        },
        "log": { witness in
            try witness.run(["reveal", "KEY", "-p", "web"], givesOut: true)
            try witness.run(["log"])
            try witness.run(["log", "--json", "--limit", "3"])
            try witness.run(["log", "--accept", "--yes"])
        },
        "config get": { witness in
            try witness.run(["config", "get", "kdf", "--json"])
            try witness.run(["config", "get", witness.argument.text], status: 2)
        },
        "config set": { witness in
            try witness.run(["config", "set", "history-keep", "12"])
            for key in Setting.allCases where key != .defaultTarget {
                try witness.run(
                    ["config", "set", key.rawValue, witness.argument.text], status: 2)
            }
        },
        "config list": { witness in
            try witness.run(["config", "list"])
            try witness.run(["config", "list", "--json"])
        },
        "unlock": { witness in
            try witness.run(["unlock", "--scope", "user", "--for", "1m"])
            try witness.run(["run", "-p", "one", "--", "true"])
            try witness.run(["lock"])
        },
        "lock": { witness in
            try witness.run(["lock", "--json"])
        },
        "verify": { witness in
            try witness.run(["verify"])
            try witness.run(["verify", "--json"])
            try witness.run(["verify", "--accept-older", "--yes", "--json"])
        },
        "backup": { witness in
            try witness.run(["backup", "copy.zgv"])
            try witness.run(["backup", "copy.zgv", "--json"], status: 5)
        },
        "restore": { witness in
            try witness.run(["backup", "again.zgv"])
            try witness.run(["restore", "again.zgv", "--yes", "--json"])
        },
        "slot list": { witness in
            try witness.run(["slot", "list"])
            try witness.run(["slot", "list", "--json"])
        },
        "slot add": { witness in
            // The second passphrase is the first: the same marker must stay hidden.
            let file = try witness.write(witness.passphrase.text, to: "new-passphrase")
            try witness.run([
                "slot", "add", "passphrase", "--kdf", "8MiB,1", "--new-passphrase-file", file,
            ])
            _ = try witness.write("", to: "work/slot.key")
            try witness.run(["slot", "add", "file", "slot.key"], status: 5)
            try witness.run(["slot", "add", witness.argument.text], status: 2)
        },
        "slot remove": { witness in
            try witness.run(["slot", "remove", "ffff"], status: 4)
        },
        "passwd": { witness in
            let file = try witness.write(witness.passphrase.text, to: "same-passphrase")
            try witness.run(["passwd", "--new-passphrase-file", file, "--json"])
        },
        "rekey": { witness in
            try witness.run(["rekey", "--dry-run"])
            try witness.run(["rekey", "--yes", "--json"])
        },
    ]

    /// Commands of the platform; see ``commands``.
    static let platformCommands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "login": { witness in
            try onPlatform(witness) { server, run in
                try run(["login", "--name", "work"], 0, nil)
                try run(["login", "--json"], 6, witness.typed.text)
                try run(["logout", "--all"], 0, nil)
            }
        },
        "logout": { witness in
            try onPlatform(witness) { _, run in
                try run(["login", "--name", "home"], 0, nil)
                try run(["logout", "--account", "home", "--json"], 0, nil)
            }
        },
        "account list": { witness in
            try onPlatform(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["account", "list", "--refresh", "--json"], 0, nil)
                try run(["account", "list"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "account use": { witness in
            try onPlatform(witness) { _, run in
                try run(["login", "--name", "work"], 0, nil)
                try run(["account", "use", "work", "--team", "acme", "--json"], 0, nil)
                try run(["account", "use", witness.argument.text], 4, nil)
                try run(["logout"], 0, nil)
            }
        },
        "project list": { witness in
            try onPlatform(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["project", "list", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "link": { witness in
            try onPlatform(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["link", "web", "--as", "linked", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "push": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["push", "-p", "web", "--dry-run", "--json"], 0, nil)
                server.setFaults([Fault("POST */env 400 x1")].compactMap { $0 })
                try run(["push", "-p", "web", "--yes", "--json"], 1, nil)
                try run(["push", "-p", "web", "--yes"], 0, nil)
                try run(["set", "PUSHED", "-p", "web", "--push"], 0, witness.typed.text)
                try run(["rm", "PUSHED", "-p", "web", "--push", "--yes"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment list": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["deployment", "list", "-p", "web"], 0, nil)
                try run(["deployment", "list", "-p", "web", "--json", "--offline"], 0, nil)
                server.setFaults([Fault("GET * 500")].compactMap { $0 })
                try run(["deployment", "list", "-p", "web", "--failed"], 7, nil)
                try run(["deployment", "list", "--state", witness.argument.text], 2, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment show": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                server.setFaults([Fault("* * 500")].compactMap { $0 })
                try run(["deployment", "show", "dpl_1", "--yes"], 7, nil)
                server.setFaults([])
                let id = try live(witness)
                try run(["deployment", "show", id], 0, nil)
                try run(["deployment", "show", id, "--json"], 0, nil)
                try run(["deployment", "show", witness.argument.text], 4, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment logs": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                server.setFaults([Fault("* * 500")].compactMap { $0 })
                try run(["deployment", "logs", "dpl_1", "--yes"], 7, nil)
                server.setFaults([])
                let id = try live(witness)
                try run(["deployment", "logs", id], 0, nil)
                try run(["deployment", "logs", id, "--follow", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment promote": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                server.setFaults([Fault("* * 500")].compactMap { $0 })
                try run(["deployment", "promote", "dpl_1", "--yes"], 7, nil)
                server.setFaults([])
                let id = try live(witness)
                try run(["deployment", "promote", id, "--dry-run"], 0, nil)
                try run(["deployment", "promote", id, "--yes", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment rollback": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                server.setFaults([Fault("* * 500")].compactMap { $0 })
                try run(["deployment", "rollback", "dpl_1", "--yes"], 7, nil)
                server.setFaults([])
                let id = try live(witness)
                try run(["redeploy", "-p", "web", "--wait", "--yes"], 0, nil)
                try run(["deployment", "rollback", "-p", "web", "--dry-run", "--json"], 0, nil)
                try run(["deployment", "rollback", "-p", "web", "--yes"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment cancel": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                server.setFaults([Fault("* * 500")].compactMap { $0 })
                try run(["deployment", "cancel", "dpl_1", "--yes"], 7, nil)
                server.setFaults([])
                let id = try live(witness)
                try run(["deployment", "cancel", id, "--yes", "--json"], 5, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment delete": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                server.setFaults([Fault("* * 500")].compactMap { $0 })
                try run(["deployment", "delete", "dpl_1", "--yes"], 7, nil)
                server.setFaults([])
                let id = try live(witness)
                try run(["deployment", "delete", id, "--yes"], 5, nil)
                try run(["deployment", "delete", witness.argument.text, "--yes"], 4, nil)
                try run(["logout"], 0, nil)
            }
        },
        "webhook list": { witness in
            try onPlatform(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["webhook", "list", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "webhook create": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                let url = "https://relay.example/hook"
                try run(["webhook", "create", url, "-p", "web", "--json"], 0, nil)
                server.setFaults([Fault("POST */webhooks truncate x1")].compactMap { $0 })
                try run(["webhook", "create", url, "-p", "web", "--event", "deployment"], 7, nil)
                try run(["webhook", "create", witness.argument.text, "-p", "web"], 2, nil)
                try run(["logout"], 0, nil)
            }
        },
        "webhook delete": { witness in
            let platform = try witness.platform()
            let teammate = SandboxCaller(url: platform.url, token: platform.token)
            try onPlatform(witness) { _, run in
                try run(["login"], 0, nil)
                let made = try teammate.send(
                    "POST", "/v1/webhooks",
                    ["url": "https://relay.example/2", "events": ["deployment.created"]])
                let id = try #require(made["id"]?.string)
                try run(["webhook", "delete", id, "--yes"], 0, nil)
                try run(["webhook", "delete", witness.argument.text, "--yes"], 4, nil)
                try run(["logout"], 0, nil)
            }
        },
        "harden": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["set", "HARD", "-p", "web", "--push"], 0, witness.typed.text)
                try run(["harden", "HARD", "-p", "web", "--dry-run", "--json"], 0, nil)
                server.setFaults([Fault("PATCH * 400 x1")].compactMap { $0 })
                try run(["harden", "HARD", "-p", "web", "--yes", "--json"], 1, nil)
                try run(["harden", "HARD", "-p", "web", "--yes"], 0, nil)
                try run(["rm", "HARD", "-p", "web", "--all", "--push", "--yes"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "pull": { witness in
            let platform = try witness.platform()
            let teammate = SandboxCaller(url: platform.url, token: platform.token)
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                let made = try teammate.send(
                    "POST", "/v10/projects/web/env",
                    [
                        "key": "PULLED", "value": .string(witness.stored.text),
                        "type": "encrypted", "target": ["production"],
                    ])
                try run(["pull", "-p", "web", "--dry-run", "--json"], 0, nil)
                try run(["pull", "-p", "web", "--yes"], 0, nil)
                try run(["set", "PULLED", "-p", "web"], 0, witness.typed.text)
                let id = try #require(made["created"]?["id"]?.string)
                try teammate.send(
                    "PATCH", "/v9/projects/web/env/\(id)",
                    ["value": .string(witness.handed.text + "2")])
                try run(["pull", "PULLED", "-p", "web", "--yes", "--json"], 5, nil)
                server.setFaults([Fault("GET */env/* 400 x1")].compactMap { $0 })
                try run(["pull", "PULLED", "-p", "web", "--force", "--yes"], 1, nil)
                try run(["pull", "PULLED", "-p", "web", "--force", "--yes", "--json"], 0, nil)
                try run(["pull", "--all-projects", "--dry-run"], 0, nil)
                try run(["diff", "--remote", "-p", "web"], 0, nil)
                try run(["diff", "--remote", "-p", "web", "--json", "--exit-code"], 1, nil)
                try run(["diff", "--remote", "-p", "web", "--names", "-t", "production"], 0, nil)
                try teammate.send("DELETE", "/v9/projects/web/env/\(id)")
                try run(["pull", "PULLED", "-p", "web", "--yes"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "rotate": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                try run(
                    ["set", "ROTATED", "-p", "web", "-t", "production", "--push", "--yes"], 0,
                    witness.typed.text)
                let rotate = ["rotate", "ROTATED", "-p", "web", "--yes", "--redeploy"]
                let commands = [
                    "--apply", "cat >/dev/null", "--check", "cat >/dev/null; cat <&3 >/dev/null",
                ]
                for more in [[], ["--json"]] {
                    try run(rotate + commands + more, 0, witness.typed.text + "\(more.count)")
                }
                try run(["rotate", "--status", "--json"], 0, nil)
                try run(["rotate", "--status"], 0, nil)
                server.setBuild(.fail)
                try run(rotate + commands, 10, witness.typed.text + "next")
                try run(rotate + ["--json", "--apply", "exit 3"], 11, witness.typed.text + "last")
                try run(["rotate", "--resume", "--yes"], 11, nil)
                try run(["rotate", "--close", "--yes", "--json"], 0, nil)
                try run(["rotate", "ROTATED=\(witness.argument.text)", "-p", "web"], 2, nil)
                try run(["logout"], 0, nil)
            }
        },
        "redeploy": { witness in
            try onPlatform(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["redeploy", "-p", "web", "--wait", "--yes", "--json"], 0, nil)
                server.setBuild(.fail)
                try run(["redeploy", "-p", "web", "--wait", "--yes"], 9, nil)
                try run(["logout"], 0, nil)
            }
        },
    ]

    /// The deployment that serves `web`.
    private static func live(_ witness: LeakWitness) throws -> String {
        let platform = try witness.platform()
        let project = try SandboxCaller(url: platform.url, token: platform.token)
            .send("GET", "/v9/projects/web")
        return try #require(project["targets"]?["production"]?["id"]?.string)
    }

    /// Runs `body` with the platform, and a way to run commands there: with
    /// the token on stdin where no other input is given.
    static func onPlatform(
        _ witness: LeakWitness,
        _ body: (SandboxServer, ([String], Int32, String?) throws -> Void) throws -> Void
    ) throws {
        let platform = try witness.platform()
        platform.server.setFaults([])
        platform.server.setBuild(.ok)
        try body(platform.server) { arguments, status, input in
            try witness.run(
                arguments, input: .text((input ?? platform.token) + "\n"), status: status,
                environment: ["ZG_ENV_API_URL": platform.url])
        }
    }
}

/// A platform with a project `web`, as long as somebody holds it.
final class LeakPlatform {
    let server: SandboxServer
    let url: String
    let token: String

    init() throws {
        var configuration = SandboxConfiguration()
        configuration.buildSeconds = 0.1
        server = try SandboxServer(configuration: configuration)
        (url, token) = try server.start()
    }

    deinit { server.stop() }
}
