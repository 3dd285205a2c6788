import Foundation
import TestSupport
import Testing

/// A hostile environment: failing inputs, closed outputs and files in the way.
@Suite("Hostile surroundings")
struct SurroundingsTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "value"])
    }

    @Test func `a slow stdin is read to its end`() throws {
        // The writer pauses, and the reading end is non-blocking, as ssh and node leave it.
        let script = """
            import os, subprocess, sys, time
            r, w = os.pipe(); os.set_blocking(r, False)
            p = subprocess.Popen(sys.argv[1:], stdin=r)
            os.close(r); os.write(w, b"first-"); time.sleep(0.3); os.write(w, b"second"); os.close(w)
            sys.exit(p.wait())
            """
        let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        let runner = home.wrapped(try #require(python)) {
            ["-c", script, $0, "set", "SLOW", "-p", "web"]
        }
        done(try runner.run())
        #expect(try home.revealed("SLOW") == Array("first-second".utf8))
    }

    @Test func `an input that fails is refused, and nothing changes`() throws {
        let before = try home.vaultBytes()
        failed(try home.run(["import", "/proc/self/mem", "-p", "web"]), 2, "cannot be read")
        failed(
            try home.run([
                "set", "X", "-p", "web", "--from-file", "/proc/self/mem", "--allow-empty",
            ]),
            2, "cannot be read")
        failed(try home.run(["import", home.directory.path, "-p", "web"]), 2)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a closed stdin is not a value, and never a file that zg-env opened`() throws {
        for arguments in [["set", "X", "-p", "web"], ["import", "-", "-p", "web"], ["login"]] {
            failed(try home.run(arguments, input: .closed), 2, "cannot be read")
        }
    }

    @Test func `a failing output does not undo the change, and the error says so`() throws {
        let full = try home.wrapped("/bin/sh") {
            ["-c", "exec \"$0\" rm KEY -p web --yes --json >/dev/full", $0]
        }.run()
        #expect(full.status == 1)
        #expect(full.error.contains("had already finished"))
        failed(try home.run(["show", "KEY", "-p", "web"]), 4)
        // No error when there was no output from the start.
        var closed = home.runner(["set", "NEW", "-p", "web", "--json"], input: .text("x"))
        closed.output = .closed
        let result = try closed.run()
        #expect(result.status == 141 && result.error == "")
        done(try home.run(["show", "NEW", "-p", "web"]))
        var silent = home.runner(["set", "NEW", "-p", "web"], input: .text("x"))
        silent.error = .closed
        done(try silent.run())
    }

    @Test func `export never replaces a file that is or opens the vault`() throws {
        let export = ["export", "-p", "web", "-t", "production", "--force", "-o"]
        for path in [home.vaultPath, home.vaultPath + ".lock", home.passphrasePath] {
            let before = FileManager.default.contents(atPath: path)
            failed(try home.run(export + [path]), 2, "belongs to the vault")
            #expect(FileManager.default.contents(atPath: path) == before)
        }
        failed(try home.run(export + ["/dev/null"]), 2, "not a regular file")
        failed(try home.run(export + ["-"]), 2)
        #expect(try home.revealed("KEY") == Array("value".utf8))
    }

    @Test func `import keeps a file with content that is stored nowhere else`() throws {
        func kept(_ name: String, _ text: String, _ options: [String]) throws -> Bool {
            let path = try home.directory.write(text, to: "work/\(name)")
            let result = try home.run(["import", name, "-p", "web", "--remove"] + options)
            let isThere = FileManager.default.fileExists(atPath: path)
            #expect(result.end == .exited(isThere ? 1 : 0), "\(result.error)")
            #expect(isThere == result.error.contains("was not deleted"), "\(result.error)")
            #expect(
                isThere == result.error.contains("The values were imported, but"), "\(result.error)"
            )
            return isThere
        }
        #expect(try kept("skipped.env", "KEY=other\n", ["--on-conflict", "skip"]))
        #expect(try kept("junk.env", "SECRET KEY=abc\nA=1\n", []))
        #expect(try !kept("whole.env", "A=1\nB='two'\n", []))
        let target = try home.directory.write("C=3\n", to: "work/target.env")
        try FileManager.default.createSymbolicLink(
            atPath: home.directory.path("work/link.env"), withDestinationPath: target)
        let result = try home.run(["import", "link.env", "-p", "web", "--remove"])
        #expect(result.end == .exited(1))
        #expect(result.error.contains("link.env was not deleted"), "\(result.error)")
        #expect(FileManager.default.fileExists(atPath: target))
    }

    @Test("SEC-F17: import --remove of a file with another hard link keeps it and fails")
    func hardLink() throws {
        let path = try home.directory.write("A=of-the-link\n", to: "work/h1.env")
        #expect(unsafe link(path, home.directory.path("work/h2.env")) == 0)
        try home.directory.write("B=2\n", to: "work/other.env")
        let import_ = ["import", "h1.env", "other.env", "-p", "web", "--remove"]
        let result = try home.run(import_)
        #expect(result.end == .exited(1))
        #expect(result.error.contains("h1.env was not deleted: it has another hard link"))
        #expect(
            result.error.contains("zg-env: The values were imported, but h1.env was not deleted."))
        #expect(result.error.contains("Deleted other.env."))
        #expect(!result.error.contains("Deleted h1.env"))
        #expect(try home.revealed("A") == Array("of-the-link".utf8))
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/other.env")))
        // The error comes with the result.
        let asJSON = try home.run(["import", "h1.env", "-p", "web", "--remove", "--json"])
        #expect(asJSON.end == .exited(1))
        let document = try JSONDocument(asJSON.standardOutput)
        #expect(document["unchanged"] == ["A"])
        #expect(document["warnings"]?.elements.map { $0["code"] } == ["plaintext-kept"])
        #expect(try JSONDocument(asJSON.standardError)["error"]?["code"] == "failed")
        // With one name it is removed.
        #expect(unsafe unlink(home.directory.path("work/h2.env")) == 0)
        done(try home.run(["import", "h1.env", "-p", "web", "--remove"]))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a recovery code that nobody saw is reported`() throws {
        var runner = home.runner(["slot", "add", "recovery"])
        runner.output = .closed
        let result = try runner.run()
        #expect(result.status == 1)
        #expect(result.error.contains("cannot be shown again"))
        #expect(result.error.contains("slot remove"))
    }

    @Test func `a push with a target unknown to both sides is an error`() throws {
        let platform = try SandboxHome()
        try platform.home.store(["KEY": "value"])
        failed(
            try platform.run("push", "-p", "web", "-t", "nope", "--yes"), 2, "no custom environment"
        )
    }
}
