import Foundation
import Glibc
import TestSupport
import Testing

/// Runs git in a home's directory `work`.
struct Git {
    private let home: CommandHome

    init(_ home: CommandHome) {
        self.home = home
    }

    @discardableResult
    func run(
        _ arguments: [String], in directory: String = "work", unlocked: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ProgramResult {
        let result = try attempt(arguments, in: directory, unlocked: unlocked)
        #expect(result.end == .exited(0), "\(result.error)", sourceLocation: sourceLocation)
        return result
    }

    func attempt(
        _ arguments: [String], in directory: String = "work", unlocked: Bool = false
    ) throws -> ProgramResult {
        var environment = home.environment
        environment["GIT_CONFIG_NOSYSTEM"] = "1"
        for role in ["AUTHOR", "COMMITTER"] {
            environment["GIT_\(role)_NAME"] = "Test"
            environment["GIT_\(role)_EMAIL"] = "test@example.org"
        }
        if unlocked { environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath }
        var runner = ProgramRunner(path: "/usr/bin/git", arguments, environment: environment)
        runner.workingDirectory = home.directory.path(directory)
        return try runner.run()
    }
}

/// `scan --staged` and the hook.
@Suite("Finding staged values")
struct StagedScanTests {
    private static let token = "tok_9fK2xLm41zQ-staged"

    private let home: CommandHome
    private let git: Git

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["TOKEN": Self.token])
        git = Git(home)
        try git.run(["init", "-q", "."])
    }

    private func write(_ text: String, to name: String) throws {
        try home.directory.write(text, to: "work/" + name)
    }

    private func staged(
        in directory: String = "work", sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        var runner = home.runner(["scan", "--staged", "-p", "web", "--json"])
        runner.workingDirectory = home.directory.path(directory)
        let result = try runner.run()
        let findings = try JSONDocument(result.standardOutput)["findings"]?.elements ?? []
        #expect(
            result.end == .exited(findings.isEmpty ? 0 : 1), "\(result.error)",
            sourceLocation: sourceLocation)
        return findings.map { finding in
            #expect(finding["staged"] == true, sourceLocation: sourceLocation)
            return "\(text(finding["file"])):\(text(finding["line"]))"
        }
    }

    @Test func `the staged bytes count, not those of the work tree`() throws {
        #expect(try staged() == [])
        try write("one\n\(Self.token)\n", to: "file")
        #expect(try staged() == [])
        try git.run(["add", "file"])
        try write("clean\n", to: "file")
        #expect(try staged() == ["file:2"])
        try git.run(["add", "file"])
        try write(Self.token, to: "file")
        #expect(try staged() == [])
    }

    @Test func `renamed files, subdirectories and linked work trees are searched`() throws {
        try home.directory.makeDirectory("work/sub")
        try write("\(Self.token)\n", to: "old")
        try git.run(["add", "."])
        #expect(try staged(in: "work/sub") == ["old:1"])
        try git.run(["commit", "-qm", "Begin"])
        #expect(try staged() == [])
        try git.run(["mv", "old", "sub/new"])
        #expect(try staged(in: "work/sub") == ["sub/new:1"])
        try git.run(["commit", "-qm", "Move"])
        try git.run(["worktree", "add", "-q", "../tree", "-b", "side"])
        try home.directory.write("x\n\n\(Self.token)", to: "tree/more \u{E9}\n")
        try git.run(["add", "."], in: "tree")
        #expect(try staged(in: "tree") == ["more \u{E9}\n:3"])
        #expect(try staged() == [])
    }

    @Test func `an unfinished merge, submodules and links are searched`() throws {
        try write("base\n", to: "file")
        try git.run(["add", "."])
        try git.run(["commit", "-qm", "Base"])
        try git.run(["checkout", "-qb", "side"])
        try write("side \(Self.token)\n", to: "file")
        try write("\(Self.token)\n", to: "from side")
        try git.run(["add", "."])
        try git.run(["commit", "-qm", "Side"])
        try git.run(["checkout", "-q", "-"])
        try write("other\n", to: "file")
        try git.run(["commit", "-qam", "Other"])
        #expect(try git.attempt(["merge", "-q", "side"]).end == .exited(1))
        #expect(try staged() == ["file:1", "from side:1"])
        try git.run(["merge", "--abort"])
        #expect(unsafe symlink(Self.token, home.directory.path("work/link")) == 0)
        try git.run(["add", "link"])
        #expect(try staged() == ["link:1"])
        try git.run([
            "update-index", "--add", "--cacheinfo",
            "160000," + String(repeating: "1", count: 40) + ",module",
        ])
        #expect(try staged() == ["link:1"])
    }

    @Test func `missing objects are named`() throws {
        try write("\(Self.token)\n", to: "file")
        try git.run(["add", "."])
        try git.run(
            [
                "update-index", "--add", "--cacheinfo",
                "100644," + String(repeating: "1", count: 40) + ",lost",
            ])
        let result = try home.run(["scan", "--staged", "-p", "web", "--json"])
        #expect(result.end == .exited(1))
        let document = try JSONDocument(result.standardOutput)
        #expect(document["skipped"]?.elements.first?["file"] == "lost")
        #expect(document["findings"]?.elements.first?["file"] == "file")
    }

    @Test func `outside a repository nothing is staged`() throws {
        var runner = home.runner(["scan", "--staged", "-p", "web"])
        runner.workingDirectory = home.directory.path
        failed(try runner.run(), 2, "not in a readable git repository")
        runner = home.runner(["scan", "--install-hook"])
        runner.workingDirectory = home.directory.path
        failed(try runner.run(), 2, "not in a readable git repository")
    }

    @Test func `a replaced object hides nothing`() throws {
        try write("\(Self.token)\n", to: "file")
        try write("clean\n", to: "other")
        try git.run(["add", "."])
        func name(_ file: String) throws -> String {
            try git.run(["rev-parse", ":" + file]).output.trimmingCharacters(in: .newlines)
        }
        try git.run(["replace", try name("file"), try name("other")])
        #expect(try git.run(["show", ":file"]).output == "clean\n")
        #expect(try staged() == ["file:1"])
    }

    @Test func `a bare repository has nothing staged and no commit to stop`() throws {
        try git.run(["init", "-q", "--bare", "bare"])
        for option in ["--staged", "--install-hook"] {
            var runner = home.runner(["scan", option, "-p", "web"])
            runner.workingDirectory = home.directory.path("work/bare")
            failed(try runner.run(), 2, "bare")
        }
        // A work tree linked to one has both.
        try write("x\n", to: "file")
        try git.run(["add", "."])
        try git.run(["commit", "-qm", "Begin"])
        try git.run(["push", "-q", "bare", "HEAD:main"])
        try git.run(["-C", "bare", "worktree", "add", "-q", "../../tree", "main"])
        try home.directory.write("\(Self.token)\n", to: "tree/new")
        try git.run(["add", "."], in: "tree")
        #expect(try staged(in: "tree") == ["new:1"])
        var runner = home.runner(["scan", "--install-hook", "-p", "web"])
        runner.workingDirectory = home.directory.path("tree")
        done(try runner.run())
        #expect(
            try git.attempt(["commit", "-qm", "Leak"], in: "tree", unlocked: true).end
                == .exited(1))
    }

    // MARK: The hook

    private var hook: String { home.directory.path("work/.git/hooks/pre-commit") }

    @Test func `the hook stops a commit with a value, and lets others through`() throws {
        done(try home.run(["scan", "--install-hook", "-p", "web"]))
        try write("\(Self.token)\n", to: "file")
        try git.run(["add", "."])
        let stopped = try git.attempt(["commit", "-qm", "Leak"], unlocked: true)
        #expect(stopped.end == .exited(1))
        #expect(
            (stopped.output + stopped.error).contains("file:1: TOKEN (project web, plain text)"))
        #expect(!(stopped.output + stopped.error).contains(Self.token))
        #expect(try git.attempt(["rev-parse", "-q", "--verify", "HEAD"]).end == .exited(1))
        try write("clean\n", to: "file")
        try git.run(["add", "."])
        try git.run(["commit", "-qm", "Clean"], unlocked: true)
        // `commit -a` and `commit FILE` build a separate index.
        try write("\(Self.token)\n", to: "file")
        for arguments in [["commit", "-qam", "All"], ["commit", "-qm", "One", "file"]] {
            #expect(try git.attempt(arguments, unlocked: true).end == .exited(1))
        }
        try home.directory.makeDirectory("work/sub")
        #expect(
            try git.attempt(["commit", "-qam", "Sub"], in: "work/sub", unlocked: true).end
                == .exited(1))
    }

    @Test func `locked values stop the commit, with a hint`() throws {
        done(try home.run(["scan", "--install-hook", "-p", "web"]))
        try write("clean\n", to: "file")
        try git.run(["add", "."])
        let stopped = try git.attempt(["commit", "-qm", "Locked"])
        #expect(stopped.end == .exited(1))
        #expect(stopped.error.contains("zg-env unlock"), "\(stopped.error)")
        #expect(try git.attempt(["rev-parse", "-q", "--verify", "HEAD"]).end == .exited(1))
    }

    @Test func `another hook is kept, and ours can be updated and removed`() throws {
        let install = ["scan", "--install-hook", "-p", "web", "--except", "A,B"]
        let dry = done(try home.run(install + ["--dry-run"]))
        #expect(dry.output.contains("--staged") && dry.output.contains("'--except' 'A'"))
        #expect(!FileManager.default.fileExists(atPath: hook))
        let all = done(
            try home.run(
                ["scan", "--install-hook", "--all-projects", "--dry-run"],
                environment: ["ZG_ENV_PROJECT": "web"]))
        #expect(all.output.contains("'--all-projects'") && !all.output.contains("'-p'"))
        failed(try home.run(["scan", "--remove-hook"]), 4)
        for _ in 0..<2 { done(try home.run(install)) }
        #expect(unsafe access(hook, X_OK) == 0)
        done(try home.run(["scan", "--remove-hook"]))
        #expect(!FileManager.default.fileExists(atPath: hook))
        try home.directory.write("#!/bin/sh\ntrue\n", to: "work/.git/hooks/pre-commit")
        failed(try home.run(install), 5, "not installed by zg-env", "|| exit $?")
        failed(try home.run(["scan", "--remove-hook"]), 5)
        #expect(try String(contentsOfFile: hook, encoding: .utf8) == "#!/bin/sh\ntrue\n")
        try FileManager.default.removeItem(atPath: hook)
        #expect(unsafe symlink("/bin/true", hook) == 0)
        failed(try home.run(install), 5)
    }

    @Test func `core.hooksPath says where the hook goes`() throws {
        try git.run(["config", "core.hooksPath", "my hooks/x"])
        try home.directory.makeDirectory("work/my hooks")
        done(try home.run(["scan", "--install-hook", "-p", "it's"]))
        let path = home.directory.path("work/my hooks/x/pre-commit")
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("'it'\\''s'"))
        #expect(!FileManager.default.fileExists(atPath: hook))
        // The same one from a subdirectory.
        try home.directory.makeDirectory("work/sub")
        var below = home.runner(["scan", "--remove-hook"])
        below.workingDirectory = home.directory.path("work/sub")
        done(try below.run())
        #expect(!FileManager.default.fileExists(atPath: path))
        let object = try json(home.run(["scan", "--install-hook", "-p", "web", "--json"]))
        #expect(text(object["path"]).hasSuffix("my hooks/x/pre-commit"))
    }

    private func install(_ options: [String] = []) throws -> ProgramResult {
        try home.run(["scan", "--install-hook", "-p", "web"] + options)
    }

    @Test("SEC-F17: a repository's settings do not lead the hook out of it unasked")
    func hookOutside() throws {
        let outside = try home.directory.makeDirectory("outside")
        let hook = outside + "/pre-commit"
        func isThere() -> Bool { FileManager.default.fileExists(atPath: hook) }
        for path in [outside, "../outside", "../outside/new", "../outside/new/er"] {
            try git.run(["config", "core.hooksPath", path])
            failed(try install(), 5, "outside", "--hooks-path")
            failed(try home.run(["scan", "--remove-hook"]), 5, "outside")
        }
        // A work tree that claims everything does not help.
        try git.run(["config", "core.hooksPath", outside])
        try git.run(["config", "core.worktree", "/"])
        failed(try install(), 5, "--hooks-path")
        try git.run(["config", "--unset", "core.worktree"])
        // Nor does a link within the repository, with or without a setting.
        for (setting, name) in [("hooks", "work/hooks"), ("", "work/.git/hooks")] {
            try git.run(["config", "core.hooksPath", setting])
            if setting.isEmpty { try git.run(["config", "--unset", "core.hooksPath"]) }
            try? FileManager.default.removeItem(atPath: home.directory.path(name))
            #expect(unsafe symlink(outside, home.directory.path(name)) == 0)
            failed(try install(), 5, "outside")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        // With a matching --hooks-path it does.
        try git.run(["config", "core.hooksPath", "../outside"])
        failed(try install(["--hooks-path", "../elsewhere"]), 5, "not ../elsewhere")
        let installed = done(try install(["--hooks-path", outside]))
        #expect(installed.error.contains("zg-env scan --remove-hook --hooks-path \(outside)"))
        #expect(isThere())
        failed(try home.run(["scan", "--remove-hook"]), 5, "outside")
        #expect(isThere())
        done(try home.run(["scan", "--remove-hook", "--hooks-path", "../outside"]))
        #expect(!isThere())
        failed(try home.run(["scan", "-p", "web", "--hooks-path", outside]), 2, "--install-hook")
    }

    @Test("SEC-F17: a .git file does not lead the hook into a repository that does not list it")
    func hookOfAnotherRepository() throws {
        func install(in directory: String) throws -> ProgramResult {
            var runner = home.runner(["scan", "--install-hook", "-p", "web"])
            runner.workingDirectory = home.directory.path(directory)
            return try runner.run()
        }
        try git.run(["commit", "-q", "--allow-empty", "-m", "Begin"])
        let hook = home.directory.path("work/.git/hooks/pre-commit")
        func isThere() -> Bool { FileManager.default.fileExists(atPath: hook) }
        try home.directory.makeDirectory("foreign")
        let repository = home.directory.path("work/.git")
        try home.directory.write("gitdir: \(repository)\n", to: "foreign/.git")
        failed(try install(in: "foreign"), 5, "outside", "--hooks-path")
        // A repository whose own files claim that another one has its hooks.
        try home.directory.makeDirectory("common")
        try git.run(["init", "-q"], in: "common")
        try home.directory.write(repository + "\n", to: "common/.git/commondir")
        failed(try install(in: "common"), 5, "outside")
        #expect(!isThere())
        // Linked work trees and submodules are listed in the repository.
        try git.run(["worktree", "add", "-q", "../tree"])
        done(try install(in: "tree"))
        #expect(isThere())
        try home.directory.makeDirectory("origin")
        try git.run(["init", "-q"], in: "origin")
        try git.run(["commit", "-q", "--allow-empty", "-m", "Begin"], in: "origin")
        try git.run([
            "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
            home.directory.path("origin"), "module",
        ])
        done(try install(in: "work/module"))
        #expect(
            FileManager.default.fileExists(
                atPath: home.directory.path("work/.git/modules/module/hooks/pre-commit")))
    }

    @Test("SEC-F9: git that hangs on a pipe is given up, and the import succeeds")
    func gitThatWaits() throws {
        try git.run(["config", "include.path", home.directory.path("pipe")])
        #expect(unsafe mkfifo(home.directory.path("pipe"), 0o600) == 0)
        try write("KEY=value\n", to: ".env")
        let result = done(try home.run(["import", ".env", "-p", "web"]))
        #expect(result.error.contains("Git did not report whether it tracks the file."))
    }

    @Test("SEC-F17: the user's own settings may put hooks anywhere")
    func hookOfUser() throws {
        let outside = try home.directory.makeDirectory("outside")
        try git.run(["config", "--global", "core.hooksPath", "~/outside"])
        done(try install())
        #expect(FileManager.default.fileExists(atPath: outside + "/pre-commit"))
        // A setting of the repository wins in git, and counts as the repository's.
        let other = try home.directory.makeDirectory("other")
        try git.run(["config", "core.hooksPath", other])
        failed(try install(), 5, "outside")
        try git.run(["config", "extensions.worktreeConfig", "true"])
        try git.run(["config", "--unset", "core.hooksPath"])
        try git.run(["config", "--worktree", "core.hooksPath", other])
        failed(try install(), 5, "outside")
        try git.run(["config", "--worktree", "--unset", "core.hooksPath"])
        try git.run(["config", "include.path", "../included"])
        try write("[core]\n\thooksPath = \(other)\n", to: "included")
        failed(try install(), 5, "outside")
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == [])
        // A user's path that starts in the repository is followed as far as it leads.
        try git.run(["config", "--unset", "include.path"])
        try git.run(["config", "--global", "core.hooksPath", "hooks"])
        done(try install())
        #expect(
            FileManager.default.fileExists(atPath: home.directory.path("work/hooks/pre-commit")))
        try FileManager.default.removeItem(atPath: home.directory.path("work/hooks"))
        #expect(unsafe symlink(other, home.directory.path("work/hooks")) == 0)
        // It is absolute at this point only if it was written so.
        failed(try install(), 5, "outside")
    }

    @Test func `disabled hooks cannot be added to, and an error says so`() throws {
        try git.run(["config", "core.hooksPath", "/dev/null"])
        failed(
            try home.run(["scan", "--install-hook", "-p", "web"]), 1, "/dev/null/pre-commit",
            "could not be written: Not a directory")
    }
}
