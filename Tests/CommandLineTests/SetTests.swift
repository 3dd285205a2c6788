import Foundation
import TestSupport
import Testing

/// `set`: where a value comes from, and which warnings it gets.
@Suite("Setting a value")
struct SetTests {
    private let home: CommandHome
    private let set = ["set", "KEY", "-p", "web"]

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "first"])
    }

    @Test func `one trailing newline is removed and reported`() throws {
        let dropped = done(try home.run(set, input: .text("value\n")))
        #expect(dropped.error.contains("trailing newline was dropped"))
        #expect(try home.revealed("KEY") == Array("value".utf8))
        let asJSON = try json(home.run(set + ["--json"], input: .text("value\n")))
        #expect(asJSON["warnings"]?.elements.first?["code"] == "newline-dropped")
        let two = done(try home.run(set, input: .text("value\n\n")))
        #expect(two.error.contains("trailing newline was dropped"))
        #expect(try home.revealed("KEY") == Array("value\n".utf8))
        let raw = done(try home.run(set + ["--raw"], input: .text("value\n")))
        #expect(!raw.error.contains("dropped"))
        #expect(try home.revealed("KEY") == Array("value\n".utf8))
        let none = done(try home.run(set, input: .text("value")))
        #expect(!none.error.contains("dropped"))
    }

    @Test(
        "VAL-F10: CR LF is one line end of a value",
        arguments: [
            ("value\r\n", "value"), ("a\r\nb\r\n", "a\r\nb"), ("value\r\n\r\n", "value\r\n"),
            ("value\r", "value\r"), ("value\n\r", "value\n\r"), ("value\r\r\n", "value\r"),
        ])
    func carriageReturns(text: String, value: String) throws {
        let file = try home.directory.write(text, to: "work/value")
        for (options, input) in [
            ([], ProgramRunner.Input.text(text)), (["--from-file", file], .null),
        ] {
            let result = done(try home.run(set + options, input: input))
            #expect(try home.revealed("KEY") == Array(value.utf8))
            let said = "One trailing newline (CR LF) was dropped; --raw keeps it."
            #expect(result.error.contains(said) == text.hasSuffix("\r\n"))
            done(try home.run(set + options + ["--raw"], input: input))
            #expect(try home.revealed("KEY") == Array(text.utf8))
        }
    }

    @Test(arguments: ["", "\n"])
    func `an empty value needs --allow-empty`(text: String) throws {
        let before = try home.vaultBytes()
        failed(try home.run(set, input: .text(text)), 2, "--allow-empty")
        failed(try home.run(set), 2, "--allow-empty")
        failed(
            try home.run(set + ["--from-file", "/dev/null"]), 2, "--allow-empty")
        #expect(try home.vaultBytes() == before)
        done(try home.run(set + ["--allow-empty"], input: .text(text)))
        #expect(try home.revealed("KEY") == [])
    }

    @Test func `values in arguments are refused and not repeated`() throws {
        let before = try home.vaultBytes()
        for arguments in [["set", "KEY=hunter2x"], ["set", "KEY", "hunter2x"]] {
            let result = try home.run(arguments + ["-p", "web"], input: .text("x"))
            failed(result, 2)
            #expect(!result.error.contains("hunter2x"))
            let text = try failedAsJSON(home.run(arguments + ["-p", "web", "--json"]), 2, "usage")
            #expect(!text.contains("hunter2x"))
        }
        let told = try home.run(["set", "KEY=hunter2x", "-p", "web"])
        failed(told, 2, "zg-env set KEY", "stdin")
        #expect(try home.vaultBytes() == before)
    }

    @Test(
        arguments: [
            ([0xFF], "UTF-8"), ([0x61, 0xC3], "UTF-8"), ([0xED, 0xA0, 0x80], "UTF-8"),
            ([0x61, 0x00, 0x62], "NUL"), ([0x00], "NUL"),
        ] as [([UInt8], String)])
    func `bytes that are not text are refused`(bytes: [UInt8], word: String) throws {
        let before = try home.vaultBytes()
        failed(try home.run(set, input: .bytes(bytes)), 2, word)
        let file = try home.directory.write(bytes, to: "value")
        failed(try home.run(set + ["--from-file", file]), 2, word)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a value may have 1 MiB and not a byte more`() throws {
        let most = [UInt8](repeating: 0x61, count: 1 << 20)
        let before = try home.vaultBytes()
        for bytes in [most + [0x61], most + most, most + [0x61, 0x0A]] {
            failed(try home.run(set, input: .bytes(bytes)), 2, "1 MiB")
        }
        #expect(try home.vaultBytes() == before)
        let told = done(try home.run(set, input: .bytes(most + [0x0A])))
        #expect(told.error.contains("64 KiB") && told.error.contains("cannot be pushed"))
        #expect(try home.revealed("KEY") == most)
        let limit = [UInt8](repeating: 0x61, count: 64 << 10)
        let quiet = try json(home.run(set + ["--json"], input: .bytes(limit)))
        #expect(quiet["warnings"] == nil)
    }

    @Test(arguments: [
        ("KEY", " value", "blank-at-ends"), ("KEY", "value\t", "blank-at-ends"),
        ("KEY", "\"value\"", "quotes-around"), ("KEY", "'value'", "quotes-around"),
        ("KEY", "[SENSITIVE]", "placeholder"),
        ("KEY", "-----BEGIN PRIVATE KEY-----\nMIIE", "cut-pem"),
        ("NEXT_PUBLIC_API_SECRET", "value", "public-prefix"),
        ("VITE_PASSWORD", "value", "public-prefix"),
    ])
    func `odd values are reported, and refused with --strict`(
        key: String, value: String, code: String
    ) throws {
        let arguments = ["set", key, "-p", "web"]
        let before = try home.vaultBytes()
        failed(
            try home.run(arguments + ["--strict"], input: .text(value)), 2, key, "--strict")
        #expect(try home.vaultBytes() == before)
        let result = try json(home.run(arguments + ["--json"], input: .text(value)))
        #expect(result["warnings"]?.elements.map { $0["code"]?.text } == [code])
        let text = done(try home.run(arguments, input: .text(value)))
        #expect(text.error.contains("warning: "))
        #expect(try home.revealed(key) == Array(value.utf8))
    }

    @Test func `an ordinary value gets no warning`() throws {
        let pem = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"
        for value in ["value", pem, "it's", "\"a", "a b", "NEXT_PUBLIC", "ü"] {
            let result = try json(home.run(set + ["--json", "--strict"], input: .text(value)))
            #expect(result["warnings"] == nil, "\(value)")
        }
        done(
            try home.run(
                ["set", "NEXT_PUBLIC_URL", "-p", "web", "--strict"], input: .text("https://x")))
    }

    @Test func `a value comes from a file`() throws {
        let file = try home.directory.write("from the file\n", to: "value")
        let result = done(try home.run(set + ["--from-file", file], input: .text("stdin")))
        #expect(result.error.contains("dropped"))
        #expect(try home.revealed("KEY") == Array("from the file".utf8))
        done(try home.run(set + ["--from-file", file, "--raw"]))
        #expect(try home.revealed("KEY") == Array("from the file\n".utf8))
        failed(try home.run(set + ["--from-file", "/nonexistent"]), 2, "/nonexistent")
        failed(try home.run(set + ["--from-file", "."]), 2, "cannot be read")
        failed(try home.run(set + ["--from-file", file, "--generate", "uuid"]), 2)
    }

    @Test(arguments: [
        ("hex:32", "[0-9a-f]{64}"), ("base64:32", "[A-Za-z0-9+/]{43}="),
        ("base64url:32", "[A-Za-z0-9_-]{43}"), ("alnum:40", "[A-Za-z0-9]{40}"),
        ("words:6", "([a-z]{5}-){5}[a-z]{5}"),
        ("uuid", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
    ])
    func `--generate makes the requested kind of value, and a new one each time`(
        spec: String, pattern: String
    ) throws {
        var values: Set<String> = []
        for _ in 0..<3 {
            let result = done(try home.run(set + ["--generate", spec]))
            let value = String(decoding: try home.revealed("KEY"), as: UTF8.self)
            #expect(try Regex(pattern).wholeMatch(in: value) != nil, "\(value)")
            #expect(!result.error.contains(value) && !result.output.contains(value))
            values.insert(value)
        }
        #expect(values.count == 3)
    }

    @Test(arguments: ["hex", "hex:", "hex:0", "hex:-1", "hex:99999999999999999999", "md5:3", ""])
    func `invalid --generate specifications are refused`(spec: String) throws {
        let before = try home.vaultBytes()
        failed(try home.run(set + ["--generate", spec]), 2)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a comment and a type are kept until they are changed`() throws {
        done(
            try home.run(
                set + ["--comment", "for the shop", "--type", "plain"], input: .text("1")))
        done(try home.run(set, input: .text("2")))
        func record() throws -> JSONDocument? {
            try json(home.run(["show", "KEY", "-p", "web", "--json"]))["records"]?.elements.first
        }
        #expect(try record()?["comment"] == "for the shop")
        #expect(try record()?["type"] == "plain")
        done(try home.run(set + ["--comment", ""], input: .text("3")))
        #expect(try record()?["comment"] == .null)
        failed(try home.run(set + ["--type", "secret"], input: .text("4")), 2, "--type")
    }

    @Test func `a value is typed without echo`() throws {
        for streams in [true, false] {
            var echo: Bool?
            let result = try home.terminalRunner(
                set + (streams ? [] : ["--prompt"]), streams: streams,
                script: [
                    (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                    (.terminal("Value of KEY"), .call { echo = $1?.isEchoOn }),
                    (.now, .line("typed value \(streams)")),
                ]
            ).run()
            done(result)
            #expect(echo == false)
            #expect(result.echoAtEnd == true)
            #expect(!result.screen.contains("typed value"))
            #expect(try home.revealed("KEY") == Array("typed value \(streams)".utf8))
        }
    }

    @Test func `several lines pasted at the prompt are refused, not cut`() throws {
        let before = try home.vaultBytes()
        let result = try home.terminalRunner(
            set + ["--prompt"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Value of KEY"), .type(Array("line 1\nline 2\n".utf8))),
            ]
        ).run()
        failed(result, 2, "--from-file")
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a prompt without a terminal says what to do`() throws {
        failed(try home.run(set + ["--prompt"]), 2, "terminal")
    }

    @Test(arguments: ["", "A B", "A\nB", "A\u{1B}[2J", "A\u{202E}B"])
    func `invalid names are refused`(name: String) throws {
        failed(try home.run(["set", name, "-p", "web"], input: .text("1")), 2)
        if name == "A B" { return }
        // A project name may contain blanks, and nothing else of this.
        failed(try home.run(["set", "KEY", "-p", name], input: .text("1")), 2)
    }

    @Test func `a name of 1 KiB is stored, a longer one is refused`() throws {
        let name = String(repeating: "N", count: 1_024)
        done(try home.run(["set", name, "-p", "web"], input: .text("1")))
        #expect(try home.revealed(name) == Array("1".utf8))
        failed(try home.run(["set", name + "N", "-p", "web"], input: .text("1")), 2, "too long")
    }
}
