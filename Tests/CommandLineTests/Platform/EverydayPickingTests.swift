import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// What is missing on the command line is picked at a terminal, and is an error for scripts.
@Suite("Everyday picking")
struct EverydayPickingTests {
    /// Creates a program directory without fzf, or with one that picks the line with a text.
    private func programs(_ home: CommandHome, fzf pick: String? = nil) throws -> String {
        let path = try home.directory.makeDirectory("programs")
        for name in ["sh", "cat", "grep"] {
            let link = "\(path)/\(name)"
            if !FileManager.default.fileExists(atPath: link) {
                try FileManager.default.createSymbolicLink(
                    atPath: link, withDestinationPath: "/usr/bin/\(name)")
            }
        }
        if let pick {
            let script = """
                #!/bin/sh
                env >"\(home.directory.path)/fzf-environment"
                cat >"\(home.directory.path)/offered"
                # As with the user's own option --print-query.
                echo API
                grep '\(pick)' "\(home.directory.path)/offered" || exit 1

                """
            try home.directory.write(script, to: "programs/fzf", mode: 0o755)
        }
        return path
    }

    private func run(
        _ home: CommandHome, _ arguments: [String], url: String? = nil, path: String,
        _ script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
    ) throws -> ProgramResult {
        var runner = home.terminalRunner(arguments, streams: true, script: script)
        runner.environment["ZG_ENV_API_URL"] = url
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        runner.environment["PATH"] = path
        runner.timeLimit = .seconds(20)
        return try runner.run()
    }

    @Test func `a missing key and project are picked in a list`() throws {
        let home = try CommandHome.initialised()
        try home.store(["API_KEY": "value-of-key", "API_URL": "value-of-url"])
        try home.store(["OTHER": "value-of-other"], in: "api")
        let path = try programs(home)
        let picked = try run(
            home, ["reveal"], path: path,
            [
                (.terminal("Project: "), .line("we")),
                (.terminal("Variable: "), .type(Array("key".utf8))),
                (.terminal("1 of 2"), .line("")),
            ])
        #expect(done(picked).stepsDone == 3, "\(picked.screen)")
        let terminal = String(decoding: picked.terminal, as: UTF8.self)
        #expect(terminal.contains("value-of-key"))
        #expect(!terminal.contains("value-of-url"))
        // Only names are listed.
        let list = terminal.prefix(upTo: try #require(terminal.range(of: "value-of-")).lowerBound)
        #expect(list.contains("API_URL") && list.contains("production, preview"))
        let canceled = try run(
            home, ["show", "-p", "web"], path: path,
            [(.terminal("Variable: "), .type([0x1B]))])
        #expect(canceled.end == .exited(1), "\(canceled.screen)")
        #expect(canceled.screen.contains("Canceled."), "\(canceled.screen)")
        let interrupted = try run(
            home, ["show", "-p", "web"], path: path,
            [(.terminal("Variable: "), .type([0x03]))])
        #expect(interrupted.end == .signalled(SIGINT), "\(interrupted.screen)")
        #expect(interrupted.echoAtEnd == true)
    }

    @Test func `scripts get the usage error`() throws {
        let home = try CommandHome.initialised()
        try home.store(["API_KEY": "value"])
        let path = try programs(home, fzf: "API_KEY")
        for option in ["--yes", "--quiet"] {
            let result = try run(home, ["reveal", "-p", "web", option], path: path)
            #expect(result.end == .exited(2), "\(result.screen)")
            #expect(result.screen.contains("reveal needs KEY"), "\(result.screen)")
        }
        let asJSON = try run(home, ["reveal", "-p", "web", "--json"], path: path)
        #expect(asJSON.end == .exited(2) && asJSON.screen.contains("usage"), "\(asJSON.screen)")
        failed(try home.run(["reveal", "-p", "web"]), 2, "reveal needs KEY")
        failed(try home.run(["reveal", "API_KEY"]), 2, "No project given")
        failed(try home.run(["deployment", "promote", "-p", "web"]), 2, "needs DEPLOYMENT")
        // A command with two missing words, and one that changes something without a project.
        let two = try run(home, ["rename", "-p", "web"], path: path)
        #expect(two.end == .exited(2) && two.screen.contains("needs KEY"), "\(two.screen)")
        // All projects are meant.
        done(try run(home, ["list", "--all-projects"], path: path))
        let push = try run(home, ["push"], path: path)
        #expect(push.end == .exited(2) && push.screen.contains("No project given"))
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("offered")))
    }

    @Test func `fzf gets names alone and picks, if it is installed`() throws {
        let home = try CommandHome.initialised()
        try home.store(["API_KEY": "value-of-key", "API_URL": "value-of-url"])
        let result = try run(
            home, ["reveal", "-p", "web"], path: try programs(home, fzf: "API_URL"))
        #expect(done(result).screen.contains("value-of-url"), "\(result.screen)")
        let offered = String(decoding: try home.directory.read("offered"), as: UTF8.self)
        #expect(
            offered == """
                API_KEY\tproduction, preview, development
                API_URL\tproduction, preview, development

                """)
        let environment = try home.directory.read("fzf-environment")
        #expect(!String(decoding: environment, as: UTF8.self).contains("ZG_ENV_PASSPHRASE"))
        let none = try run(
            home, ["reveal", "-p", "web"], path: try programs(home, fzf: "NOTHING"))
        #expect(none.end == .exited(1) && none.screen.contains("Canceled."), "\(none.screen)")
    }

    @Test func `link and promote offer projects and deployments`() throws {
        let platform = try SandboxHome()
        let home = platform.home
        try home.store(["KEY": "value"], in: "notes")
        let path = try programs(home)
        let linked = try run(
            home, ["link"], url: platform.url, path: path,
            [
                (.terminal("only in the vault"), .type(Array("web".utf8))),
                (.terminal("1 of 3"), .line("")),
            ])
        #expect(done(linked).stepsDone == 2, "\(linked.screen)")
        #expect(try json(platform.run("projects", "--json"))["projects"]?.elements.count == 2)
        let promoted = try run(
            home, ["deployment", "promote"], url: platform.url, path: path,
            [
                (.terminal("Deployment: "), .type(Array("feature".utf8))),
                (.terminal("1 of 1"), .line("")), (.terminal("[y/N]"), .line("y")),
            ])
        #expect(promoted.stepsDone == 3, "\(promoted.screen)")
        done(promoted)
        #expect(try platform.deployments().count == 3)
        // What cannot be promoted is not offered.
        platform.server.setBuild(.fail)
        #expect(try platform.run("redeploy", "-p", "web", "--wait", "--yes").status == 9)
        let broken = try platform.deployments()[0]
        let live = try #require(try platform.current())
        let canceled = try run(
            home, ["deployment", "promote"], url: platform.url,
            path: try programs(home, fzf: "NOTHING"))
        #expect(canceled.end == .exited(1), "\(canceled.screen)")
        let offered = String(decoding: try home.directory.read("offered"), as: UTF8.self)
        #expect(offered.contains("dpl_"), "\(offered)")
        #expect(!offered.contains(broken) && !offered.contains(live), "\(offered)")
    }
}
