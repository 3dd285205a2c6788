import Foundation
import TestSupport
import Testing

/// Scripts of the build: what they install, print and refuse.
@Suite("Scripts of the build") struct ContributorScriptTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory(named: "scripts")
    }

    private func run(
        _ program: String, _ arguments: [String], path: String = "/usr/local/bin:/usr/bin:/bin",
        in folder: String? = nil
    ) throws -> ProgramResult {
        var runner = ProgramRunner(
            path: program, arguments,
            environment: ["PATH": path, "HOME": directory.path, "GIT_CONFIG_NOSYSTEM": "1"])
        runner.workingDirectory = folder
        return try runner.run()
    }

    private func script(_ name: String) -> String { "\(DocumentationTests.root)/\(name)" }

    @Test("T2: the installed pages have no dead link, and a dead one is found")
    func links() throws {
        let installed = try run(script("Packaging/install-pages"), [directory.path])
        #expect(installed.status == 0, "\(installed.error)")
        let pages = directory.path("share/doc/zg-env")
        let checked = try run(script("Tests/Packaging/check-links"), [pages])
        #expect(checked.status == 0, "\(checked.error)")
        let recipe = pages + "/docs/recipes/postgres-password.sh"
        #expect(FileManager.default.fileExists(atPath: recipe))
        for (link, problem) in [
            ("missing.md", "does not exist"), ("LICENSE#no", ""),
            ("SECURITY.md#no", "no such heading"),
        ] {
            try directory.write(
                "# One\n\n[there](\(link)), [here](#one)\n", to: "share/doc/zg-env/a.md")
            let result = try run(script("Tests/Packaging/check-links"), [pages])
            #expect(result.status == (problem.isEmpty ? 0 : 1), "\(link): \(result.error)")
            #expect(problem.isEmpty || result.error.contains("a.md: \(link) "), "\(result.error)")
            #expect(problem.isEmpty || result.error.contains(problem), "\(result.error)")
        }
    }

    @Test("T2: uninstalling removes pages and recipes, and keeps a vault in the same directory")
    func uninstall() throws {
        #expect(try run(script("Packaging/install-pages"), [directory.path]).status == 0)
        try directory.write("a vault", to: "share/zg-env/vault.zgv")
        let removed = try run(script("Packaging/install-files"), ["--remove", directory.path])
        #expect(removed.status == 0, "\(removed.error)")
        let left = FileManager.default.enumerator(atPath: directory.path("share"))?
            .compactMap { $0 as? String }.filter { !$0.hasPrefix("doc") || $0.contains("zg-env") }
        #expect(left?.sorted() == ["zg-env", "zg-env/vault.zgv"])
    }

    @Test("A new commit's subject has at most 72 characters")
    func subjects() throws {
        let checker = directory.path("clone/Tests/Structure/subjects.sh")
        try FileManager.default.createDirectory(
            atPath: directory.path("clone/Tests/Structure"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: script("Tests/Structure/subjects.sh"), toPath: checker)
        let clone = directory.path("clone")
        // Outside a repository, and in one without commits, there is nothing to check.
        #expect(try run(checker, []).status == 0)
        func git(_ arguments: String...) throws {
            let result = try run("/usr/bin/env", ["git"] + arguments, in: clone)
            #expect(result.status == 0, "\(arguments): \(result.error)")
        }
        func commit(_ subject: String) throws {
            try git(
                "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q",
                "--allow-empty", "-m", subject)
        }
        try git("init", "-q")
        #expect(try run(checker, []).status == 0)
        try commit(String(repeating: "é", count: 72))
        #expect(try run(checker, []).status == 0)
        try git("checkout", "-q", "--detach")
        try commit(String(repeating: "a", count: 73))
        let refused = try run(checker, [])
        #expect(refused.status == 1 && refused.error.contains("73 characters"), "\(refused.error)")
        // A commit that a remote branch has is not new, but this history has no base.
        try commit("Short")
        #expect(try run(checker, []).status == 0)
    }

    @Test("T23: set-up prints one line, keeps apt-get's output in a log, and shows its failure")
    func setUp() throws {
        try FileManager.default.createDirectory(
            atPath: directory.path("tree/.ci"), withIntermediateDirectories: true)
        let setUp = directory.path("tree/.ci/set-up")
        try FileManager.default.copyItem(atPath: script(".ci/set-up"), toPath: setUp)
        for tool in ["bash", "env", "dirname", "mkdir", "tail"] {
            let found = ["/usr/bin/", "/bin/"].map { $0 + tool }.first {
                FileManager.default.fileExists(atPath: $0)
            }
            try FileManager.default.createDirectory(
                atPath: directory.path("bin"), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: directory.path("bin/\(tool)"), withDestinationPath: try #require(found))
        }
        try directory.write("#!/bin/bash\n", to: "bin/swift", mode: 0o755)
        try directory.write("#!/bin/bash\nexec \"$@\"\n", to: "bin/sudo", mode: 0o755)
        let apt = "#!/bin/bash\nprintf '%s\\n' noise{1..50}; [[ $1 != install ]] || exit "
        for (status, lines) in [(0, 1), (100, 1)] {
            try directory.write("\(apt)\(status)\n", to: "bin/apt-get", mode: 0o755)
            let result = try run("/bin/bash", [setUp, "count"], path: directory.path("bin"))
            #expect(result.status == (status == 0 ? 0 : 1), "\(result.output)\(result.error)")
            #expect(result.output.split(separator: "\n").count == lines, "\(result.output)")
            #expect(result.output.contains("valgrind"), "\(result.output)")
            #expect(result.error.contains("noise50") == (status != 0), "\(result.error)")
            let log = try String(
                contentsOfFile: directory.path("tree/.build/set-up.log"), encoding: .utf8)
            #expect(log.contains("valgrind (counts the instructions of run)"), "\(log)")
            #expect(log.split(separator: "\n").count { $0 == "noise1" } == 2, "\(log)")
        }
    }
}
