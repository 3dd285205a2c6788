import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

@testable import ZGEnvCommands

/// What links a directory to a project, and who may.
@Suite("Links of directories")
struct LinkTests {
    private func projectFile(
        _ platform: SandboxHome, _ content: String, in directory: String = "work"
    ) throws {
        try platform.home.directory.makeDirectory("\(directory)/.vercel")
        try platform.home.directory.write(content, to: "\(directory)/.vercel/project.json")
    }

    private func vercelID(_ platform: SandboxHome, _ name: String = "web") throws -> String {
        try #require(try platform.teammate.send("GET", "/v9/projects/\(name)")["id"]?.string)
    }

    private func ownerID(_ platform: SandboxHome) throws -> String {
        try #require(
            try platform.teammate.send("GET", "/v9/projects/web")["accountId"]?.string)
    }

    @Test func `link writes the Vercel CLI's file and approves the directory`() throws {
        let platform = try SandboxHome()
        let link = try json(platform.run("link", "web", "--json"))
        let id = try vercelID(platform)
        #expect(link["project"] == "web")
        #expect(link["platformProjectId"] == .string(id))
        let file = try JSONDocument(platform.home.directory.read("work/.vercel/project.json"))
        #expect(file["projectId"] == .string(id))
        #expect(file["orgId"]?.text == (try ownerID(platform)))
        #expect(file["projectName"] == "web")
        // From here on --project is not needed.
        done(try platform.run("set", "KEY", input: .text("value")))
        #expect(done(try platform.run("reveal", "KEY")).output == "value")
        done(try platform.run("push", "--yes"))
        #expect(platform.records("KEY") == ["production,preview,development=value"])
        let child = done(try platform.run("run", "--", "printenv", "KEY"))
        #expect(child.output == "value\n")
        done(try platform.run("redeploy", "--yes", "--wait"))
        // In subdirectories too.
        try platform.home.directory.makeDirectory("work/deep/er")
        var below = platform.runner(["list", "--json"])
        below.workingDirectory = platform.home.directory.path("work/deep/er")
        #expect(try json(below.run())["project"] == "web")
        // The same link changes nothing, another project is a conflict.
        done(try platform.run("link", "web"))
        try failedAsJSON(platform.run("link", "bare", "--json"), 5, "conflict")
        done(try platform.run("link", "bare", "--force"))
        #expect(try json(platform.run("list", "--json"))["project"] == "bare")
    }

    @Test func `a directory whose name only looks the same is not approved`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "secret-value")
        for name in ["caf\u{E9}", "cafe\u{301}"] {
            try platform.home.directory.makeDirectory("work/\(name)")
            #expect(unsafe mkdir(platform.home.directory.path("work/\(name)/.vercel"), 0o700) == 0)
        }
        func run(in name: String, _ arguments: String...) throws -> ProgramResult {
            var runner = platform.runner(arguments)
            runner.workingDirectory = platform.home.directory.path("work/\(name)")
            return try runner.run()
        }
        done(try run(in: "caf\u{E9}", "link", "web"))
        let link = try platform.home.directory.read("work/caf\u{E9}/.vercel/project.json")
        try platform.home.directory.write(link, to: "work/cafe\u{301}/.vercel/project.json")
        #expect(done(try run(in: "caf\u{E9}", "reveal", "KEY")).output == "secret-value")
        failed(try run(in: "cafe\u{301}", "reveal", "KEY"), 2, "is not approved")
    }

    @Test func `a link from a cloned repository reveals nothing`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "secret-value")
        try platform.pushed()
        try projectFile(
            platform,
            """
            {"projectId":"\(try vercelID(platform))","orgId":"\(try ownerID(platform))"}
            """)
        let requests = try platform.requests {
            for arguments in [
                ["list"], ["reveal", "KEY"], ["export"], ["push", "--yes"], ["set", "KEY"],
                ["redeploy", "--yes"],
            ] {
                let result = try platform.runner(arguments, input: .text("x")).run()
                failed(result, 2, ".vercel/project.json", "zg-env link", "-p")
                #expect(!result.error.contains("secret-value"))
            }
            let run = try platform.run("run", "--", "printenv", "KEY")
            #expect(run.status == 125)
            #expect(run.output == "")
            let asJSON = try platform.run("run", "--json", "--", "printenv", "KEY")
            try failedAsJSON(asJSON, 125, "usage")
        }
        #expect(requests == [])
        // With --project, or after an approval, it works.
        #expect(
            done(try platform.run("run", "-p", "web", "--", "printenv", "KEY")).output
                == "secret-value\n")
        try failedAsJSON(platform.run("link", "--json"), 2, "usage")
        done(try platform.run("link", "--yes"))
        #expect(done(try platform.run("run", "--", "printenv", "KEY")).output == "secret-value\n")

        // A changed link needs a new approval.
        try projectFile(
            platform,
            """
            {"projectId":"\(try vercelID(platform, "bare"))","orgId":"\(try ownerID(platform))"}
            """)
        failed(try platform.run("list"), 2, "changed since it was approved")
        // A copy elsewhere is not approved either.
        try projectFile(
            platform,
            """
            {"projectId":"\(try vercelID(platform))","orgId":"\(try ownerID(platform))"}
            """, in: "elsewhere")
        var elsewhere = platform.runner(["list"])
        elsewhere.workingDirectory = platform.home.directory.path("elsewhere")
        failed(try elsewhere.run(), 2, "is not approved")
    }

    @Test func `a project that exists only in the vault has its own kind of link`() throws {
        let platform = try SandboxHome(isLoggedIn: false)
        let requests = try platform.requests {
            done(try platform.run("link", "--local", "notes"))
            let file = try JSONDocument(platform.home.directory.read("work/.zg-env.json"))
            #expect(file == ["project": "notes"])
            done(try platform.run("set", "KEY", input: .text("value")))
            #expect(try json(platform.run("list", "--json"))["project"] == "notes")
        }
        #expect(requests == [])
        done(try platform.run("login", input: .text(platform.token)))
        let message = try failedAsJSON(
            platform.run("push", "--yes", "--json"), 4, "not_found")
        #expect(message.contains("notes"))
    }

    @Test("SEC-F17: a clone in an approved directory gets nothing without its own approval")
    func nestedClone() throws {
        let home = try CommandHome.initialised()
        let git = Git(home)
        try home.directory.makeDirectory("work/plain/deep")
        done(try home.run(["link", "--local", "web"]))
        done(try home.run(["set", "KEY"], input: .text("of-the-parent")))
        func output(_ directory: String) throws -> ProgramResult {
            var runner = home.runner(["run", "--", "printenv", "KEY"])
            runner.workingDirectory = home.directory.path(directory)
            return try runner.run()
        }
        func isRefused(_ directory: String, root: String) throws {
            let words = ["work/.zg-env.json", "does not apply in \(home.directory.path(root)),"]
            failed(try output(directory), 125, words[0], words[1], "zg-env link --local NAME")
            var approve = home.runner(["link", "--yes"])
            approve.workingDirectory = home.directory.path(directory)
            failed(try approve.run(), 2, words[0], words[1], "zg-env link --local NAME")
        }
        func isHandedOut(_ directory: String) throws {
            #expect(try done(output(directory)).output == "of-the-parent\n")
        }
        // Without git.
        try isHandedOut("work/plain/deep")
        // A clone in a directory without git, and a directory below it.
        try home.directory.makeDirectory("work/clone/src")
        try git.run(["init", "-q"], in: "work/clone")
        try isRefused("work/clone", root: "work/clone")
        try isRefused("work/clone/src", root: "work/clone")
        try isHandedOut("work/plain")
        // A repository in the link's directory, with a clone and a submodule in it.
        try git.run(["init", "-q"])
        try git.run(["commit", "-q", "--allow-empty", "-m", "Begin"])
        try isHandedOut("work")
        try isHandedOut("work/plain/deep")
        try isRefused("work/clone/src", root: "work/clone")
        try git.run(["commit", "-q", "--allow-empty", "-m", "Begin"], in: "work/clone")
        try git.run([
            "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
            home.directory.path("work/clone"), "module",
        ])
        #expect(try home.directory.read("work/module/.git").starts(with: "gitdir: ".utf8))
        try isRefused("work/module", root: "work/module")
        // A linked work tree inside belongs to the same repository; elsewhere no link is above it.
        try git.run(["worktree", "add", "-q", "trees/one", "-b", "one"])
        try home.directory.makeDirectory("work/trees/one/deep")
        try isHandedOut("work/trees/one/deep")
        try git.run(["worktree", "add", "-q", "../two", "-b", "two"])
        failed(try output("two"), 125, "No project given", "zg-env link --local")
        // One of the clone's does not.
        try git.run(["worktree", "add", "-q", "../of-clone", "-b", "three"], in: "work/clone")
        try isRefused("work/of-clone", root: "work/of-clone")
        // Nor one that only claims to.
        try home.directory.makeDirectory("work/fake")
        for text in [
            "gitdir: ../.git/worktrees/one\n", "gitdir: ../.git\n", "gitdir: /nowhere\n", "",
        ] {
            try home.directory.write(text, to: "work/fake/.git")
            try isRefused("work/fake", root: "work/fake")
        }
        // With its own link, once approved, it has its own project.
        var own = home.runner(["link", "--local", "clone"])
        own.workingDirectory = home.directory.path("work/clone")
        done(try own.run())
        done(try home.run(["set", "KEY", "-p", "clone"], input: .text("of-the-clone")))
        #expect(try done(output("work/clone/src")).output == "of-the-clone\n")
        try isHandedOut("work")
    }

    @Test("VAL-F17: a worktree beside the repository names the project of the main worktree")
    func workTree() throws {
        let platform = try SandboxHome()
        let git = Git(platform.home)
        try git.run(["init", "-q"])
        try git.run(["commit", "-q", "--allow-empty", "-m", "Begin"])
        try git.run(["worktree", "add", "-q", "../beside", "-b", "beside"])
        func result(_ words: String...) throws -> ProgramResult {
            var runner = platform.runner(words)
            runner.workingDirectory = platform.home.directory.path("beside")
            return try runner.run()
        }
        failed(try result("list"), 2, "No project given", "link this directory with")
        done(try platform.run("link", "web"))
        let words = [
            "The main worktree is linked to web (\(platform.home.directory.path("work"))).",
            "Link this one with: zg-env link web",
        ]
        failed(try result("list"), 2, "No project given", words[0], words[1])
        failed(try result("run", "--", "true"), 125, words[0], words[1])
        failed(try result("link"), 2, "not linked", words[0], words[1])
        done(try result("link", "web"))
        done(try result("list"))
    }

    @Test("USE-D15: in a git repository, link lets git ignore .vercel, as the Vercel CLI does")
    func ignored() throws {
        let platform = try SandboxHome()
        let directory = platform.home.directory
        func text(_ name: String = ".gitignore") throws -> String {
            String(decoding: try directory.read("work/\(name)"), as: UTF8.self)
        }
        #expect(try json(platform.run("link", "web", "--json"))["gitignore"] == .null)
        try FileManager.default.removeItem(atPath: directory.path("work/.vercel"))
        #expect(throws: (any Error).self) { try text() }
        let git = Git(platform.home)
        try git.run(["init", "-q"])
        let path = JSONDocument.string(directory.path("work/.gitignore"))
        let planned = done(try platform.run("link", "web", "--dry-run"))
        #expect(planned.error.contains("Would add .vercel to "), "\(planned.error)")
        #expect(
            try json(platform.run("link", "web", "--dry-run", "--json"))["gitignore"] == path)
        #expect(done(try platform.run("link", "web")).error.contains("Added .vercel to "))
        #expect(try text() == ".vercel\n")
        #expect(try git.run(["status", "--short"]).output == "?? .gitignore\n")
        for (before, after) in [
            ("a", "a\n.vercel\n"), ("a\r\n", "a\r\n.vercel\r\n"), ("/.vercel\n", "/.vercel\n"),
            (".vercel/\n", ".vercel/\n"), ("#.vercel\n", "#.vercel\n.vercel\n"), ("", ".vercel\n"),
        ] {
            try FileManager.default.removeItem(atPath: directory.path("work/.vercel"))
            try directory.write(before, to: "work/.gitignore", mode: 0o664)
            done(try platform.run("link", "web"))
            #expect(try text() == after)
        }
        // A directory of the repository whose root ignores it already, and a link out of it.
        try directory.write(".vercel\n", to: "work/.gitignore")
        try directory.makeDirectory("work/app")
        var inner = platform.runner(["link", "web", "--json"])
        inner.workingDirectory = directory.path("work/app")
        #expect(try json(inner.run())["gitignore"] == .null)
        try directory.write("outside\n", to: "outside")
        try FileManager.default.removeItem(atPath: directory.path("work/.gitignore"))
        try FileManager.default.removeItem(atPath: directory.path("work/.vercel"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("work/.gitignore"), withDestinationPath: "../outside")
        let warned = done(try platform.run("link", "web"))
        #expect(warned.error.contains("git does not ignore .vercel"), "\(warned.error)")
        #expect(try directory.read("outside") == Array("outside\n".utf8))
    }

    @Test func `projects of the same name in several teams get different local names`() throws {
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme"}],
                 "projects": [{"name": "web", "deployments": [{"target": "production"}]},
                   {"name": "web", "team": "acme", "deployments": [{"target": "production"}]}]}
                """)
        done(try platform.run("link", "web"))
        try failedAsJSON(
            platform.run("link", "web", "--team", "acme", "--force", "--json"), 5, "conflict")
        let link = try json(
            platform.run(
                "link", "web", "--team", "acme", "--as", "acme-web", "--force", "--json"))
        #expect(link["project"] == "acme-web")
        done(try platform.run("set", "KEY", input: .text("team")))
        done(try platform.run("push", "--yes"))
        let list = try platform.teammate.send("GET", "/v10/projects/web/env?slug=acme")
        #expect(list["envs"]?.array?.map { $0["key"]?.string } == ["KEY"])
        #expect(platform.records("KEY").count <= 1)
        let own = try platform.teammate.send("GET", "/v10/projects/web/env")
        #expect(own["envs"]?.array?.isEmpty == true)
        // Options that contradict the link.
        for arguments in [
            ["push", "-p", "web", "--team", "acme"], ["push", "-p", "acme-web", "--team", "other"],
            ["redeploy", "-p", "web", "--team", "acme"],
        ] {
            try failedAsJSON(
                platform.runner(arguments + ["--yes", "--json"]).run(), 5, "conflict")
        }
    }

    @Test func `repo.json and the two environment variables select projects too`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        try platform.pushed()
        let (id, owner) = (try vercelID(platform), try ownerID(platform))
        let both = ["VERCEL_ORG_ID": owner, "VERCEL_PROJECT_ID": id]
        #expect(try json(platform.run("list", "--json", environment: both))["project"] == "web")
        done(try platform.run("push", "--yes", environment: both))
        done(try platform.run("redeploy", "--yes", environment: both))
        for half in [["VERCEL_ORG_ID": owner], ["VERCEL_PROJECT_ID": id]] {
            failed(try platform.run("list", environment: half), 2, "VERCEL_PROJECT_ID")
            failed(try platform.run("push", "--yes", environment: half), 2)
        }
        let foreign = ["VERCEL_ORG_ID": "team_other", "VERCEL_PROJECT_ID": id]
        try failedAsJSON(
            platform.run("list", "--json", environment: foreign), 4, "not_found")

        try platform.home.directory.makeDirectory("work/.vercel")
        try platform.home.directory.makeDirectory("work/apps/web/src")
        try platform.home.directory.write(
            """
            {"orgId":"\(owner)","remoteName":"origin","projects":[
              {"id":"\(try vercelID(platform, "bare"))","name":"bare","directory":"apps/bare"},
              {"id":"\(id)","name":"web","directory":"apps/web"}]}
            """, to: "work/.vercel/repo.json")
        func inWeb(_ arguments: String...) throws -> ProgramResult {
            var runner = platform.runner(arguments)
            runner.workingDirectory = platform.home.directory.path("work/apps/web/src")
            return try runner.run()
        }
        failed(try inWeb("list"), 2, "repo.json")
        done(try inWeb("link", "--yes"))
        #expect(try json(inWeb("list", "--json"))["project"] == "web")
        // This does not approve the rest of the repository.
        failed(try platform.run("list"), 2)
    }

    @Test func `a folder of one letter in repo.json counts before the root`() throws {
        let directory = try TemporaryDirectory(named: "zg-link")
        try directory.makeDirectory(".vercel")
        try directory.makeDirectory("a")
        try directory.write(
            """
            {"orgId":"team_x","projects":[
              {"id":"prj_root","directory":"."},{"id":"prj_a","directory":"a"}]}
            """, to: ".vercel/repo.json")
        for (path, project) in [("a", "prj_a"), ("", "prj_root")] {
            let link = try LinkFile.nearest(
                to: path.isEmpty ? directory.path : directory.path(path), user: getuid()
            ) { _ in }
            #expect(link?.target == .platform(project: project, organisation: "team_x"))
        }
    }

    @Test(arguments: [
        "", "{}", "[]", "{\"projectId\":1,\"orgId\":2}", "{\"projectId\":\"prj_x\"}", "\u{0}",
        "{\"projectId\":\"../../user\",\"orgId\":\"x\"}",
    ])
    func `an invalid link is an error, and never another project`(content: String) throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        try projectFile(platform, content)
        for arguments in [["list"], ["link", "--yes"], ["push", "--yes"]] {
            let result = try platform.runner(arguments).run()
            #expect([2, 4].contains(result.status), "\(arguments): \(result.error)")
            #expect(result.output == "")
        }
        done(try platform.run("list", "-p", "web"))
    }

    @Test func `an unknown project is not found, and nothing is created`() throws {
        let platform = try SandboxHome()
        let writes = try platform.writes {
            try failedAsJSON(platform.run("link", "nowhere", "--json"), 4, "not_found")
            done(try platform.run("set", "KEY", "-p", "nowhere", input: .text("x")))
            try failedAsJSON(
                platform.run("push", "-p", "nowhere", "--yes", "--json"), 4, "not_found")
            try failedAsJSON(
                platform.run("push", "-p", "never", "--yes", "--json"), 4, "not_found")
        }
        #expect(writes == [])
        #expect(
            !FileManager.default.fileExists(
                atPath: platform.home.directory.path("work/.vercel/project.json")))
    }
}
