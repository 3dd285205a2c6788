import Foundation
import TestSupport
import Testing

/// What changed, by the audit log.
@Suite("Acts in the audit log")
struct AuditActTests {
    /// An act of `log --json`: command, project, names with targets and versions, outcome.
    private static func acts(_ log: JSONDocument) -> [[String]] {
        (log["entries"]?.elements ?? []).map { entry -> [String] in
            let changes: [String] = (entry["changes"]?.elements ?? []).map { change in
                let name = change["name"]?.text ?? ""
                let targets = change["targets"]?.text ?? ""
                var version = -1
                if case .integer(let number)? = change["version"] { version = number }
                return "\(name) \(targets) \(version)"
            }
            let names = changes.isEmpty ? entry["names"]?.texts.compactMap(\.self) ?? [] : changes
            var act = [entry["command"]?.text ?? "", entry["project"]?.text ?? ""]
            act += names
            act.append(entry["outcome"]?.text ?? "")
            return act
        }
    }

    @Test func `each write is one act with names, targets and versions`() throws {
        let home = try CommandHome.initialised()
        try home.directory.write("A=1\nB=2\n", to: "work/.env")
        let steps: [([String], String?, [String])] = [
            (
                ["import", ".env", "-p", "web", "-t", "production"], nil,
                ["A production 1", "B production 1"]
            ),
            (["set", "A", "-p", "web"], "3", ["A production 2"]),
            (["set", "A", "-p", "web", "--comment", "of Ada"], "3", ["A production 2"]),
            (["copy", "B", "-p", "web", "--to-target", "preview"], nil, ["B preview 1"]),
            (["rename", "A", "C", "-p", "web"], nil, ["C production 2"]),
            (["restore-version", "C", "1", "-p", "web"], nil, ["C production 1"]),
            (["rm", "C", "-p", "web", "--yes"], nil, ["C production 0"]),
        ]
        for (words, value, changes) in steps {
            done(try home.run(words, input: value.map { ProgramRunner.Input.text($0) } ?? .null))
            let log = try json(home.run(["log", "--json", "--limit", "1"]))
            #expect(Self.acts(log) == [[words[0], "web"] + changes + ["done"]], "\(words)")
        }
        let others: [([String], String)] = [
            (["project", "rename", "web", "shop"], "shop"),
            (["config", "set", "default-type", "sensitive"], "default-type"),
            (["project", "remove", "shop", "--yes"], "shop"),
        ]
        for (words, name) in others {
            done(try home.run(words))
            let log = try json(home.run(["log", "--json"]))
            let found = Self.acts(log).filter { $0[0] == words.prefix(2).joined(separator: " ") }
            #expect(found.contains { $0.contains(name) && $0.last == "done" }, "\(words) \(found)")
        }
        // A write that changes nothing is no act.
        let count = try json(home.run(["log", "--json"]))["entries"]?.elements.count
        done(try home.run(["config", "set", "default-type", "sensitive"]))
        #expect(try json(home.run(["log", "--json"]))["entries"]?.elements.count == count)
    }

    @Test func `what a write keeps of removed values is no act`() throws {
        let home = try CommandHome.initialised()
        func written(_ words: String..., value: String? = nil) throws -> Set<String> {
            done(
                try home.run(
                    words + ["-p", "web"], input: value.map { .text($0) } ?? .null))
            let log = try json(home.run(["log", "--json", "--limit", "1"]))
            return Set(Self.acts(log).first?.dropFirst(2) ?? [])
        }
        _ = try written("set", "NEW", "-t", "production", value: "old")
        #expect(try written("rm", "NEW", "--yes") == ["NEW production 0", "done"])
        _ = try written("set", "KEY", "-t", "preview", value: "gone")
        #expect(try written("rm", "KEY", "--yes") == ["KEY preview 0", "done"])
        _ = try written("set", "KEY", "-t", "production", "--type", "sensitive", value: "secret")
        let open = try written("set", "KEY", "-t", "production", "--type", "encrypted", value: "o")
        #expect(open == ["KEY production 3", "done"])
        // The numbers of the removed variable of that name grow.
        #expect(try written("rename", "KEY", "NEW") == ["NEW production 3", "done"])
    }

    @Test func `a write that cannot be logged does not happen`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "old"])
        let before = try home.vaultBytes()
        for words in [["set", "KEY", "-p", "web"], ["rm", "KEY", "-p", "web", "--yes"]] {
            for path in ["/dev/full", home.directory.path] {
                let result = try home.run(
                    words + ["--audit-log", path], input: .text("new"))
                failed(result, 1)
                #expect(result.error.contains("--audit-log"))
                #expect(try home.vaultBytes() == before)
            }
        }
    }

    @Test func `a kill between the two lines shows an unknown outcome`() throws {
        let audit = try AuditHome()
        done(try audit.home.run(["set", "KEY", "-p", "web"], input: .text("new")))
        let lines = try audit.bytes().split(separator: 0x0A).map { Array($0) + [0x0A] }
        // As after a kill behind the write.
        try audit.replace(Array(lines.dropLast().joined()))
        let log = try json(audit.home.run(["log", "--json", "--limit", "1"]))
        #expect(Self.acts(log).last?.last == "outcome unknown")
        #expect(log["entries"]?.elements.last?["endedAt"] == .null)
        #expect(log["whole"] == true)
        // Before the write: the act is listed, and the vault is as it was.
        let before = try audit.home.vaultBytes()
        let runner = audit.home.wrapped("/usr/bin/strace") { program in
            [
                "-f", "-o", "/dev/null", "-e", "inject=rename,renameat,renameat2:signal=SIGKILL",
                program, "set", "KEY", "-p", "web",
            ]
        }
        var killed = runner
        killed.input = .text("newer")
        #expect(try killed.run().end != .exited(0))
        #expect(try audit.home.vaultBytes() == before)
        let acts = Self.acts(try json(audit.home.run(["log", "--json", "--limit", "1"])))
        #expect(acts.first?.first == "set" && acts.first?.last == "outcome unknown", "\(acts)")
    }

    @Test func `log answers what happened since a time, to a variable, in a project`() throws {
        let home = try CommandHome.initialised()
        for (key, project) in [("A", "web"), ("B", "web"), ("A", "api")] {
            done(try home.run(["set", key, "-p", project], input: .text("1")))
        }
        func commands(_ options: String...) throws -> [[String]] {
            Self.acts(try json(home.run(["log", "--json"] + options)))
        }
        #expect(try commands("--since", "1h").count == 3)
        #expect(try commands("--since", "0s").isEmpty)
        #expect(try commands("--since", "2001-01-01").count == 3)
        #expect(try commands("A", "--since", "7d").map { $0[1] } == ["web", "api"])
        #expect(try commands("A", "-p", "api").map { $0[1] } == ["api"])
        #expect(try commands("a").isEmpty)
        failed(try home.run(["log", "--since", "soon"]), 2)
        #expect(
            done(try home.run(["log", "NOTHING"])).output == "No act in the audit log matches.\n")
        // Local time.
        let hours = try ["UTC", "Etc/GMT-9"].map { zone in
            let text = done(
                try home.run(["log", "--limit", "1"], environment: ["TZ": zone])
            ).output
            let fields = text.split(separator: "\n").last?.split(separator: " ") ?? []
            return Int(fields.first { $0.contains(":") }?.prefix(2) ?? "") ?? -1
        }
        #expect((hours[0] + 9) % 24 == hours[1], "\(hours)")
    }

    @Test func `a renamed variable is found by both names, and every name of an import`() throws {
        let home = try CommandHome.initialised()
        let names = (1...700).map { "\(String(repeating: "N", count: 200))_\($0)" }
        try home.directory.write(
            names.map { "\($0)=1\n" }.joined(), to: "work/.env")
        done(try home.run(["import", ".env", "-p", "web", "-t", "production"]))
        for name in [names[0], names[350], names[699]] {
            let log = try json(home.run(["log", name, "--json"]))
            #expect(log["entries"]?.elements.count == 1)
            #expect(log["entries"]?.elements.first?["omittedNames"] == 0)
        }
        done(try home.run(["rename", names[0], "NEW", "-p", "web"]))
        for name in [names[0], "NEW"] {
            let log = try json(home.run(["log", name, "--json"]))
            #expect(log["entries"]?.elements.last?["command"] == "rename")
        }
    }

    /// The old name, or the new one, which no project had.
    @Test(arguments: ["web", "shop"])
    func `a value is not stored in a project of another name`(project: String) throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "1"])
        var runner = home.terminalRunner(
            ["set", "A", "-p", project], streams: true,
            script: [
                (
                    .terminal("A"),
                    .call { _, _ in
                        _ = try? home.run(["project", "rename", "web", "shop"])
                    }
                ), (.now, .line("2")),
            ])
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        let result = try runner.run()
        #expect(result.status == 5, "\(result.screen)")
        #expect(result.screen.contains("project web was renamed"), "\(result.screen)")
        #expect(try home.revealed("A", project: "shop") == Array("1".utf8))
    }

    @Test func `two names that look alike are two variables`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "1"])
        #expect(try json(home.run(["log", "--json", "KEY"]))["entries"]?.elements.count == 1)
        #expect(
            try json(home.run(["log", "--json", "KE\u{59}\u{301}"]))["entries"]?.elements.count == 0
        )
    }

    @Test func `deployments and group changes are acts`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1")
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes"))
        let acts = Self.acts(try json(platform.run("log", "--json")))
        #expect(acts.contains { $0[0] == "redeploy" && $0.last == "done" }, "\(acts)")
        try platform.setFaults("POST /v13/deployments 400")
        #expect(try platform.run("redeploy", "-p", "web", "--yes").status != 0)
        let later = Self.acts(try json(platform.run("log", "--json", "--limit", "1")))
        #expect(later.first?.first == "redeploy" && later.first?.last == "failed", "\(later)")
    }
}
