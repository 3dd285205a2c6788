import Foundation
import TestSupport
import Testing

/// `export` to files and terminals, and `convert`.
@Suite("Exporting and converting")
struct ExportTests {
    private let home: CommandHome
    private let export = ["export", "-p", "web", "-t", "production"]

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "value", "OTHER": "second one"])
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try home.directory.read("work/\(name)"), as: UTF8.self)
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: home.directory.path("work/\(name)"))[
            .posixPermissions] as? Int
    }

    private let local = """
        # Mine
        LOCAL=only here

        export KEY="old"   # of before
        #OTHER=off

        """

    @Test func `--merge keeps comments, order and variables that only the file has`() throws {
        try home.directory.write(local, to: "work/.env", mode: 0o644)
        let planned = try json(
            home.run(export + ["--merge", "-o", ".env", "--dry-run", "--json"]))
        #expect(planned["changed"] == ["KEY"])
        #expect(planned["added"] == ["OTHER"])
        #expect(planned["kept"] == ["LOCAL"])
        #expect(try text(".env") == local)
        let result = done(try home.run(export + ["--merge", "-o", ".env"]))
        #expect(!result.output.contains("value"))
        #expect(
            try text(".env") == """
                # Mine
                LOCAL=only here

                export KEY=value   # of before
                #OTHER=off
                OTHER='second one'

                """)
        #expect(try mode(".env") == 0o644)
        // An up-to-date file keeps its bytes and its modification time.
        let before =
            try FileManager.default.attributesOfItem(
                atPath: home.directory.path("work/.env"))[.systemFileNumber] as? Int
        done(try home.run(export + ["--merge", "-o", ".env"]))
        let after =
            try FileManager.default.attributesOfItem(
                atPath: home.directory.path("work/.env"))[.systemFileNumber] as? Int
        #expect(before == after)
    }

    @Test(
        "VAL-F14: --merge keeps the mode of a file, and says if everyone can read it",
        arguments: [0o600, 0o640, 0o644, 0o400, 0o666])
    func keptMode(mode: Int) throws {
        try home.directory.write("KEY=old\n", to: "work/kept.env", mode: mode_t(mode))
        let result = done(try home.run(export + ["--merge", "-o", "kept.env"]))
        #expect(try self.mode("kept.env") == mode)
        #expect(result.error.contains("Every user can read") == (mode & 4 != 0))
        #expect(try text("kept.env").hasPrefix("KEY=value\n"))
    }

    @Test(
        "VAL-F14: --merge keeps owner and group, or changes nothing",
        .enabled(if: geteuid() == 0, "Needs root for another user's file."))
    func keptOwner() throws {
        let path = try home.directory.write("KEY=old\n", to: "work/kept.env", mode: 0o640)
        #expect(unsafe chown(path, 65_534, 33) == 0)
        done(try home.run(export + ["--merge", "-o", "kept.env"]))
        var status = stat()
        #expect(unsafe stat(path, &status) == 0)
        #expect(status.st_uid == 65_534 && status.st_gid == 33 && status.st_mode & 0o7777 == 0o640)
        // Without the right to give files away, as every other user.
        try home.directory.write("KEY=old\n", to: "work/kept.env", mode: 0o640)
        #expect(unsafe chown(path, 65_534, 33) == 0)
        let result = try home.wrapped("/usr/bin/setpriv") {
            ["--bounding-set=-chown", "--inh-caps=-chown", $0] + export
                + ["--merge", "-o", "kept.env"]
        }.run()
        failed(result, 1, "kept.env was not changed", "owner, group and permissions cannot be kept")
        #expect(try text("kept.env") == "KEY=old\n")
        #expect(unsafe stat(path, &status) == 0 && status.st_uid == 65_534)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: home.directory.path("work"))
        #expect(names == ["kept.env"])
    }

    @Test("VAL-F14: --merge keeps the access control list of a file, and inherits none")
    func keptAccessList() throws {
        let path = try home.directory.write("KEY=old\n", to: "work/kept.env", mode: 0o600)
        try #require(AccessList.grant(reader: 65_534, path))
        let (list, mode) = (AccessList.bytes(of: path), try self.mode("kept.env"))
        #expect(list != nil && mode == 0o640)
        done(try home.run(export + ["--merge", "-o", "kept.env"]))
        #expect(AccessList.bytes(of: path) == list)
        #expect(try self.mode("kept.env") == mode)
        #expect(try text("kept.env").hasPrefix("KEY=value\n"))

        let plain = try home.directory.write("KEY=old\n", to: "work/plain.env", mode: 0o640)
        try #require(
            AccessList.grant(reader: 65_534, home.directory.path("work"), isInherited: true))
        done(try home.run(export + ["--merge", "-o", "plain.env"]))
        #expect(AccessList.bytes(of: plain) == nil)
        #expect(try self.mode("plain.env") == 0o640)
    }

    @Test("VAL-F14: --merge says that the other names of a file keep the old content")
    func hardLinks() throws {
        let path = try home.directory.write("KEY=old\n", to: "work/kept.env")
        #expect(unsafe link(path, home.directory.path("work/other.env")) == 0)
        let result = done(try home.run(export + ["--merge", "-o", "kept.env"]))
        #expect(result.error.contains("1 other name (hard links)"), "\(result.error)")
        #expect(try text("other.env") == "KEY=old\n")
        #expect(try text("kept.env").hasPrefix("KEY=value\n"))
    }

    @Test("VAL-F14: the second of two --merge keeps what the first one wrote")
    func mergedTogether() throws {
        let path = try home.directory.write("KEY=old\n", to: "work/both.env")
        let directory = unsafe open(
            home.directory.path("work"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(directory, LOCK_EX) == 0)
        var runner = home.runner(export + ["--only", "KEY", "--merge", "-o", "both.env"])
        runner.script = [
            (
                .error("Waiting for another program"),
                .call { _, _ in
                    try? "KEY=old\nFIRST=1\n".write(
                        toFile: path, atomically: false, encoding: .utf8)
                    close(directory)
                }
            )
        ]
        done(try runner.run())
        #expect(try text("both.env") == "KEY=value\nFIRST=1\n")
        for _ in 0..<5 {
            try home.directory.write("", to: "work/both.env")
            let both = try Together.run(
                ["KEY", "OTHER"].map {
                    home.runner(export + ["--only", $0, "--merge", "-o", "both.env"])
                })
            for result in both { done(result) }
            let merged = try text("both.env")
            #expect(merged.contains("KEY=") && merged.contains("OTHER="), "\(merged)")
        }
    }

    @Test(
        "VAL-F14: a file or vault that is mounted on its own says so",
        .enabled(if: geteuid() == 0, "Needs root to mount."))
    func mountedFile() throws {
        try home.directory.write("KEY=old\n", to: "work/kept.env")
        let words = "mounted as a single file, which cannot be replaced; mount its directory"
        let commands = [
            ("work/kept.env", export + ["--merge", "-o", "kept.env"]),
            ("data/zg-env/vault.zgv", ["set", "KEY", "-p", "web", "--generate", "hex:8"]),
        ]
        for (file, arguments) in commands {
            let before = try home.directory.read(file)
            let script = "mount --bind \"$0\" \"$0\" || exit 99; exec \"$@\""
            let result = try home.wrapped("/usr/bin/unshare") { program in
                ["--mount", "/bin/sh", "-c", script, home.directory.path(file), program]
                    + arguments
            }.run()
            failed(result, 1, words)
            #expect(try home.directory.read(file) == before)
        }
    }

    @Test(
        "VAL-F16: a value whose end some parser misses does not prevent an export",
        arguments: [
            (["A": #"a\"#, "B": "x\n;y"], "B='x\n;y'\nA=a\\\n"),
            (["TR": #"trail\"#, "YES": "yes"], "YES=yes\nTR=trail\\\n"),
            (["A": #"a\"#, "B": "it's \"b\"", "C": #"c\"#, "D": "d"], nil),
        ] as [([String: String], String?)])
    func order(values: [String: String], text: String?) throws {
        for (key, value) in values {
            done(try home.run(["set", key, "-p", "f", "--raw"], input: .text(value)))
        }
        let result = done(try home.run(["export", "-q", "-p", "f"]))
        #expect(text == nil || result.output == text)
        #expect(result.error.contains("Parsers of .env files disagree"))
        let read = try json(
            home.run(["convert", "-", "--format", "json", "-q"], input: .text(result.output)))
        for (key, value) in values { #expect(read[key]?.text == value) }
        done(try home.run(["export", "-q", "-p", "f", "--merge", "-o", "new.env"]))
    }

    @Test("VAL-F16: a value that cannot be written for all parsers names those that can read it")
    func otherDialects() throws {
        done(try home.run(["set", "CR", "-p", "f", "--raw"], input: .text("a\r\"b")))
        failed(
            try home.run(["export", "-q", "-p", "f"]), 2, "CR: ",
            "Parsers that can read it: compose (--dialect). Or leave it out with --except CR")
        done(try home.run(["export", "-q", "-p", "f", "--dialect", "compose"]))
    }

    @Test(
        "VAL-F7: every shell loads a hostile value exactly, and runs nothing",
        arguments: [
            ("/bin/bash", ["--norc", "-c"], #"eval "$("$1" export -qp f --format shell)""#),
            ("/bin/dash", ["-c"], #"eval "$("$1" export -qp f --format shell)""#),
            ("/usr/bin/zsh", ["-f", "-c"], #"eval "$("$1" export -qp f --format shell)""#),
            (
                "/usr/bin/fish", ["--no-config", "-c"],
                "$argv[2] export -qp f --format shell | source"
            ),
        ])
    func shells(shell: String, options: [String], load: String) throws {
        let value = #"x\'; touch ran; echo \'"#
        try home.store(["EVIL": value], in: "f")
        let result = done(
            try home.wrapped(shell) { options + [load + "; printenv EVIL", "sh", $0] }.run())
        #expect(result.output == value + "\n" && result.error == "")
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/ran")))
    }

    @Test func `--merge creates a missing file and writes through a symbolic link`() throws {
        done(try home.run(export + ["--merge", "-o", "new.env"]))
        #expect(try text("new.env") == "KEY=value\nOTHER='second one'\n")
        #expect(try mode("new.env") == 0o600)
        try home.directory.write("KEY=old\n", to: "work/real")
        try FileManager.default.createSymbolicLink(
            atPath: home.directory.path("work/link"), withDestinationPath: "real")
        done(try home.run(export + ["--merge", "-o", "link"]))
        #expect(try text("real") == "KEY=value\nOTHER='second one'\n")
    }

    @Test func `a --merge that cannot be exact changes nothing`() throws {
        // An open quote would swallow the new line.
        for broken in ["A=\"open\n", "A='x\n"] {
            try home.directory.write(broken, to: "work/.env")
            let result = try home.run(export + ["--merge", "-o", ".env"])
            if result.status == 0 {
                let back = try home.run(["convert", ".env", "--format", "json", "-q"])
                #expect(try JSONDocument(back.standardOutput)["KEY"] == "value")
            } else {
                failed(result, 2)
                #expect(try text(".env") == broken)
            }
        }
        try home.directory.write([0x41, 0x3D, 0xFF], to: "work/.env")
        failed(try home.run(export + ["--merge", "-o", ".env"]), 2, "UTF-8")
        // Both kinds of quotes, a backtick and two lines: no .env syntax can hold these.
        try home.store(["BOTH": "it's \"both\"\n`"])
        try home.directory.write("A=1\n", to: "work/.env")
        failed(try home.run(export + ["--merge", "-o", ".env"]), 2, "BOTH", "json")
        #expect(try text(".env") == "A=1\n")
        failed(try home.run(export + ["--merge"]), 2, "-o")
        failed(try home.run(export + ["--merge", "-o", "x", "--format", "json"]), 2, "json")
        failed(try home.run(export + ["--merge", "--force", "-o", "x"]), 2)
    }

    @Test func `--dry-run prints no values`() throws {
        for options in [[], ["--json"], ["--format", "json"], ["-o", "out"]] {
            let result = done(try home.run(export + options + ["--dry-run"]))
            #expect(!result.output.contains("value") && !result.output.contains("second"))
            #expect(result.output.contains("KEY"))
        }
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/out")))
    }

    @Test(arguments: [
        ("dotenv", "it's \"x\"\n`", "json"), ("docker", "a\nb", "json"),
    ])
    func `an export names every variable that the format cannot hold`(
        format: String, value: String, other: String
    ) throws {
        try home.store(["ODD": value])
        failed(
            try home.run(export + ["--format", format]), 2, "ODD", "Formats that can", other)
        #expect(try home.run(export + ["--format", other]).status == 0)
        try home.store(["a-b": "1"])
        failed(try home.run(export + ["--format", "shell"]), 2, "a-b", "Formats that can")
    }

    private static let url = "smtp://${SMTP_USER}:pw@mail"

    @Test("USE-B6: a value that parsers disagree about is exported with a warning")
    func unportable() throws {
        try home.store(["SMTP_URL": Self.url, "HASH": "$2b$12$Kix"])
        let result = done(try home.run(export))
        #expect(result.error.contains("not-portable") || result.error.contains("SMTP_URL"))
        #expect(result.error.contains("HASH, SMTP_URL") && result.error.contains("--dialect"))
        #expect(!result.error.contains("mail") && !result.error.contains("Kix"))
        let all: JSONDocument = [
            "HASH": "$2b$12$Kix", "KEY": "value", "OTHER": "second one",
            "SMTP_URL": .string(Self.url),
        ]
        func read(_ text: [UInt8], _ dialect: String) throws -> JSONDocument {
            try JSONDocument(
                done(
                    home.run(
                        ["convert", "-", "--format", "json", "-q", "--dialect", dialect],
                        input: .bytes(text))
                ).standardOutput)
        }
        #expect(try read(Array(result.standardOutput), "dotenv") == all)
        for dialect in ["dotenv", "next", "node", "compose"] {
            let written = done(try home.run(export + ["--dialect", dialect]))
            #expect(try read(Array(written.standardOutput), dialect) == all, "\(dialect)")
            #expect(!written.error.contains("SMTP_URL"), "\(dialect)")
        }
        failed(try home.run(export + ["--dialect", "portable"]), 2, "HASH", "--except HASH")
        let rest = done(try home.run(export + ["--except", "SMTP_URL,HASH"]))
        #expect(rest.output == "KEY=value\nOTHER='second one'\n" && rest.error == "")
        let told = try json(home.run(export + ["-o", "out.env", "--json"]))
        #expect(told["warnings"]?.elements.contains { $0["code"] == "not-portable" } == true)
        done(try home.run(export + ["--merge", "-o", "merged.env"]))
        #expect(try read(Array(home.directory.read("work/merged.env")), "dotenv") == all)
        failed(try home.run(export + ["--dialect", "next", "--format", "json"]), 2, "--dialect")
        // A round trip changes nothing.
        let back = try json(
            home.run(
                ["import", "-", "-p", "web", "--json"],
                input: .bytes(Array(result.standardOutput))))
        #expect(back["unchanged"]?.elements.count == 4)
    }

    @Test("USE-B6: a value that no .env text can hold is named with a hint")
    func unwritable() throws {
        try home.store(["ODD": "it's\n\"`"])
        failed(try home.run(export), 2, "ODD", "json", "--except ODD")
        #expect(done(try home.run(export + ["--except", "ODD"])).output.contains("KEY=value"))
    }

    @Test func `all values that a format cannot hold are listed, with one complete hint`() throws {
        try home.store(["B_KEY": "two\nlines", "A_KEY": "two\nlines", "ODD": "end\r"])
        let docker = export + ["--format", "docker"]
        let result = try home.run(docker + ["--except", "OTHER"])
        failed(
            result, 2, "A_KEY, B_KEY: docker cannot represent a line break.",
            "ODD: docker drops a final carriage return.", "Formats that can contain them: ",
            "leave them out with --except A_KEY,B_KEY,ODD,OTHER")
        #expect(
            done(try home.run(docker + ["--except", "A_KEY,B_KEY,ODD,OTHER"])).output
                == "KEY=value\n")
        failed(
            try home.run(docker + ["--only", "KEY,A_KEY,ODD"]), 2,
            "write the others with --only KEY")
    }

    @Test("USE-B5: export takes --only and --except, and reports an unknown name")
    func chosen() throws {
        #expect(done(try home.run(export + ["--only", "KEY"])).output == "KEY=value\n")
        let both = try json(home.run(export + ["--only", "KEY,OTHER", "--json"]))
        #expect(both == ["KEY": "value", "OTHER": "second one"])
        #expect(done(try home.run(export + ["--except", "OTHER"])).output == "KEY=value\n")
        let shell = done(
            try home.run(export + ["--format", "shell", "--except", "KEY", "--except", "OTHER"]))
        #expect(shell.output == "")
        failed(try home.run(export + ["--only", "KYE"]), 4, "KYE")
        failed(try home.run(export + ["--except", "KYE"]), 4, "KYE")
        failed(try home.run(export + ["--only", "KEY", "--except", "OTHER"]), 2)
        done(try home.run(export + ["--only", "KEY", "-o", "one.env"]))
        #expect(try text("one.env") == "KEY=value\n")
    }

    @Test("USE-B3: reveal of several keys suggests no option that it does not have")
    func revealSeveral() throws {
        try home.store(["ODD": "it's\n\"`", "SMTP_URL": Self.url])
        let told = try home.run(["reveal", "KEY", "ODD", "-p", "web"])
        failed(told, 2, "ODD", "--format json")
        #expect(!told.error.contains("Formats"))
        let pair = done(try home.run(["reveal", "KEY", "SMTP_URL", "-p", "web"]))
        #expect(pair.output == "KEY=value\nSMTP_URL='\(Self.url)'\n")
        #expect(pair.error.contains("SMTP_URL") && pair.error.contains("--format json"))
        let all = try json(home.run(["reveal", "KEY", "ODD", "-p", "web", "--json"]))
        #expect(all["variables"]?.elements.count == 2)
    }

    @Test func `values are printed to a terminal only after a question`() throws {
        func answered(_ answer: String, _ options: String...) throws -> ProgramResult {
            var runner = home.terminalRunner(
                export + ["--passphrase-file", home.passphrasePath] + options, streams: true,
                script: [(.terminal("Show values"), .line(answer))])
            runner.timeLimit = .seconds(10)
            return try runner.run()
        }
        #expect(try answered("y").screen.contains("KEY=value"))
        let declined = try answered("n")
        #expect(declined.end == .exited(1))
        #expect(!declined.screen.contains("value\r"))
        let yes = try home.terminalRunner(
            export + ["--passphrase-file", home.passphrasePath, "--yes"], streams: true
        ).run()
        #expect(done(yes).screen.contains("KEY=value"))
        let unasked = try home.terminalRunner(
            export + ["--passphrase-file", home.passphrasePath, "--json"], streams: true
        ).run()
        #expect(unasked.end == .exited(2))
        #expect(!unasked.screen.contains("value\""))
    }

    @Test func `a message quotes a name as it was written`() throws {
        let result = try home.run(
            ["convert", "-", "--format", "docker"], input: .text("apiKey=\"a\\nb\"\n"))
        failed(result, 2, "apiKey: docker cannot represent")
        #expect(!result.error.contains("ApiKey"))
        failed(
            try home.run(["convert", "-", "--format", "shell"], input: .text("UID=1\n")), 2,
            "UID: shells reserve this name", "json")
        done(try home.run(["set", "PPID", "-p", "web"], input: .text("1")))
        failed(
            try home.run(["export", "-p", "web", "-t", "preview", "--format", "shell"]), 2,
            "PPID: shells reserve this name", "json")
    }

    @Test func `convert needs no vault and no passphrase`() throws {
        let empty = try CommandHome()
        let text = "A='x y'\nexport B=\"1\\n2\"\nA=again\n"
        let result = done(
            try empty.run(
                ["convert", "-", "--format", "json"], input: .text(text), unlocked: false))
        #expect(try JSONDocument(result.standardOutput) == ["A": "again", "B": "1\n2"])
        #expect(result.error.contains("stdin:1:1: duplicate-key A"))
        let shell = done(
            try empty.run(["convert", "-", "--format", "shell", "-q"], input: .text(text)))
        #expect(shell.output == "export B='1\n2'\nexport A='again'\n")
        #expect(shell.error == "")
        let systemd = try empty.run(
            ["convert", "-", "--dialect", "docker", "--format", "systemd"],
            input: .text("A=\"quoted\" # kept\n"))
        #expect(systemd.output == "A=\"\\\"quoted\\\" # kept\"\n")
        let object = try json(
            empty.run(["convert", "-", "--json"], input: .text("A=1\n")))
        #expect(object == ["A": "1"])
        failed(
            try empty.run(["convert", "-", "-q", "--strict"], input: .text("A=1\nA=2\n")), 2,
            "--strict")
        failed(
            try empty.run(
                ["convert", "-", "-q", "--format", "docker"], input: .text("A='1\n2'\n")), 2,
            "A", "Formats that can")
        failed(try empty.run(["convert", "none"]), 2, "none")
        #expect(!FileManager.default.fileExists(atPath: empty.vaultPath))
    }

    @Test func `convert writes a private file and overwrites none`() throws {
        try home.directory.write("A=1 # x\n", to: "work/.env")
        let result = try json(
            home.run(["convert", ".env", "-o", "out.json", "--format", "json", "--json"]))
        #expect(result["keys"] == ["A"])
        #expect(result["file"] == "out.json")
        #expect(try text("out.json") == "{\n  \"A\": \"1\"\n}\n")
        #expect(try mode("out.json") == 0o600)
        failed(try home.run(["convert", ".env", "-o", "out.json"]), 5, "out.json")
        done(try home.run(["convert", ".env", "-o", "out.json", "--force"]))
        #expect(try text("out.json") == "A=1\n")
        failed(try home.run(["convert", ".env", "-o", home.vaultPath, "--force"]), 2, "vault")
        let planned = done(try home.run(["convert", ".env", "-o", "other", "--dry-run"]))
        #expect(planned.output == "A\n")
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/other")))
    }
}
