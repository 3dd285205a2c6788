import Foundation
internal import JSON
import TestSupport
import Testing

/// `export --all-projects`: everything as plain text, in a directory of its own.
@Suite("Exporting all projects")
struct ExportAllTests {
    private let audit: AuditHome
    private var home: CommandHome { audit.home }
    private let all = ["export", "--all-projects", "-o", "all"]

    init() throws {
        audit = try AuditHome()
        for arguments in [
            ["DB", "-p", "api", "-t", "production"], ["DB", "-p", "api", "-t", "development"],
            ["DB", "-p", "api", "-b", "feature/x"], ["QA", "-p", "api", "-t", "qa"],
            ["UP", "-p", "API", "-t", "production"], ["DOTS", "-p", "..", "-t", "production"],
            ["DASH", "-p", "-é b", "-t", "production"],
        ] {
            let project = arguments[2]
            var options = ["set", arguments[0], "--project=\(project)"] + arguments[3...]
            options.append("--raw")
            done(
                try audit.home.run(
                    options, input: .text("\(arguments[0]) of \(project) \(arguments[4])")))
        }
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: home.directory.path("work/all")))
    }

    private static let expected: Set<String> = [
        "%2E..production.env", "%2D%C3%A9%20b.production.env", "API.production.env",
        "api-2.production.env", "api-2.development.env", "api-2.preview.feature%2Fx.env",
        "api-2.qa.env",
        "web.production.env", "web.preview.env", "web.development.env",
    ]

    @Test func `one private file for each project, target and branch, which import reads back`()
        throws
    {
        let result = try json(home.run(all + ["--yes", "--json"]))
        #expect(try names() == Self.expected)
        #expect(try mode(home.directory.path("work/all")) == 0o700)
        let files = result["files"]?.elements ?? []
        #expect(result["directory"] == "all" && files.count == Self.expected.count)
        for file in files {
            let path = try #require(file["file"]?.text)
            #expect(Self.expected.contains(String(path.dropFirst(4))) && file["written"] == true)
            #expect(try mode(home.directory.path("work/\(path)")) == 0o600)
        }
        let branch = try #require(files.first { $0["branch"] == "feature/x" })
        #expect(branch["target"] == "preview" && branch["project"] == "api")
        #expect(branch["keys"] == ["DB"])
        let text = try home.directory.read("work/all/api-2.production.env")
        #expect(String(decoding: text, as: UTF8.self) == "DB='DB of api production'\n")
        // Each file's values are in the audit log.
        let entries = try audit.entries().filter { $0["command"] == "export" }
        #expect(entries.count == Self.expected.count)
        #expect(entries.contains { $0["project"] == "api" && $0["names"] == ["QA"] })
        done(try home.run(["import", "all/api-2.production.env", "-p", "back"]))
        #expect(
            try home.revealed("DB", "-t", "production", project: "back")
                == Array("DB of api production".utf8))
    }

    @Test func `it asks before it writes, and needs --yes without a terminal`() throws {
        let unasked = try home.run(all)
        #expect(unasked.end == .exited(2) && unasked.output == "")
        #expect(unasked.error.contains("needs confirmation"), "\(unasked.error)")
        func answered(_ answer: String) throws -> ProgramResult {
            var runner = home.terminalRunner(
                all + ["--passphrase-file", home.passphrasePath], streams: true,
                script: [(.terminal("Write these files?"), .line(answer))])
            runner.timeLimit = .seconds(10)
            return try runner.run()
        }
        let declined = try answered("n")
        #expect(declined.end == .exited(1))
        #expect(declined.screen.contains("plain text to 10 files in all"))
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/all")))
        #expect(try audit.entries().allSatisfy { $0["command"] != "export" })
        let planned = try json(home.run(all + ["--dry-run", "--json"]))
        #expect(planned["dryRun"] == true && planned["files"]?.elements.count == 10)
        #expect(planned["files"]?.elements.allSatisfy { $0["written"] == false } == true)
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/all")))
        #expect(done(try answered("y")).screen.contains("Wrote 10 files to all in plain text."))
        #expect(try names() == Self.expected)
    }

    @Test func `it writes only into a new directory, or into an empty and private one`() throws {
        try home.directory.makeDirectory("work/all")
        try home.directory.write("", to: "work/all/file")
        failed(try home.run(all + ["--yes"]), 5, "all is not empty")
        #expect(try names() == ["file"])
        try FileManager.default.removeItem(atPath: home.directory.path("work/all/file"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: home.directory.path("work/all"))
        failed(try home.run(all + ["--yes"]), 5, "Other users can open all", "chmod 700 all")
        #expect(try names() == [])
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700], ofItemAtPath: home.directory.path("work/all"))
        done(try home.run(all + ["--yes", "--format", "json"]))
        #expect(try names().contains("api-2.qa.env.json"))
        try home.directory.write("", to: "work/plain")
        let options = ["export", "--all-projects", "--yes"]
        failed(try home.run(options + ["-o", "plain"]), 5, "plain is not a directory")
        failed(try home.run(options + ["-o", "no/where"]), 1, "no/where cannot be created")
        failed(try home.run(options), 2, "--all-projects needs a directory")
        failed(try home.run(options + ["-o", "-"]), 2, "--all-projects needs a directory")
        for wrong in [["--project", "web"], ["--target", "qa"], ["--merge"], ["--only", "KEY"]] {
            failed(try home.run(options + ["-o", "other"] + wrong), 2, "--all-projects", wrong[0])
        }
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/other")))
    }

    @Test func `a value that the format cannot hold is named, and nothing is written`() throws {
        try home.store(["ODD": "it's\n\"`"], in: "odd")
        failed(try home.run(all + ["--yes"]), 2, "odd (production)", "ODD", "json")
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/all")))
    }

    @Test func `an error half way says which files are written`() throws {
        done(
            try home.run(
                ["set", "BIG", "-p", "big", "-t", "production"],
                input: .text(String(repeating: "x", count: 60_000))))
        done(try home.run(all + ["--dry-run"]))
        let runner = home.wrapped("/bin/sh") { program in
            ["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh", program] + all
                + ["--yes", "--json"]
        }
        let result = try runner.run()
        #expect(result.end == .exited(1), "\(result.error)")
        let report = try JSONDocument(result.standardOutput)
        let files = report["files"]?.elements ?? []
        let written = files.filter { $0["written"] == true }.compactMap { $0["file"]?.text }
        #expect(!written.isEmpty && written.count < files.count)
        #expect(Set(written.map { String($0.dropFirst(4)) }) == (try names()))
        let message = try JSONDocument(result.standardError)["error"]?["message"]?.text ?? ""
        #expect(message.contains("big.production.env cannot be written"))
        #expect(message.contains("Written: \(written.joined(separator: ", "))."))
        #expect(message.contains("Not written: all/big.production.env, "))
    }

    @Test func `a variable without a value is named with its project, and skipped if asked`() throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "production")
        try platform.pushed()
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "HIDDEN", "value": "first", "type": "sensitive", "target": ["production"]])
        done(try platform.run("pull", "-p", "web", "--yes"))
        let export = ["export", "--all-projects", "-o", "all", "--yes"]
        let refused = try platform.runner(export).run()
        failed(refused, 4, "Nothing was written", "web (production): HIDDEN", "--allow-missing")
        let path = platform.home.directory.path("work/all")
        #expect(!FileManager.default.fileExists(atPath: path))
        let result = done(try platform.runner(export + ["--allow-missing"]).run())
        #expect(result.error.contains("Skipped, no value in the vault: web (production): HIDDEN."))
        let text = try platform.home.directory.read("work/all/web.production.env")
        #expect(!String(decoding: text, as: UTF8.self).contains("HIDDEN"))
    }
}
