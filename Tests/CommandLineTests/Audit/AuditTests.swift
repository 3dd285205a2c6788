import Foundation
import TestSupport
import Testing

/// What goes into the audit log, and what `log` shows.
@Suite("The commands' audit log")
struct AuditTests {
    @Test func `every command that reveals values adds one line, and no other does`() throws {
        let audit = try AuditHome()
        let home = audit.home
        done(try home.run(["list", "-p", "web"]))
        done(try home.run(["show", "KEY", "-p", "web"]))
        done(try home.run(["set", "OTHER", "-p", "web", "-t", "preview"], input: .text("x")))
        done(try home.run(["run", "-p", "web", "--dry-run", "--", "true"]))
        done(try home.run(["export", "-p", "web", "-o", "never.env", "--dry-run"]))
        failed(try home.run(["reveal", "NONE", "-p", "web"]), 4)
        #expect(try audit.entries() == [])

        done(try home.run(["reveal", "KEY", "-p", "web"]))
        done(try home.run(["reveal", "KEY", "OTHER", "-p", "web", "-t", "preview"]))
        done(try home.run(["run", "-p", "web", "-t", "preview", "--", "true"]))
        done(
            try home.run(
                ["run", "-p", "web", "--", "true"], environment: ["KEY": "of the shell"]))
        done(try home.run(["export", "-p", "web", "-o", "out.env"]))
        #expect(
            try home.run(["run", "-p", "web", "--", "/nonexistent"]).end == .exited(127))
        let entries = try audit.entries()
        #expect(entries.map { $0["sequence"] } == (5...11).map { .integer($0) })
        #expect(
            entries.map { $0["command"] } == [
                "reveal", "reveal", "run", "run", "export", "run", "run",
            ])
        #expect(
            entries.map { $0["names"]?.texts } == [
                ["KEY"], ["KEY", "OTHER"], ["KEY", "OTHER"], [], ["KEY"], ["KEY"], ["KEY"],
            ])
        #expect(
            entries.map { $0["outcome"] }
                == Array(repeating: "revealed", count: 6) + ["failed"])
        #expect(entries.allSatisfy { $0["project"] == "web" && isTime($0["at"]) })
        #expect(entries.allSatisfy { $0["uid"] == .integer(Int(getuid())) })
        #expect(entries.allSatisfy { $0["user"] == .string(NSUserName()) })
        #expect(entries[2]["place"] == "preview")
        #expect(
            entries[0].names.isSuperset(of: [
                "sequence", "at", "user", "command", "project", "names", "outcome",
            ]))
    }

    @Test func `the newest line is last, and --limit keeps the newest`() throws {
        let audit = try AuditHome()
        for _ in 0..<5 { done(try audit.home.run(["reveal", "KEY", "-p", "web"])) }
        #expect(try audit.entries("--limit", "2").map { $0["sequence"] } == [6, 7])
        #expect(try audit.entries("--limit", "9").count == 5)
        let text = done(try audit.home.run(["log", "--limit", "1"])).output
        #expect(text.contains("KEY") && text.contains("reveal") && text.contains("revealed"))
        #expect(text.split(separator: "\n").count == 2)
        failed(try audit.home.run(["log", "--limit", "0"]), 2)
    }

    @Test func `the file contains no name and no value`() throws {
        let audit = try AuditHome()
        let name = "A_NAME_TO_LOOK_FOR"
        try audit.home.store([name: AuditHome.value])
        for arguments in AuditHome.givers { done(try audit.home.run(arguments)) }
        done(try audit.home.run(["reveal", name, "-p", "web"]))
        let text = String(decoding: try audit.bytes(), as: UTF8.self)
        let decoded = text.split(separator: "\n").map { line in
            let base64 = line.split(separator: " ")[3]
            let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
            return String(
                decoding: Data(base64Encoded: base64 + padding) ?? Data(), as: UTF8.self)
        }
        #expect(decoded.count == 11)
        for word in [name, AuditHome.value, "reveal", "web"] {
            #expect(!text.contains(word))
            #expect(!decoded.joined().contains(word))
        }
        #expect(try mode(audit.path) == 0o600)
        #expect(try mode(audit.home.directory.path("state/zg-env")) == 0o700)
    }

    @Test func `a wrong passphrase is logged without names`() throws {
        let audit = try AuditHome()
        let wrong = try audit.home.directory.write("wrong\n", to: "wrong")
        let arguments = ["reveal", "KEY", "-p", "web", "--passphrase-file", wrong]
        failed(try audit.home.run(arguments), 3)
        done(try audit.home.run(["reveal", "KEY", "-p", "web"]))
        let entries = try audit.entries()
        #expect(entries.map { $0["outcome"] } == ["wrong passphrase", "revealed"])
        #expect(entries[0]["names"] == [] && entries[0]["command"] == .null)
        #expect(entries[0]["user"] == .string(NSUserName()))
        // If it cannot be logged, the passphrase is wrong all the same.
        let result = try audit.home.run(arguments + ["--audit-log", "/dev/full"])
        failed(result, 3)
        #expect(result.error.contains("could not be added to the audit log"))
    }

    @Test func `it opens without a passphrase if the keyring opens the index`() throws {
        let keyring = try PrivateKeyring()
        let audit = try AuditHome(keyring)
        done(try audit.home.run(["reveal", "KEY", "-p", "web"]))
        let log = try json(audit.home.run(["log", "--json"], unlocked: false))
        #expect(log["entries"]?.elements.map { $0["command"] } == ["set", "reveal"])
        let bare = try AuditHome()
        failed(try bare.home.run(["log"], unlocked: false), 3)
    }

    @Test func `it can be stored elsewhere`() throws {
        let audit = try AuditHome()
        let (first, second) = (
            audit.home.directory.path("one/log"), audit.home.directory.path("two/log")
        )
        let reveal = ["reveal", "KEY", "-p", "web"]
        // The vault knows the usual log's last line, so that another one has to have it too.
        for path in [first, second] {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: audit.path, toPath: path)
        }
        done(try audit.home.run(reveal + ["--audit-log", first]))
        done(try audit.home.run(reveal, environment: ["ZG_ENV_AUDIT_LOG": second]))
        done(try audit.home.run(reveal, environment: ["ZG_ENV_AUDIT_LOG": second]))
        #expect(try audit.entries("--audit-log", first).count == 1)
        #expect(try audit.entries("--audit-log", second).count == 2)
        #expect(try audit.entries().count == 0)
        // Without a home directory only an explicit path works.
        let homeless = audit.home.runner(
            reveal + ["--vault", audit.home.vaultPath],
            environment: ["HOME": "", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""])
        audit.expectNothingGiven(try homeless.run(), reveal)
        var named = homeless
        named.environment["ZG_ENV_AUDIT_LOG"] = first
        done(try named.run())
    }

    @Test func `concurrent programs lose no line`() throws {
        let audit = try AuditHome()
        let runners = (0..<12).map { number in
            audit.home.runner(
                ["run", "-p", "web", "--", "sh", "-c", "exit 0", "\(number)"])
        }
        for _ in 0..<3 {
            for result in try Together.run(runners) { done(result) }
        }
        let log = try json(audit.home.run(["log", "--json"]))
        #expect(log["entries"]?.elements.count == 37)
        #expect(log["whole"] == .bool(true))
    }

    @Test func `a truncation is reported, stays visible, and can be accepted`() throws {
        let audit = try AuditHome()
        let reveal = ["reveal", "KEY", "-p", "web"]
        for _ in 0..<4 { done(try audit.home.run(reveal)) }
        // The vault records the four lines.
        try audit.home.store(["OTHER": "x"])
        let lines = try audit.bytes().split(separator: 0x0A).map { Array($0) + [0x0A] }
        for kept in 0..<4 {
            try audit.replace(Array(lines.prefix(kept).joined()))
            let log = try audit.home.run(["log", "--json"])
            #expect(log.end == .exited(8))
            let shown = try JSONDocument(log.standardOutput)
            // The act of the first two lines, then one for each line.
            #expect(shown["entries"]?.elements.count == (kept == 0 ? 0 : max(kept - 1, 1)))
            #expect(shown["whole"] == .bool(false))
            #expect(shown["problems"]?.elements.map { $0["code"] } == ["cut"])
        }
        try audit.replace(Array(lines.prefix(2).joined()))
        done(try audit.home.run(reveal))
        try audit.home.store(["OTHER": "y"])
        let told = try audit.home.run(["log"])
        #expect(told.end == .exited(8))
        #expect(told.output.contains("lines 3 to 6 are missing"))

        let asked = try audit.home.run(["log", "--accept"])
        #expect(asked.end == .exited(2))
        #expect(asked.error.contains("lines 3 to 6") && asked.error.contains("--yes"))
        let before = try audit.bytes()
        done(try audit.home.run(["log", "--accept", "--dry-run"]))
        #expect(try audit.bytes() == before)
        let accepted = try json(audit.home.run(["log", "--accept", "--yes", "--json"]))
        #expect(accepted["accepted"] == 1 && accepted["line"] == 10)
        #expect(try audit.entries().last?["command"] == "log --accept")
        // From there on a truncation is reported again.
        try audit.replace(before)
        #expect(try audit.home.run(["log"]).end == .exited(8))
    }

    @Test func `a flipped byte is located, and a torn line is only incomplete`() throws {
        let audit = try AuditHome()
        for _ in 0..<3 { done(try audit.home.run(["reveal", "KEY", "-p", "web"])) }
        let bytes = try audit.bytes()
        try audit.replace(Array(bytes.dropLast(9)))
        let torn = done(try audit.home.run(["log"]))
        #expect(torn.error.contains("interrupted"))
        #expect(try json(audit.home.run(["log", "--json"]))["incomplete"] == .bool(true))
        done(try audit.home.run(["reveal", "KEY", "-p", "web"]))
        #expect(try audit.entries().count == 3)

        var changed = bytes
        // In the text of the second line: its number and length at the front would damage more.
        let second = (bytes.firstIndex(of: 0x0A) ?? 0) + 1
        changed[second + 60] ^= 1
        try audit.replace(changed)
        let log = try audit.home.run(["log", "--json"])
        #expect(log.end == .exited(8))
        let problems = try JSONDocument(log.standardOutput)["problems"]?.elements ?? []
        // An invalid byte also breaks the chain to the next line.
        #expect((1...2).contains(problems.count))
        #expect(problems.allSatisfy { $0["code"] == "damaged" })
        #expect(problems.first?["message"]?.text?.contains("line 2") == true)
    }

    @Test func `SEC-F17: status says where the log is when it is elsewhere`() throws {
        let audit = try AuditHome()
        let home = audit.home
        done(try home.run(["reveal", "KEY", "-p", "web"]))
        let usual = try json(home.run(["status", "--json"]))["auditLog"]
        #expect(usual?["path"] == .string(try audit.path))
        #expect(usual?["elsewhere"] == false)
        #expect(usual?["lines"] == 3)
        #expect(!(try home.run(["status"]).output.contains(".log")))
        let other = home.directory.path("other.log")
        try FileManager.default.copyItem(atPath: audit.path, toPath: other)
        let environment = ["ZG_ENV_AUDIT_LOG": other]
        done(try home.run(["reveal", "KEY", "-p", "web"], environment: environment))
        for (arguments, variables) in [
            (["status"], environment), (["status", "--audit-log", other], [:]),
        ] {
            let diverted = try json(
                home.run(arguments + ["--json"], environment: variables))["auditLog"]
            #expect(diverted?["path"] == .string(other))
            #expect(diverted?["elsewhere"] == true)
            let text = done(try home.run(arguments, environment: variables)).output
            #expect(text.contains("4 lines, intact, at \(other) (--audit-log or ZG_ENV_AUDIT_LOG)"))
        }
    }
}
