internal import JSON
import Sandbox
import TestSupport
import Testing

@testable import ZGEnvCommands

extension LeakTests {
    /// Commands that talk to Vercel; see ``commands``.
    static let platformCommands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "login": { witness in
            try onVercel(witness) { server, run in
                try run(["login", "--name", "work"], 0, nil)
                try run(["login", "--json"], 6, witness.typed.text)
                try run(["logout", "--all"], 0, nil)
            }
        },
        "logout": { witness in
            try onVercel(witness) { _, run in
                try run(["login", "--name", "home"], 0, nil)
                try run(["logout", "--account", "home", "--json"], 0, nil)
            }
        },
        "account list": { witness in
            try onVercel(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["account", "list", "--refresh", "--json"], 0, nil)
                try run(["account", "list"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "account use": { witness in
            try onVercel(witness) { _, run in
                try run(["login", "--name", "work"], 0, nil)
                try run(["account", "use", "work", "--team", "acme", "--json"], 0, nil)
                try run(["account", "use", witness.argument.text], 4, nil)
                try run(["logout"], 0, nil)
            }
        },
        "project list": { witness in
            try onVercel(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["project", "list", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "project create": { witness in
            try onVercel(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["project", "create", "created", "--json"], 0, nil)
                try run(["project", "create", "created"], 5, nil)
                try run(["project", "create", witness.argument.text + "!"], 2, nil)
                try run(["logout"], 0, nil)
            }
        },
        "open": { witness in
            try onVercel(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["open", "latest", "-p", "web", "--json"], 0, nil)
                try run(["open", witness.argument.text, "-p", "web"], 4, nil)
                try run(["logout"], 0, nil)
            }
        },
        "link": { witness in
            try onVercel(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["link", "web", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "push": { witness in
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["push", "-p", "web", "--dry-run", "--json"], 0, nil)
                server.setFaults([Fault("POST */env 400 x1")].compactMap { $0 })
                try run(["push", "-p", "web", "--yes", "--json"], 1, nil)
                try run(["push", "-p", "web", "--yes"], 0, nil)
                try run(["set", "PUSHED", "-p", "web", "--push", "--yes"], 0, witness.typed.text)
                try run(["rm", "PUSHED", "-p", "web", "--push", "--yes"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "deployment list": { witness in
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { _, run in
                try run(["login"], 0, nil)
                try run(["webhook", "list", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "webhook create": { witness in
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { _, run in
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
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["set", "HARD", "-p", "web", "--push", "--yes"], 0, witness.typed.text)
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
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
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["redeploy", "-p", "web", "--wait", "--yes", "--json"], 0, nil)
                server.setBuild(.fail)
                try run(["redeploy", "-p", "web", "--wait", "--yes"], 9, nil)
                try run(["logout"], 0, nil)
            }
        },
    ]

    /// The live deployment of `web`.
    private static func live(_ witness: LeakWitness) throws -> String {
        let platform = try witness.platform()
        let project = try SandboxCaller(url: platform.url, token: platform.token)
            .send("GET", "/v9/projects/web")
        return try #require(project["targets"]?["production"]?["id"]?.string)
    }

    /// Runs `body` with a sandbox and a closure that runs commands against it, with the token on
    /// stdin unless other input is given.
    static func onVercel(
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

/// Keeps a sandbox with a project `web` running while it is referenced.
final class LeakSandbox {
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
