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
                    script: status == 0 ? [] : [(.terminal("Discard your edits?"), .line("y"))])
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
        "try": { witness in
            try witness.run(["try"])
            try witness.run(["try", "--json", "--verbose"])
        },
        "history": { witness in
            try witness.run(["history", "KEY", "-p", "web"])
            try witness.run(["history", "KEY", "-p", "web", "--json"])
            try witness.run(["reveal", "KEY", "-p", "web", "--version", "1"], givesOut: true)
        },
        "projects": { witness in
            try witness.run(["projects"])
            try witness.run(["projects", "--json"])
        },
        "history prune": { witness in
            try witness.run(["history", "prune", "KEY", "-p", "web", "--yes", "--json"])
        },
        "restore-version": { witness in
            try witness.run(["restore-version", "KEY", "1", "-p", "web"])
            try witness.run(["restore-version", "KEY", "999", "-p", "web"], status: 4)
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
        "config unset": { witness in
            try witness.run(["config", "unset", "history-keep"])
            try witness.run(["config", "unset", witness.argument.text], status: 2)
        },
        "check": { witness in
            let schema = try witness.write(
                "# @type=port\nKEY=\n# @sensitive\nMISSING=\(witness.handed.text)\n"
                    + "# @type=string(matches=\"^a\") @required\nPEM=\n", to: "schema")
            let check = ["check", "-p", "one", "--schema", schema]
            try witness.run(check + ["--verbose"], status: 1)
            try witness.run(check + ["--json", "--strict"], status: 1)
            try witness.run(check + ["--types", "ts"])
            try witness.run(check + ["--types", "json-schema"])
            try witness.run(check + ["--on", witness.argument.text], status: 2)
            try witness.run(check + ["KEY=" + witness.argument.text], status: 2)
            let broken = try witness.write("KEY=1\n\(witness.handed.text)\n", to: "broken")
            try witness.run(
                ["check", "-p", "one", "--schema", broken, "--notation", "env-spec"], status: 2)
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
        "exposure": { witness in
            try witness.run(["exposure", "--since", "0s"], status: 1)
            try witness.run(["exposure", "--since", "0s", "--json", "--verbose"], status: 1)
            try witness.run(["exposure", "--since", "1d"])
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
            // The second passphrase equals the first, so the same marker must stay hidden.
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
}
