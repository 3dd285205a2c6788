import Foundation
import TestSupport
import Testing

/// `import` of JSON and YAML files, as other secrets managers write them.
@Suite("Importing JSON and YAML")
struct ImportDataFormatTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    /// Returns what `convert` reads from a text.
    private func values(_ text: String, _ dialect: String) throws -> JSONDocument {
        let result = try home.run(
            ["convert", "-", "--dialect", dialect, "--json"], input: .text(text), unlocked: false)
        return try JSONDocument(done(result).standardOutput)
    }

    // MARK: Round trip

    private static let hard: [(name: String, value: String)] = [
        ("LINES", "first\nsecond\r\nthird\n\n"), ("QUOTES", "\"it's\" `so`"),
        ("BACKSLASHES", "\\n \\\\ \\u0041 \\"), ("UNICODE", "é 日本 😀 \u{2028}\u{85}\u{A0}\u{FEFF}|"),
        ("REFERENCE", "${X} $X $$"), ("SPACES", "  both ends \t"), ("EMPTY", ""),
        ("CONTROL", "\u{1}\u{1B}[31m\u{7F}"), ("LOOKS", "null"), ("COLON", "a: b # c"),
        ("DASH", "- x"), ("NUMBER", "012"), ("Straße", "name"),
    ]

    @Test("what export writes is imported with equal bytes", arguments: ["json", "yaml"])
    func roundTrip(format: String) throws {
        for (name, value) in Self.hard {
            done(
                try home.run(
                    ["set", name, "-p", "web", "--raw", "--allow-empty"], input: .text(value)))
        }
        let file = "all.\(format)"
        done(try home.run(["export", "-p", "web", "--format", format, "-o", file]))
        let result = try json(home.run(["import", file, "-p", "copy", "--json"]))
        #expect(result["created"]?.elements.count == Self.hard.count)
        for (name, value) in Self.hard {
            #expect(
                try home.revealed(name, project: "copy") == Array(value.utf8), "\(name)")
        }
        // A second import, from stdin, changes nothing.
        let text = try home.directory.read("work/\(file)")
        let again = try json(
            home.run(
                ["import", "-", "--dialect", format, "-p", "copy", "--json", "--allow-empty"],
                input: .bytes(text)))
        #expect(again["unchanged"]?.elements.count == Self.hard.count)
        #expect(try json(home.run(["diff", file, "-p", "copy", "--json"]))["changed"] == [])
    }

    @Test("an empty project's export has no variables", arguments: ["json", "yaml"])
    func emptyRoundTrip(format: String) throws {
        #expect(try values("{}\n", format) == [:])
        failed(
            try home.run(
                ["import", "-", "--dialect", format, "-p", "web"], input: .text("{}\n")),
            2, "No variables found in stdin")
    }

    // MARK: What is read

    @Test func `JSON of other tools is read, numbers and words as they are written`() throws {
        let text = """
            \u{FEFF}{ "DOPPLER_PROJECT":"web","URL":"https:\\/\\/x\\u00e9\\ud83d\\ude00",
              "PORT": 5432, "RATE":1.50e3, "DEBUG":true, "QUIET" : false , "K\\u0045Y": "a\\tb" }
            """
        #expect(
            try values(text, "json") == [
                "DOPPLER_PROJECT": "web", "URL": "https://xé😀", "PORT": "5432", "RATE": "1.50e3",
                "DEBUG": "true", "QUIET": "false", "KEY": "a\tb",
            ])
    }

    @Test func `YAML of other tools is read, bare values as they are written`() throws {
        let text = """
            ---
            # of sops
            URL: https://example.com/a#b?c=d:e   # not this
            YES: yes
            OCTAL: 012
            FLOAT: 1e3
            'SINGLE': 'it''s # "here": \\n'
            "DOUBLE": "tab\\tquote\\" \\x41\\u00e9\\U0001F600\\_\\e\\/"
            WORDS: two  words, [and] {more}

            BLOCK: |
              first
                second   \n\n  # third

            STRIPPED: |- # a comment
              one
              two

            KEPT: |+
              one

            INDENTED: |2
                four
              none
            spaced : 'x'
            LAST: |
              end
            """
        let expected: JSONDocument = [
            "URL": "https://example.com/a#b?c=d:e", "YES": "yes", "OCTAL": "012", "FLOAT": "1e3",
            "SINGLE": "it's # \"here\": \\n", "DOUBLE": "tab\tquote\" Aé😀\u{A0}\u{1B}/",
            "WORDS": "two  words, [and] {more}", "BLOCK": "first\n  second   \n\n# third\n",
            "STRIPPED": "one\ntwo", "KEPT": "one\n\n", "INDENTED": "  four\nnone\n", "spaced": "x",
            "LAST": "end",
        ]
        #expect(try values(text, "yaml") == expected)
        let returns = text.replacingOccurrences(of: "\n", with: "\r\n")
        #expect(try values(returns, "yaml") == expected)
        #expect(
            try values("A: |\n\nB: |+\n\n\nC: |-\n  x", "yaml") == ["A": "", "B": "\n\n", "C": "x"])
    }

    @Test func `the file's ending chooses the dialect, and --dialect another`() throws {
        try home.directory.write("{\"A\":\"json\"}", to: "work/.env.json")
        try home.directory.write("B: \"yaml\"\n", to: "work/b.YML")
        try home.directory.write("C: yaml # c\n", to: "work/.env.production.yaml")
        try home.directory.write("D=dotenv\n", to: "work/d.json")
        let result = try json(
            home.run([
                "import", ".env.json", "b.YML", ".env.production.yaml", "-p", "web", "--json",
            ]))
        #expect(result["created"] == ["A", "B", "C"])
        #expect(try home.scopes(of: "C") == ["production"])
        #expect(try home.scopes(of: "A").first?.contains("preview") == true)
        failed(try home.run(["import", "d.json", "-p", "web"]), 2, "d.json: line 1, column 1")
        done(try home.run(["import", "d.json", "-p", "web", "--dialect", "dotenv"]))
        #expect(try home.revealed("B") == Array("yaml".utf8))
        let hint = try home.run(["import", "-", "-p", "web"], input: .text("{\"A\":\"x\"}"))
        failed(hint, 2, "No variables found in stdin", "--dialect json")
        failed(
            try home.run(["import", ".env.json", "-p", "web", "--expand"]), 2, "--expand", "json")
    }

    @Test("--remove deletes the file once the vault has its values", arguments: ["json", "yaml"])
    func remove(format: String) throws {
        let text = format == "json" ? "{\"A\":\"one\",\"B\":\"two\"}" : "A: one\nB: |\n  two\n"
        try home.directory.write(text, to: "work/old.\(format)")
        let result = done(try home.run(["import", "old.\(format)", "-p", "web", "--remove"]))
        #expect(result.error.contains("Deleted old.\(format)."))
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/old.\(format)")))
        #expect(try home.revealed("A") == Array("one".utf8))
    }

    @Test func `a comment above a YAML line is imported with --comments`() throws {
        let text = "# The database\nURL: |\n  # not this\n# Of the key\nKEY: x\n"
        done(
            try home.run(
                ["import", "-", "--dialect", "yaml", "-p", "web", "--comments"], input: .text(text))
        )
        let shown =
            try json(home.run(["list", "-p", "web", "--json"]))["variables"]?.elements ?? []
        #expect(shown.first { $0["key"] == "URL" }?["comment"] == "The database")
        #expect(shown.first { $0["key"] == "KEY" }?["comment"] == "Of the key")
    }

    // MARK: What is refused

    private static let refused: [(dialect: String, text: String, words: [String])] = [
        ("json", "{\"A\":\"s3cret\",\n\"DB\":{\"B\":\"s3cret\"}}", ["line 2", "DB", "nested"]),
        ("json", "{\"A\":[\"s3cret\"]}", ["line 1", "A", "nested"]),
        ("json", "{\"A\":null}", ["line 1", "A", "null"]),
        ("json", "{\"A\":\"s3cret\",\n\"\\u0041\":\"x\"}", ["line 2", "A", "twice"]),
        ("json", "{\"A\":\"s3cret\\ud800\"}", ["line 1", "A", "surrogate"]),
        ("json", "{\"A\":\"s3cret\\u0000\"}", ["line 1", "A", "NUL"]),
        ("json", "{\"\":\"s3cret\"}", ["line 1", "name"]),
        ("json", "{\"A=B\":\"s3cret\"}", ["line 1", "name"]),
        ("json", "{\"A\\u001b[2J\":\"s3cret\"}", ["line 1", "name"]),
        ("json", "{\"\\ud800\":\"s3cret\"}", ["line 1", "name"]),
        ("json", "[\"s3cret\"]", ["line 1", "object"]), ("json", "\"s3cret\"", ["object"]),
        ("json", "{\"A\":\"s3cret\"", ["JSON"]), ("json", "{\"A\":\"s3cret\"}\n{}", ["line 2"]),
        ("json", "{\"A\":\"s3\ncret\"}", ["line 1", "JSON"]), ("json", "", ["JSON"]),
        ("yaml", "A: s3cret\nDB:\n  B: s3cret\n", ["line 2", "DB", "nested"]),
        ("yaml", "DB:\n- s3cret\n", ["line 1", "DB", "nested"]),
        ("yaml", "A:\nB: x\n", ["line 1", "A", "null"]),
        ("yaml", "A: ~\n", ["A", "null"]), ("yaml", "A: Null # x\n", ["A", "null"]),
        ("yaml", "A: s3cret\n'A': x\n", ["line 2", "A", "twice"]),
        ("yaml", "A: s3cret\n  more\n", ["line 2", "A", "next line"]),
        ("yaml", "A: \"s3cret\n  more\"\n", ["line 1", "A", "closed"]),
        ("yaml", "A: s3cret\n---\nB: x\n", ["line 2", "document"]),
        ("yaml", "A: &x s3cret\n", ["A", "anchors"]), ("yaml", "A: *x\n", ["A", "anchors"]),
        ("yaml", "A: !!str s3cret\n", ["A", "tags"]), ("yaml", "<<: *x\n", ["merge"]),
        ("yaml", "A: {B: s3cret}\n", ["A", "nested"]), ("yaml", "A: [s3cret]\n", ["A", "nested"]),
        ("yaml", "{A: s3cret}\n", ["line 1"]), ("yaml", "- A: s3cret\n", ["lists"]),
        ("yaml", "A: >\n  s3cret\n", ["A", "folded"]), ("yaml", "A: b: s3cret\n", ["A", "colon"]),
        ("yaml", "A: s3cret\tx\n", ["A", "tab"]), ("yaml", "\tA: s3cret\n", ["line 1"]),
        ("yaml", "A:s3cret\n", ["line 1"]), ("yaml", "%YAML 1.2\n---\nA: x\n", ["directives"]),
        ("yaml", "A: \"s3cret\\q\"\n", ["A", "escape"]),
        ("yaml", "A: \"s3cret\\0\"\n", ["A", "NUL"]),
        ("yaml", "A: \"\\ud83d\\ude00\"\n", ["A", "escape"]),
        ("yaml", "A: \"s3cret\" x\n", ["A", "closing quote"]),
        ("yaml", "A: |x\n  s3cret\n", ["A", "|"]), ("yaml", "A: |\n \ts3cret\n", ["A"]),
        ("yaml", "A: |\n      \n  s3cret\n", ["A", "indentation"]),
        ("yaml", "A: |\n    s3cret\n  x\n", ["line 3", "A"]),
        ("yaml", "A: s3\u{2028}cret\n", ["line 1"]), ("yaml", "A: s3\rcret\n", ["line 1"]),
        ("yaml", "{}\nA: s3cret\n", ["line 2"]), ("yaml", "s3cret value\n", ["line 1"]),
        ("yaml", "? A\n: s3cret\n", ["line 1"]), ("yaml", "null: s3cret\n", ["line 1"]),
        ("yaml", "A: @s3cret\n", ["A", "quote"]), ("yaml", "...\n", ["line 1"]),
    ]

    @Test func `anything but names and values is refused with its line, and stores nothing`() throws
    {
        let before = try home.vaultBytes()
        for (dialect, text, words) in Self.refused {
            let result = try home.run(
                ["import", "-", "-p", "web", "--dialect", dialect], input: .text(text))
            failed(result, 2, "stdin: line")
            for word in words {
                #expect(
                    result.error.contains(word),
                    "\(dialect) \(text.debugDescription): \(result.error)")
            }
            #expect(!result.error.contains("s3cret") && !result.error.contains("\u{1B}"))
        }
        #expect(try home.vaultBytes() == before)
        try home.directory.write([0x7B, 0x22, 0xFF, 0x22, 0x7D], to: "work/bad.json")
        failed(try home.run(["import", "bad.json", "-p", "web"]), 2, "UTF-8")
    }

    @Test func `hostile bytes never end the program by a signal`() throws {
        var random = HostileRandom(state: 56)
        let parts = [
            "{", "}", "[", "]", "\"", "'", "\\", "\\u", "\\ud800", "\\udc00", "\\U", "\\x4", ":",
            ": ",
            ",", "\n", "\r\n", "\r", "\t", " ", "  ", "|", "|+", "|-9", ">", "#", " #", "---",
            "...",
            "-", "- ", "A", "B: ", "\"A\":", "null", "true", "1e999", "0x", "~", "&a", "*a", "!",
            "<<",
            "é", "\u{2028}", "\u{FEFF}", "\0", "😀", "{\"A\":\"x\"", "A: |\n  x\n", "A: 'x", "%",
        ]
        for round in 0..<200 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...24, using: &random) {
                bytes += Array((parts.randomElement(using: &random) ?? "").utf8)
                if round.isMultiple(of: 5) { bytes.append(.random(in: 0...255, using: &random)) }
            }
            if round.isMultiple(of: 20) {
                let part = Array((parts.randomElement(using: &random) ?? "").utf8)
                while bytes.count < 100_000 { bytes += part }
            }
            let dialect = round.isMultiple(of: 2) ? "json" : "yaml"
            let result = try home.run(
                ["convert", "-", "--dialect", dialect, "--json"], input: .bytes(bytes))
            #expect(
                result.end == .exited(0) || result.end == .exited(2),
                "\(dialect) \(bytes.prefix(200)): \(result.end) \(result.error)")
        }
    }
}

/// Numbers that repeat with the same seed (SplitMix64).
private struct HostileRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
