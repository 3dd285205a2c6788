import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// The most common tasks, with the commands, prompts and questions that they take.
@Suite("Everyday tasks")
struct EverydayTests {
    private func terminal(
        _ home: CommandHome, _ arguments: [String], url: String? = nil,
        _ script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
    ) throws -> ProgramResult {
        var runner = home.terminalRunner(arguments, streams: true, script: script)
        runner.environment["ZG_ENV_API_URL"] = url
        return try runner.run()
    }

    /// How often a terminal showed a text.
    private func count(_ text: String, _ result: ProgramResult) -> Int {
        String(decoding: result.terminal, as: UTF8.self).ranges(of: text).count
    }

    @Test func `first use takes two commands, two passphrase prompts and one question`() throws {
        let home = try CommandHome()
        try home.directory.write("A=1\nB=2\n", to: "work/.env")
        let made = try terminal(
            home, ["init", "--kdf", "8MiB,1"],
            [
                (.terminal("New passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Confirm passphrase"), .line(CommandHome.passphrase)),
            ])
        #expect(made.end == .exited(0), "\(made.screen)")
        #expect(count("assphrase: ", made) == 2)
        // Nothing keeps a key here, so the vault is locked again: with a keyring this prompt is gone.
        let imported = try terminal(
            home, ["import", ".env", "-p", "web"],
            [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Which targets"), .line("4")),
                (.terminal("Link this directory to web? [Y/n]"), .line("")),
            ])
        #expect(imported.end == .exited(0), "\(imported.screen)")
        #expect(imported.stepsDone == 3, "\(imported.screen)")
        // The result comes before the question.
        let screen = String(decoding: imported.terminal, as: UTF8.self)
        let result = try #require(screen.range(of: "created"))
        let question = try #require(screen.range(of: "Link this directory"))
        #expect(result.lowerBound < question.lowerBound)
        try home.directory.write(CommandHome.passphrase, to: "passphrase")
        #expect(try json(home.run(["list", "--json"]))["project"] == "web")
        // A second import asks nothing.
        let again = try terminal(
            home, ["import", ".env", "-p", "web"],
            [(.terminal("Passphrase"), .line(CommandHome.passphrase))])
        #expect(again.end == .exited(0), "\(again.screen)")
        #expect(count("Link this directory", again) == 0)
    }

    @Test func `init says how weak a passphrase is, and refuses none`() throws {
        func made(
            _ passphrase: String, _ environment: [String: String] = [:]
        ) throws -> ProgramResult {
            let home = try CommandHome()
            let path = try home.directory.write(passphrase, to: "new", mode: 0o600)
            return try home.run(
                ["init", "--lock", "--kdf", "8MiB,1", "--json", "--passphrase-file", path],
                unlocked: false, environment: environment)
        }
        func warning(_ result: ProgramResult) throws -> String? {
            let found = try json(result)["warnings"]?.elements.first {
                $0["code"] == "weak-passphrase"
            }
            return found?["message"]?.text
        }
        for passphrase in ["abc", "password1", "qwertyuiop123"] {
            let message = try warning(made(passphrase))
            #expect(message?.contains("zg-env passwd") == true, "\(passphrase)")
            #expect(message?.contains(passphrase) != true)
        }
        #expect(try warning(made("password1"))?.contains("about 8 guesses") == true)
        #expect(try warning(made(CommandHome.passphrase)) == nil)
        #expect(try warning(made(String(repeating: "long ", count: 200))) == nil)
        // Without a library that can be loaded nothing is said.
        let broken = try CommandHome()
        try broken.directory.write("not a library", to: "libzxcvbn.so.0")
        #expect(try warning(made("abc", ["LD_LIBRARY_PATH": broken.directory.path])) == nil)
    }

    @Test func `at a terminal init asks about a very weak passphrase before it makes the vault`()
        throws
    {
        for accepts in [false, true] {
            let home = try CommandHome()
            let vault = home.directory.path("data/zg-env/vault.zgv")
            var wasThere = true
            var script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = [
                (.terminal("New passphrase"), .line("password1")),
                (.terminal("Confirm passphrase"), .line("password1")),
                (
                    .terminal("Use it anyway? [y/N]"),
                    .call { _, _ in wasThere = FileManager.default.fileExists(atPath: vault) }
                ),
                (.now, .line(accepts ? "y" : "")),
            ]
            if !accepts {
                script += [
                    (.terminal("New passphrase"), .line(CommandHome.passphrase)),
                    (.terminal("Confirm passphrase"), .line(CommandHome.passphrase)),
                ]
            }
            let result = try home.terminalRunner(
                ["init", "--lock", "--kdf", "8MiB,1", "--no-secret-service"], script: script
            ).run()
            #expect(result.end == .exited(0), "\(result.screen)")
            #expect(
                result.error.contains(
                    "This passphrase is weak: an attacker needs about 8 guesses."),
                "\(result.error)")
            #expect(!wasThere && FileManager.default.fileExists(atPath: vault))
            #expect(result.echoAtEnd == true)
        }
    }

    @Test(arguments: ["n", "nein", "q"])
    func `declining the link leaves the directory alone`(answer: String) throws {
        let home = try CommandHome.initialised()
        try home.directory.write("A=1\n", to: "work/.env")
        let imported = try terminal(
            home, ["import", ".env", "-p", "web"],
            [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Which targets"), .line("4")),
                (.terminal("Link this directory"), .line(answer)),
            ])
        #expect(imported.end == .exited(0), "\(imported.screen)")
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/.zg-env.json")))
        // Nobody is asked without a terminal, with --yes, and in a directory with a link.
        done(try home.run(["import", ".env", "-p", "other", "--yes"]))
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/.zg-env.json")))
    }

    @Test func `a failed build shows the end of its log, and logs shows the rest`() throws {
        let platform = try SandboxHome()
        platform.server.setBuild(try #require(BuildMode("fail")))
        platform.server.setBuildLog((0..<40).map { "build line \($0)" })
        let failed = ended(try platform.run("redeploy", "-p", "web", "--wait", "--yes"), 9)
        #expect(failed.error.contains("The end of the build log:"), "\(failed.error)")
        #expect(failed.error.contains("build line 39"), "\(failed.error)")
        #expect(!failed.error.contains("build line 5\n"))
        let log = done(try platform.run("logs", "-p", "web"))
        #expect(log.output.contains("build line 0") && log.output.contains("build line 39"))
    }

    @Test func `deployments are named by latest, live, a branch and the beginning of an id`() throws
    {
        let platform = try SandboxHome()
        let (all, live) = (try platform.deployments(), try platform.current())
        func shown(_ name: String) throws -> String? {
            try json(platform.run("deployment", "show", name, "-p", "web", "--json"))["id"]?.text
        }
        #expect(try shown("latest") == all[0])
        #expect(try shown("live") == live)
        let preview = try #require(all.first { $0 != live })
        #expect(try shown("feature") == preview)
        // As many characters as tell them apart.
        let length = zip(all[0], all[1]).prefix { $0 == $1 }.count + 1
        for id in all {
            #expect(try shown(String(id.prefix(max(length, 7)))) == id)
            // Also without the beginning that all have.
            #expect(try shown(String(id.prefix(max(length, 7)).dropFirst(4))) == id)
            #expect(try shown(String(id.dropFirst(4))) == id)
        }
        try failedAsJSON(
            platform.run("deployment", "show", "no-branch", "-p", "web", "--json"), 4, "not_found")
        try failedAsJSON(
            platform.run("deployment", "show", "live", "-p", "bare", "--json"), 4, "not_found")
        try failedAsJSON(platform.run("logs", "live", "--json"), 2, "usage")
        // What cannot be undone takes no word that means another deployment tomorrow.
        for word in ["latest", "feature"] {
            try failedAsJSON(
                platform.run("deployment", "delete", word, "-p", "web", "--yes", "--json"), 4,
                "not_found")
        }
        // The same commands by their short names.
        #expect(try json(platform.run("open", "-p", "web", "--json"))["id"]?.text == live)
        #expect(done(try platform.run("open", "-p", "web")).output.hasPrefix("https://"))
        done(try platform.run("promote", "feature", "-p", "web", "--yes", "--wait"))
        #expect(try platform.current() != live)
        done(try platform.run("rollback", "-p", "web", "--yes"))
        #expect(try platform.current() == live)
        // In a linked directory, the hint needs no project.
        done(try platform.run("link", "web"))
        let unknown = try platform.run("deployment", "show", "nobranch")
        #expect(
            unknown.status == 4 && unknown.error.contains("zg-env deployment list\n"),
            "\(unknown.error)")
    }

    @Test func `a link of the Vercel CLI to another project is kept`() throws {
        let platform = try SandboxHome()
        done(try platform.run("link", "--local", "web"))
        let other = "{\"projectId\":\"prj_other\",\"orgId\":\"team_other\"}"
        try platform.home.directory.makeDirectory("work/.vercel")
        try platform.home.directory.write(other, to: "work/.vercel/project.json")
        failed(try platform.run("link", "web"), 5, "already linked to another project")
        let path = platform.home.directory.path("work/.vercel/project.json")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == other)
        // Without it, a link to the vault's project becomes one to its project on Vercel.
        try FileManager.default.removeItem(atPath: path)
        done(try platform.run("link", "web"))
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(
            !FileManager.default.fileExists(
                atPath: platform.home.directory.path("work/.zg-env.json")))
    }

    @Test func `several variables are removed at once, here and on Vercel`() throws {
        let platform = try SandboxHome()
        for key in ["A", "B", "C"] { try platform.set(key, "value", "-t", "production") }
        try platform.pushed()
        // One that does not exist: nothing is removed.
        try failedAsJSON(
            platform.run("rm", "A", "NONE", "-p", "web", "--yes", "--json"), 4, "not_found")
        let report = try json(
            platform.run("rm", "A", "B", "-p", "web", "--push", "--yes", "--json"))
        #expect(report["keys"]?.texts == ["A", "B"])
        #expect(report["removed"]?.elements.map { $0["key"] } == ["A", "B"])
        #expect(platform.records("A") == [] && platform.records("B") == [])
        #expect(platform.records("C").count == 1)
        done(try platform.run("restore-version", "A", "1", "-p", "web"))
        #expect(try platform.home.revealed("A", "-t", "production") == Array("value".utf8))
    }

    @Test func `projects shows what is not pushed and not live`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1", "-t", "production")
        try platform.set("B", "1", "-t", "preview")
        try platform.pushed()
        try platform.set("B", "2", "-t", "preview")
        let row = try json(platform.run("projects", "--json"))["projects"]?.elements.first
        #expect(row?["name"] == "web" && row?["vercel"] == "web")
        #expect(row?["variables"] == 2 && row?["notPushed"] == 1)
        #expect(row?["notLive"] == 1 && row?["conflicts"] == 0)
        let text = done(try platform.run("projects")).output
        #expect(text.contains("1 not pushed, 1 not live"), "\(text)")
    }

    @Test func `what cannot work is reported before the passphrase prompt`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "value"])
        // No project: known without opening the vault.
        for arguments in [["reveal", "KEY"], ["run", "--", "true"], ["export"], ["scan", "."]] {
            let result = try home.terminalRunner(arguments).run()
            #expect(result.error.contains("No project given"), "\(arguments) \(result.error)")
            #expect(!result.screen.contains("assphrase"), "\(arguments)")
        }
    }
}
