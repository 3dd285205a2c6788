import Foundation
import Sealing
import SecretServiceKeyring
import TestSupport
import Testing

@testable import Vault
@testable import ZGEnvCommands

@Suite("No value leaks")
struct LeakTests {
    /// Every command by its path: ordinary use, JSON, and failures while values are involved.
    private static let commands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "init": { witness in
            try witness.run(["init"], status: 5)
            try witness.run(["init", "--kdf", "8MiB,1", "--vault", "second.zgv", "--json"])
            try witness.run(["init", "--kdf", witness.argument.text], status: 2)
        },
        "status": { witness in
            try witness.run(["status"])
            try witness.run(["status", "-p", "web", "--json", "--verbose"])
        },
        "list": { witness in
            try witness.run(["list", "-p", "web"])
            try witness.run(["list", "--all-projects", "--json"])
        },
        "show": { witness in
            try witness.run(["show", "KEY", "-p", "web"])
            try witness.run(["show", "KEY", "-p", "web", "--json"])
        },
        "reveal": { witness in
            try witness.run(["reveal", "KEY", "-p", "web"], givesOut: true)
            try witness.run(["reveal", "KEY", "-p", "web", "--json"], givesOut: true)
            try witness.run(
                ["reveal", "KEY", "-p", "web", "--format", "shell"], givesOut: true)
            try witness.run(["reveal", "KEY", "NONE", "-p", "web"], status: 4)
            // The clipboard itself gets the value; everything around it is searched too.
            let screen = try PrivateScreen()
            try witness.run(["config", "set", "clipboard-seconds", "2"])
            for more in [[], ["--json"]] {
                try witness.run(
                    ["reveal", "KEY", "-p", "web", "--copy"] + more,
                    environment: ["DISPLAY": screen.display])
            }
        },
        "set": { witness in
            let set = ["set", "KEY", "-p", "web"]
            try witness.run(set, input: .text(witness.typed.text + "\n"))
            try witness.run(set + ["--json"], input: .text("'\(witness.typed.text)' "))
            try witness.run(set + ["--strict"], input: .text(" \(witness.typed.text)"), status: 2)
            try witness.run(set + ["--dry-run"], input: .text(witness.typed.text))
            let broken = Array(witness.malformed.text.utf8)
            try witness.run(set, input: .bytes(broken + [0xFF]), status: 2)
            try witness.run(set, input: .bytes(broken + [0x00]), status: 2)
            let long = Array(repeatElement(broken, count: 1 << 16).joined())
            try witness.run(set, input: .bytes(long), status: 2)
            try witness.run(
                ["set", "NEXT_PUBLIC_TOKEN", "-p", "web"],
                input: .text("-----BEGIN KEY-----\n\(witness.typed.text)"))
            for arguments in [
                ["set", "KEY=\(witness.argument.text)"], ["set", "KEY", witness.argument.text],
                ["set", "KEY", "--value=\(witness.argument.text)"],
                ["set", "KEY", "--generate", witness.argument.text],
                ["set", "KEY", "--type", witness.argument.text],
            ] {
                try witness.run(arguments + ["-p", "web"], status: 2)
                try witness.run(arguments + ["-p", "web", "--json"], status: 2)
            }
            let file = try witness.write(witness.typed.text, to: "value")
            try witness.run(set + ["--from-file", file])
            for streams in [false, true] {
                var asked = witness.home.terminalRunner(
                    set + ["--prompt"], streams: streams,
                    script: [
                        (.terminal("Passphrase"), .line(witness.passphrase.text)),
                        (.terminal("Value of KEY"), .line(witness.typed.text)),
                    ])
                try witness.run(asked)
                asked.script[1].then = .type(Array("\(witness.typed.text)\nmore\n".utf8))
                try witness.run(asked, status: 2)
            }
        },
        "rm": { witness in
            try witness.run(["set", "GONE", "-p", "web"], input: .text(witness.typed.text))
            try witness.run(["rm", "GONE", "-p", "web"], status: 2)
            try witness.run(["rm", "GONE", "-p", "web", "--yes", "--json"])
        },
        "import": { witness in
            let (good, bad) = (witness.typed.text, witness.malformed.text)
            let file = try witness.write(
                "KEY=\(good)\nURL=x#\(good)\nCUT=\"\(good)\nB=`\(good)\nE=$\(good)\n", to: "env")
            try witness.run(["import", file, "-p", "web"])
            try witness.run(["import", file, "-p", "web", "--json"])
            try witness.run(["import", file, "-p", "web", "--strict"], status: 2)
            let commented = "# KEY=\(good)\nKEY=\(good)\nNEW=${KEY}\n"
            try witness.run(
                ["import", "-", "-p", "commented", "--comments", "--expand"],
                input: .text(commented))
            let broken = [
                "A='\(bad)\nB=2\n", "A=\"\(bad)", "A=`\(bad)\nB=2", "A = \(bad) # \(bad)",
                "A='\(bad)' \(bad)", "export A=\"\(bad)\"\(bad)", "A=$(\(bad))", "A=${\(bad)",
                "A=\"\\u\(bad)\\", "A: \(bad)", "A=\(bad)\rB=\(bad)\r\n\u{FEFF}",
            ]
            for dialect in [
                "dotenv", "node", "docker", "systemd", "shell", "portable", "vercel-pull",
            ] {
                for text in broken {
                    try witness.run(
                        ["import", "-", "-p", "broken", "--dialect", dialect], input: .text(text),
                        status: nil)
                }
            }
            // A key pasted without quotes: its lines are not names.
            let pem =
                "KEY=-----BEGIN PRIVATE KEY-----\n\(bad)\n \(bad)+/\n-----END PRIVATE KEY-----\n"
            try witness.run(["import", "-", "-p", "web"], input: .text(pem))
            try witness.run(["import", "-", "-p", "web", "--json"], input: .text(pem))
            try witness.run(
                ["import", "-", "-p", "web"], input: .bytes(Array("A=\(bad)".utf8) + [0xFF]),
                status: 2)
            try witness.run(
                ["import", "-", "-p", "web"], input: .bytes(Array("A=\(bad)".utf8) + [0]),
                status: 2)
        },
        "export": { witness in
            for format in ["dotenv", "json", "shell", "docker", "systemd", "yaml"] {
                try witness.run(
                    ["export", "-p", "one", "-t", "preview", "--format", format], givesOut: true)
            }
            try witness.run(["export", "-p", "one", "--json", "--format", "k8s"], givesOut: true)
            _ = try witness.write("", to: "work/out.env")
            try witness.run(["export", "-p", "one", "-o", "out.env"], status: 5)
            try witness.run(["export", "-p", "one", "-o", "out.env", "--force", "--json"])
            try witness.run(["export", "-p", "lines", "--format", "docker"], status: 2)
            try witness.run(["export", "-p", "one", "--dry-run"])
            try witness.run(["export", "-p", "one", "--merge", "-o", "out.env", "--json"])
            try witness.run(["export", "-p", "one", "--merge", "-o", "out.env", "--dry-run"])
        },
        "scan": { witness in
            let text = "clean\nKEY=\(witness.handed.text)\n"
            try witness.home.directory.makeDirectory("work/scanned")
            _ = try witness.write(text, to: "work/scanned/file")
            for more in [
                ["-p", "one"], ["-p", "one", "--json"],
                ["-p", "one", "--verbose", "--no-ignore"], ["--all-projects"],
            ] {
                try witness.run(["scan", "scanned"] + more, status: 1)
            }
            try witness.run(["scan", "-p", "one", "--all-projects"], status: 2)
            let encoded = Data(witness.handed.text.utf8).base64EncodedString()
            try witness.run(["scan", "-", "-p", "one"], input: .text(encoded), status: 1)
            try witness.run(
                ["scan", "-p", "one", "--min-length", witness.argument.text], status: 2)
            try witness.run(["scan", "-p", "one", "--staged"], status: 2)
            try witness.run(["scan", "-p", "one", "--install-hook"], status: 2)
        },
        "run": { witness in
            try witness.run(["run", "-p", "one", "--", "true"])
            try witness.run(["run", "-p", "one", "--dry-run", "--json", "--", "true"])
            try witness.run(["run", "-p", "one", "--", "printenv", "KEY"], givesOut: true)
            try witness.run(["run", "-p", "one", "--", "/nonexistent"], status: 127)
            try witness.run(["run", "-p", "one", "--json", "--", "/etc/passwd"], status: 126)
            try witness.run(
                ["run", "-p", "one", "--override", "--verbose", "--", "true"],
                environment: ["KEY": "of the shell"])
            try witness.run(["run", "-p", "one", "--require", "X", "--", "true"], status: 125)
            try witness.run(
                [
                    "run", "-p", "one", "--redact", "--", "sh", "-c",
                    "env; echo $KEY | base64; echo $KEY >&2",
                ])
            try witness.run(["run", "-p", "one", "--redact", "--", "/nonexistent"], status: 127)
        },
    ]

    @Test func `no command leaks a value`() throws {
        let witness = try LeakWitness()
        try witness.prepare()
        for path in CommandTable.paths {
            let name = path.joined(separator: " ")
            let body = try #require(
                Self.commands[name] ?? Self.furtherCommands[name] ?? Self.platformCommands[name]
                    ?? Self.notificationCommands[name] ?? Self.postalCommands[name]
                    ?? Self.groupCommands[name],
                "\(name) has no leak test")
            let before = witness.runs
            try body(witness)
            #expect(witness.runs > before, "\(name)")
            try witness.run(["help"] + path)
        }
        try witness.run(["--version"])
        try witness.run([witness.argument.text], status: 2)
        try witness.run(["help", witness.argument.text], status: 2)
        let leaks = try witness.finish()
        #expect(leaks == [])
    }

    @Test func `a wrong passphrase and a damaged vault leak nothing`() throws {
        let witness = try LeakWitness()
        try witness.prepare()
        let wrong = try witness.write(witness.wrongPassphrase.text, to: "wrong")
        let uses: [[String]] = [
            ["list", "-p", "web"], ["show", "KEY", "-p", "web"], ["reveal", "KEY", "-p", "web"],
            ["set", "KEY", "-p", "web"], ["rm", "KEY", "-p", "web", "--yes"],
            ["import", "-", "-p", "web"], ["export", "-p", "web"], ["status"],
        ]
        for arguments in uses {
            for more in [[], ["--json"]] {
                try witness.run(
                    arguments + more + ["--passphrase-file", wrong],
                    input: .text("A=\(witness.typed.text)"), status: 3)
            }
        }
        try witness.run(
            ["run", "-p", "one", "--passphrase-file", wrong, "--", "true"], status: 125)
        var asked = witness.home.terminalRunner(
            ["reveal", "KEY", "-p", "web"],
            script: (0..<3).map { _ in
                (.terminal("Passphrase"), .line(witness.wrongPassphrase.text))
            })
        try witness.run(asked, status: 3)
        asked.script[0].then = .type(Array("\(witness.wrongPassphrase.text)\nmore\n".utf8))
        try witness.run(asked, status: 2)

        try witness.damage("KEY", in: "lines")
        try witness.run(["reveal", "KEY", "-p", "lines"], status: 8)
        let leaks = try witness.finish()
        #expect(leaks == [])
    }

    @Test func `the keyring's key opens names and metadata, but no value`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.initialised(keyring)
        let values = ["first", "second", "imported", "removed", "note"].map { Marker($0) }
        try home.store(["KEY": values[0].text, "KEY": values[1].text, "GONE": values[3].text])
        done(
            try home.run(
                ["import", "-", "-p", "web"], input: .text("IMPORTED=\(values[2].text)\n")))
        done(
            try home.run(
                ["set", "NOTED", "-p", "web", "--comment", values[4].text], input: .text("x")))
        done(try home.run(["rm", "GONE", "-p", "web", "--yes"]))
        done(try home.run(["rename", "IMPORTED", "RENAMED", "-p", "web"]))
        let vault = try Vault(opening: home.vaultPath, in: PosixFileStore())
        let slot = try #require(vault.header.slots.first { $0.kind == .secretService })
        let kept = SecretServiceKeyring(busAddress: keyring.bus.address, limit: .seconds(20))
        let item = slot.keyringItem(vault: vault.header.vaultID)
        guard let slotKey = try kept.secret(for: item),
            let keys = try vault.unlock(slot, slotKey: slotKey)
        else {
            Issue.record("the keyring does not open the vault")
            return
        }
        #expect(!keys.opensValues)
        let index = try IndexKeyWriter.text(of: vault, keys: keys)
        #expect(Needles(Array(values[..<4])).found(in: index) == [])
        // The search works: it finds a comment that is stored in clear.
        #expect(!Needles([values[4]]).found(in: index).isEmpty)
        let all = try vault.index(with: keys, extent: .everything)
        #expect(all.currentVersions.count + all.earlierVersions.count == 5)
        #expect(try ValueReader(vault: vault, index: all, keys: keys) == nil)
    }

    @Test(arguments: ["set", "import"])
    func `a process that holds a value exposes it to no other process`(command: String) throws {
        let witness = try LeakWitness()
        try witness.prepare()
        // Blocked by another writer, the process has the passphrase and the value in memory.
        let lock = try HeldLock(of: witness.home)
        let secrets = Needles([witness.passphrase, witness.typed])
        let arguments = command == "set" ? ["set", "KEY"] : ["import", "-"]
        let text = (command == "set" ? "" : "KEY=") + witness.typed.text
        var runner = witness.home.runner(arguments + ["-p", "web"], input: .text(text))
        var shown: Set<String> = ["not looked"]
        runner.script = [
            (
                .now,
                .call { process, _ in
                    lock.awaitWaiter(process)
                    shown = ProcessWatch.leaks(arguments: secrets, environment: secrets)
                    lock.release()
                }
            )
        ]
        try witness.run(runner)
        #expect(shown == [])
        let leaks = try witness.finish()
        #expect(leaks == [])
    }

    @Test func `the process watcher sees arguments and environments`() throws {
        let (argument, variable) = (Marker("argument"), Marker("variable"))
        let watch = ProcessWatch(
            arguments: Needles([argument, variable]), environment: Needles([argument, variable]))
        var runner = ProgramRunner(
            path: "/bin/sh", ["-c", "while :; do sleep 0.1; done", argument.text],
            environment: ["X": variable.text, "PATH": "/usr/bin:/bin"])
        runner.timeLimit = .seconds(60)
        runner.script = [
            (
                .now,
                .call { process, _ in
                    watch.awaitFinding(2)
                    kill(process, SIGTERM)
                }
            )
        ]
        _ = try runner.run()
        let found = watch.stop()
        #expect(found.contains("cmdline: argument, in clear"))
        #expect(found.contains("environ: variable, in clear"))
    }

    @Test func `the search finds every encoding`() {
        let marker = Marker("marker")
        let needles = Needles([marker])
        let bytes = Array(marker.text.utf8)
        for form in [
            bytes, [0x61] + bytes + [0x62],
            Array(Data(bytes).base64EncodedString().utf8),
            Array(Data([0] + bytes + [1]).base64EncodedString().utf8),
            Array(Data([0, 1] + bytes).base64EncodedString().utf8),
            Array(bytes.map { String(format: "%02x", $0) }.joined().utf8),
            Array(bytes.map { String(format: "%02X", $0) }.joined().utf8),
            Array(bytes.prefix(12)), Array(bytes.suffix(12)),
        ] {
            #expect(!needles.found(in: form).isEmpty)
        }
        #expect(needles.found(in: Array(Marker("other").text.utf8)).isEmpty)
    }
}
