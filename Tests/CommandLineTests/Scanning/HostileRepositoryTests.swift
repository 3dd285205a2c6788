import Foundation
import TestSupport
import Testing

/// A repository whose configuration names a program wherever git accepts one.
@Suite("Hostile repositories")
struct HostileRepositoryTests {
    private let home: CommandHome
    private let git: Git
    private let mark: String

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "a-value-of-the-vault"])
        git = Git(home)
        mark = home.directory.path("ran")
        try home.directory.write("A=1\n", to: "work/.env")
        try home.directory.makeDirectory("work/sub")
        try home.directory.write("B=2\n", to: "work/sub/.env")
        for directory in ["work", "work/sub"] {
            try git.run(["init", "-q"], in: directory)
            try git.run(["add", ".env"], in: directory)
            try git.run(["commit", "-qm", "Begin"], in: directory)
            try home.directory.write("* filter=evil diff=evil\n", to: "\(directory)/.gitattributes")
            try git.run(["add", ".gitattributes"], in: directory)
            // An object that would have to be fetched.
            try git.run(
                [
                    "update-index", "--add", "--cacheinfo",
                    "100644," + String(repeating: "1", count: 40) + ",lost",
                ], in: directory)
        }
        // Only now, so that none has run yet.
        let program = try home.directory.write(
            "#!/bin/sh\n(echo \"$0 $*\"; env) >>\(mark)\nexit 1\n", to: "evil", mode: 0o700)
        for directory in ["work", "work/sub"] {
            let hooks = try home.directory.makeDirectory("\(directory)/hooks")
            for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman"] {
                try FileManager.default.copyItem(atPath: program, toPath: "\(hooks)/\(hook)")
            }
            for (name, value) in [
                ("core.fsmonitor", program), ("core.hooksPath", "hooks"), ("core.pager", program),
                ("core.sshCommand", program), ("core.gitProxy", program), ("core.askPass", program),
                ("core.alternateRefsCommand", program), ("core.editor", program),
                ("credential.helper", program), ("filter.evil.clean", program),
                ("filter.evil.smudge", program), ("filter.evil.process", program),
                ("filter.evil.required", "true"), ("diff.evil.textconv", program),
                ("diff.evil.command", program), ("diff.external", program),
                ("alias.ls-files", "!\(program)"), ("protocol.ext.allow", "always"),
                ("remote.origin.url", "ext::\(program)"), ("remote.origin.promisor", "true"),
                ("remote.origin.uploadpack", program), ("extensions.partialClone", "origin"),
                ("core.repositoryFormatVersion", "1"), ("gpg.program", program),
            ] {
                try git.run(["config", name, value], in: directory)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test("SEC-F9: git itself runs this repository's programs")
    func control() throws {
        _ = try git.attempt(["ls-files", "--error-unmatch", ".env"])
        #expect(try String(contentsOfFile: mark, encoding: .utf8).contains("evil"))
        try FileManager.default.removeItem(atPath: mark)
        _ = try git.attempt(["cat-file", "-p", String(repeating: "1", count: 40)])
        #expect(try String(contentsOfFile: mark, encoding: .utf8).contains("evil"))
    }

    @Test(
        "SEC-F9: no command runs programs that a repository's configuration names",
        arguments: [
            (["import", ".env", "sub/.env", "-p", "web"], "and git tracks it", 0),
            (["import", "sub/.env", "-p", "web"], "and git tracks it", 0),
            (["import", ".env", "-p", "web", "--remove"], "Deleted .env", 0),
            (["export", "-p", "web", "-t", "preview", "-o", "out.env"], "", 0),
            (["export", "-p", "web", "-t", "preview", "--merge", "-o", ".env"], "", 0),
            (["scan", "-p", "web"], "", 0),
            (["scan", "sub", "-p", "web", "--no-ignore"], "", 0),
            (["scan", "--staged", "-p", "web"], "does not have the content of this file", 1),
            (
                ["scan", "--install-hook", "-p", "web"],
                "Installed the pre-commit hook hooks/pre-commit", 0
            ),
            (["set", "KEY", "-p", "web", "--from-file", ".env"], "", 0),
            (["convert", ".env", "-o", "out.env"], "", 0),
            (["diff", ".env", "-p", "web"], "", 0),
        ])
    func commands(arguments: [String], words: String, status: Int32) throws {
        let result = try home.run(arguments, environment: ["VERCEL_TOKEN": "a-token"])
        #expect(result.end == .exited(status), "\(result.error)")
        #expect((result.output + result.error).contains(words) || words.isEmpty, "\(result.error)")
        let ran = try? String(contentsOfFile: mark, encoding: .utf8)
        #expect(ran == nil)
    }
}
