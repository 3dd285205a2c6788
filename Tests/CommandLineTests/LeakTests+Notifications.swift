import Foundation
import Sandbox
import TestSupport
import Testing

extension LeakTests {
    /// Notification commands; see ``commands``.
    static let notificationCommands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "notify set": { witness in
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["notify", "set", "web", "--on", "ready,failed", "--json"], 0, nil)
                try run(["notify", "set", "web", "--on", witness.argument.text], 2, nil)
                try run(["notify", "set", "web", "--off"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "notify show": { witness in
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["notify", "set", "web", "--on", "failed"], 0, nil)
                try run(["notify", "show"], 0, nil)
                try run(["notify", "show", "--json"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "notify run": { witness in
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                try run(["notify", "set", "web", "--on", "started,ready,failed"], 0, nil)
                try run(["redeploy", "-p", "web", "--yes"], 0, nil)
                let platform = try witness.platform()
                for options in [["--json"], ["--verbose"]] {
                    var runner = witness.home.runner(
                        ["notify", "run", "--no-desktop", "--every", "5s"] + options,
                        environment: ["ZG_ENV_API_URL": platform.url])
                    let before = server.requests.count
                    runner.script = [
                        (
                            .now,
                            .call { _, _ in
                                server.waits(after: before) { $0.count >= 2 }
                            }
                        ), (.now, .signal(SIGTERM)),
                    ]
                    try witness.run(runner, status: 143)
                }
                try run(["notify", "run", "--every", witness.argument.text], 2, nil)
                try run(["notify", "set", "web", "--off"], 0, nil)
                try run(["logout"], 0, nil)
            }
        },
        "watch": { witness in
            try onVercel(witness) { server, run in
                try run(["login"], 0, nil)
                let platform = try witness.platform()
                for options in [[], ["--verbose", "-p", "web"]] {
                    var runner = witness.home.runner(
                        ["watch", "--json", "--every", "5s"] + options,
                        environment: ["ZG_ENV_API_URL": platform.url])
                    runner.script = [
                        (.output("\"kept\":false"), .call { _, _ in }),
                        (.now, .signal(SIGTERM)),
                    ]
                    try witness.run(runner, status: 143)
                }
                try run(["watch"], 2, nil)
                try run(["watch", "--every", witness.argument.text], 2, nil)
                try run(["logout"], 0, nil)
            }
        },
        "notify test": { witness in
            try witness.run(["notify", "test"], status: 7)
            try witness.run(["notify", "test", "--json"], status: 7)
        },
        "notify install": { witness in
            try witness.run(["notify", "install", "--dry-run"])
            try witness.run(["notify", "install", "--json"])
            try witness.run(["notify", "install", "--every", witness.argument.text], status: 2)
        },
    ]
}
