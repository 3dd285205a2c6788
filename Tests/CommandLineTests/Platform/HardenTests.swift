import Foundation
import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Making readable variables sensitive.
@Suite("harden")
struct HardenTests {
    private static let seed = """
        {"projects": [{"name": "web", "customEnvironments": [{"slug": "qa", "type": "preview"}],
          "env": [
            {"key": "SEEN", "value": "seen", "target": ["production", "preview", "development"]},
            {"key": "PLAIN", "value": "plain", "type": "plain", "target": ["preview"],
             "comment": "note"},
            {"key": "LOCAL", "value": "dev", "target": ["development"]},
            {"key": "HIDDEN", "value": "hidden", "type": "sensitive", "target": ["production"]}],
          "deployments": [{"target": "production"}]}]}
        """

    private func platform(_ seed: String = Self.seed) throws -> SandboxHome {
        let platform = try SandboxHome(seed: seed)
        try platform.set("KEY", "secret\nvalue")
        try platform.pushed("KEY")
        return platform
    }

    /// Every record on Vercel as `KEY type targets=value`, sorted.
    private func records(_ platform: SandboxHome) -> [String] {
        platform.stored.map {
            "\($0.key) \($0.type) \($0.targets.joined(separator: ","))=\($0.value)"
        }.sorted()
    }

    private static let hardened = [
        "HIDDEN sensitive production=hidden",
        "KEY encrypted development=secret\nvalue", "KEY sensitive production,preview=secret\nvalue",
        "LOCAL encrypted development=dev", "PLAIN sensitive preview=plain",
        "SEEN encrypted development=seen", "SEEN sensitive production,preview=seen",
    ]

    /// Expects that nothing was hardened, for this reason.
    private func expectLeft(
        _ result: ProgramResult, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.end == .exited(5), "\(result.error)", sourceLocation: sourceLocation)
        #expect(result.error.contains(reason), "\(result.error)", sourceLocation: sourceLocation)
        #expect(result.output.hasPrefix("left "), sourceLocation: sourceLocation)
    }

    /// Expects that the vault has every value and nothing is left to do.
    private func expectDone(_ platform: SandboxHome) throws {
        #expect(records(platform) == Self.hardened)
        for target in ["production", "development"] {
            #expect(
                try platform.home.revealed("KEY", "-t", target) == Array("secret\nvalue".utf8))
            #expect(try platform.home.revealed("SEEN", "-t", target) == Array("seen".utf8))
        }
        #expect(try platform.home.revealed("PLAIN") == Array("plain".utf8))
        let writes = try platform.writes {
            try #expect(json(platform.run("harden", "-p", "web", "--yes", "--json"))["left"] == [])
            try platform.pushed().expectNothing()
        }
        #expect(writes == [])
    }

    @Test func `values go into the vault first, and development stays readable`() throws {
        let platform = try platform()
        let id = try platform.id("KEY")
        let plan = try json(platform.run("harden", "-p", "web", "--dry-run", "--json"))
        #expect(plan["dryRun"] == true)
        #expect(plan.keys("hardened") == ["KEY", "PLAIN", "SEEN"])
        #expect(plan.keys("readable") == ["KEY", "SEEN"])
        #expect(plan.keys("takenIn") == ["PLAIN", "SEEN"])
        let before = (try platform.home.vaultBytes(), records(platform))
        done(try platform.run("harden", "-p", "web", "--dry-run"))
        #expect(try platform.home.vaultBytes() == before.0)
        #expect(records(platform) == before.1)

        let report = try json(platform.run("harden", "-p", "web", "--yes", "--json"))
        #expect(report.keys("hardened").sorted() == ["KEY", "PLAIN", "SEEN"])
        #expect(report.keys("readable").sorted() == ["KEY", "SEEN"])
        #expect(report["left"] == [] && report["failed"] == [] && report["dryRun"] == nil)
        #expect(platform.stored.first { $0.id == id }?.type == "sensitive")
        let list = try platform.teammate.send("GET", "/v10/projects/web/env")
        let plain = list["envs"]?.array?.first { $0["key"]?.string == "PLAIN" }
        #expect(plain?["comment"]?.string == "note")
        try expectDone(platform)
        // The project and its deployments are unchanged.
        #expect(report["deployment"] == nil)
    }

    @Test func `keys and targets select, and the rest of a scope stays as it was`() throws {
        let platform = try platform()
        done(try platform.run("harden", "KEY", "-p", "web", "-t", "production", "--yes"))
        #expect(
            records(platform).filter { $0.hasPrefix("KEY") } == [
                "KEY encrypted preview,development=secret\nvalue",
                "KEY sensitive production=secret\nvalue",
            ])
        #expect(records(platform).contains("PLAIN plain preview=plain"))
        // The rest can follow later.
        done(try platform.run("harden", "-p", "web", "--yes"))
        #expect(
            records(platform).filter { $0.hasPrefix("KEY") } == [
                "KEY encrypted development=secret\nvalue",
                "KEY sensitive preview=secret\nvalue", "KEY sensitive production=secret\nvalue",
            ])
        failed(try platform.run("harden", "-p", "web", "-t", "development", "--yes"), 2)
        failed(try platform.run("harden", "-p", "web", "-t", "nowhere", "--yes"), 2, "nowhere")
        failed(try platform.run("harden", "NONE", "-p", "web", "--yes"), 4, "NONE")
    }

    @Test func `branches and custom environments keep their values`() throws {
        let platform = try platform(
            """
            {"projects": [{"name": "web", "customEnvironments": [{"slug": "qa", "type": "preview"}],
              "env": [
                {"key": "B", "value": "b", "target": ["preview"], "gitBranch": "feature"},
                {"key": "C", "value": "c", "target": ["production", "development"],
                 "customEnvironments": ["qa"]},
                {"key": "Q", "value": "q", "customEnvironments": ["qa"], "target": []}]}]}
            """)
        done(try platform.run("harden", "B", "C", "Q", "-p", "web", "--yes"))
        func types(_ key: String) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: platform.stored.filter { $0.key == key }.map {
                    ($0.type, $0.targets.joined(separator: ",") + ($0.gitBranch ?? ""))
                })
        }
        #expect(types("B") == ["sensitive": "previewfeature"])
        #expect(types("C") == ["sensitive": "production", "encrypted": "development"])
        #expect(
            platform.stored.first { $0.key == "C" && $0.type == "sensitive" }?
                .customEnvironmentIds.count == 1)
        #expect(types("Q") == ["encrypted": ""])
        done(try platform.run("harden", "Q", "-p", "web", "-t", "qa", "--yes"))
        #expect(types("Q") == ["sensitive": ""])
    }

    @Test func `a variable that differs is left readable and reported`() throws {
        let platform = try platform()
        let id = try platform.id("KEY")
        _ = try platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(id)", ["value": "changed there"])
        let (report, message) = try failedReport(
            platform.run("harden", "KEY", "-p", "web", "--yes", "--json"), 5, "conflict")
        #expect(report.reasons("left") == ["the vault has a different value"])
        #expect(message.contains("KEY"))
        #expect(platform.records("KEY") == ["production,preview,development=changed there"])
        let (partly, _) = try failedReport(
            platform.run("harden", "-p", "web", "--yes", "--json"), 1, "failed")
        #expect(partly.keys("hardened").sorted() == ["PLAIN", "SEEN"])
        #expect(partly.keys("left") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=changed there"])
        #expect(try platform.home.revealed("KEY") == Array("secret\nvalue".utf8))

        // Another scope, a removal and another name in the vault count as well.
        let second = try self.platform()
        done(
            try second.run("rm", "KEY", "-p", "web", "-t", "development", "--yes"))
        expectLeft(try second.run("harden", "KEY", "-p", "web", "--yes"), "on Vercel differ")
        done(try second.run("set", "SEEN", "-p", "web", input: .text("never pushed")))
        expectLeft(
            try second.run("harden", "SEEN", "-p", "web", "--yes"),
            "another variable for that scope")
        #expect(second.records("SEEN") == ["production,preview,development=seen"])
    }

    @Test("SYNC-A8: variables that stay readable are reported with the next command")
    func wayOn() throws {
        func isHardened(_ platform: SandboxHome, _ key: String) -> Bool {
            platform.stored.filter { $0.key == key }.contains { $0.type == "sensitive" }
        }
        // Another value here, which the push sends.
        let platform = try platform()
        try platform.set("KEY", "mine")
        let told = try platform.run("harden", "KEY", "-p", "web", "--yes")
        #expect(told.error.contains("zg-env push KEY -p web ("), "\(told.error)")
        #expect(told.error.contains("Then run: zg-env harden KEY -p web"), "\(told.error)")
        done(try platform.run("push", "KEY", "-p", "web", "--yes"))
        done(try platform.run("harden", "KEY", "-p", "web", "--yes"))
        #expect(isHardened(platform, "KEY"))
        // Another name here: the push renames it.
        let renamed = try self.platform()
        done(try renamed.run("rename", "KEY", "NEW", "-p", "web"))
        let named = try renamed.run("harden", "KEY", "-p", "web", "--yes")
        #expect(named.error.contains("zg-env push NEW -p web ("), "\(named.error)")
        #expect(named.error.contains("zg-env harden NEW -p web"), "\(named.error)")
        done(try renamed.run("push", "NEW", "-p", "web", "--yes"))
        done(try renamed.run("harden", "NEW", "-p", "web", "--yes"))
        #expect(isHardened(renamed, "NEW"))
        // Changed on Vercel: the push has a conflict and says how to resolve it.
        let changed = try self.platform()
        _ = try changed.teammate.send(
            "PATCH", "/v9/projects/web/env/\(try changed.id("KEY"))", ["value": "theirs"])
        _ = try changed.run("harden", "KEY", "-p", "web", "--yes")
        // It keeps the sync state it has read, though it sends nothing.
        let list = try json(changed.run("list", "KEY", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["sync"] == "behind")
        let push = try changed.run("push", "KEY", "-p", "web", "--yes")
        #expect(push.status == 5)
        #expect(push.error.contains("zg-env pull KEY -p web"), "\(push.error)")
        done(try changed.run("pull", "KEY", "-p", "web", "--force", "--yes"))
        done(try changed.run("harden", "KEY", "-p", "web", "--yes"))
        #expect(isHardened(changed, "KEY"))
        // No value: it must be entered.
        let empty = try self.platform(
            """
            {"projects": [{"name": "web", "env": [
              {"key": "EMPTY", "value": "", "target": ["production"]}]}]}
            """)
        let left = try empty.run("harden", "EMPTY", "-p", "web", "--yes")
        #expect(left.error.contains("zg-env set EMPTY -p web -t production --push"))
    }

    @Test func `an empty value without a copy in the vault is left alone`() throws {
        let platform = try platform(
            """
            {"projects": [{"name": "web", "env": [
              {"key": "EMPTY", "value": "", "target": ["production"]}]}]}
            """)
        expectLeft(try platform.run("harden", "EMPTY", "-p", "web", "--yes"), "empty value")
        #expect(platform.stored.first { $0.key == "EMPTY" }?.type == "encrypted")
        failed(try platform.run("reveal", "EMPTY", "-p", "web"), 4)
    }

    @Test func `it needs the values and a confirmation`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try SandboxHome(seed: Self.seed, keyring: keyring)
        try platform.set("KEY", "value")
        try platform.pushed("KEY")
        let writes = try platform.writes {
            try failedAsJSON(
                platform.run("harden", "-p", "web", "--yes", "--json", unlocked: false), 3,
                "locked")
            try failedAsJSON(platform.run("harden", "-p", "web", "--json"), 2, "usage")
            try failedAsJSON(
                platform.run("harden", "-p", "web", "--offline", "--yes", "--json"), 7,
                "unavailable")
        }
        #expect(writes == [])
    }

    @Test func `a failed change is reported, and the next run fixes it`() throws {
        for fault in ["PATCH * drops-target x3", "PATCH * 400 x1", "PATCH * 500 x5"] {
            let platform = try platform()
            try platform.setFaults(fault)
            let result = try platform.run("harden", "KEY", "-p", "web", "--yes", "--json")
            #expect(result.status != 0, "\(fault): \(result.output)")
            #expect(try platform.home.revealed("KEY", "-t", "production").count == 12)
            platform.server.setFaults([])
            done(try platform.run("harden", "-p", "web", "--yes"))
            try expectDone(platform)
        }
    }

    @Test(
        arguments: [
            ("PATCH * reset", 7, "unavailable"), ("PATCH * 500", 7, "unavailable"),
            ("PATCH * 403", 6, "unauthorized"), ("PATCH * 400", 1, "failed"),
            ("GET */env* reset", 7, "unavailable"),
        ] as [(String, Int32, String)])
    func `a single cause determines the exit code`(fault: String, status: Int32, code: String)
        throws
    {
        let platform = try platform()
        try platform.setFaults(fault)
        let result = try platform.run("harden", "KEY", "-p", "web", "--yes", "--json")
        #expect(result.end == .exited(status), "\(result.error)\(result.output)")
        #expect(try JSONDocument(result.standardError)["error"]?["code"] == .string(code))
        platform.server.setFaults([])
        done(try platform.run("harden", "-p", "web", "--yes"))
        try expectDone(platform)
    }

    @Test func `killed at any request, it continues where it was`() throws {
        let counted = try platform()
        let total = try counted.requests {
            done(try counted.run("harden", "-p", "web", "--yes"))
        }.count
        #expect(total > 8)
        // Some, chosen by the seed; with ZG_ENV_PROOF=full all.
        var random = ProofRandom(51)
        for number in Proof.sample(Array(1...total), short: 6, using: &random) {
            let platform = try platform()
            try platform.setFaults("* * slow:0.3")
            let killed = try platform.signalled(
                platform.runner(["harden", "-p", "web", "--yes"]), by: SIGKILL,
                afterRequests: number
            ).run()
            #expect(killed.signal == SIGKILL || killed.status == 0, "\(number)")
            platform.server.setFaults([])
            // Every value that Vercel no longer shows is in the vault.
            for record in platform.stored
            where record.type == "sensitive" && record.key != "HIDDEN" {
                let target = record.targets.first ?? ""
                #expect(
                    try platform.home.revealed(record.key, "-t", target)
                        == Array(record.value.utf8), "\(number)")
            }
            done(try platform.run("harden", "-p", "web", "--yes"))
            try expectDone(platform)
        }
    }

    @Test func `a redeploy is offered, and --redeploy does it`() throws {
        let platform = try platform()
        let note = done(try platform.run("harden", "SEEN", "-p", "web", "--yes"))
        #expect(note.error.contains("zg-env redeploy -p web"))
        let before = try platform.current()
        let report = try json(
            platform.run("harden", "KEY", "-p", "web", "--yes", "--redeploy", "--json"))
        #expect(report["deployment"]?["current"] == true)
        #expect(try platform.current() != before)

        var asked = platform.home.terminalRunner(
            ["harden", "-p", "web"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Make these variables sensitive on Vercel?"), .line("y")),
                (.terminal("Redeploy production now?"), .line("n")),
            ])
        asked.environment["ZG_ENV_API_URL"] = platform.url
        let answered = try asked.run()
        #expect(answered.end == .exited(0), "\(answered.screen)\(answered.error)")
        #expect(answered.stepsDone == 3)
        #expect(records(platform) == Self.hardened)
    }
}
