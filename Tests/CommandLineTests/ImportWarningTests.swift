import Foundation
internal import JSON
import TestSupport
import Testing

/// Warnings of `import` about values, cut values and references.
@Suite("Warnings about imported values")
struct ImportWarningTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    private func imported(_ text: String, _ options: String...) throws -> JSONDocument {
        try json(
            home.run(["import", "-", "-p", "web", "--json"] + options, input: .text(text)))
    }

    private func codes(_ document: JSONDocument) -> [String] {
        document["warnings"]?.elements.compactMap { $0["code"]?.text } ?? []
    }

    /// A name, its value, and the code of the warning.
    static let cases: [(String, String, String)] = [
        ("A", "-----BEGIN PRIVATE KEY-----\nMIIE", "cut-pem"), ("B", " padded ", "blank-at-ends"),
        ("C", "value\n", "blank-at-ends"), ("D", "'value'", "quotes-around"),
        ("NEXT_PUBLIC_STRIPE_SECRET_KEY", "sk_live_1", "public-prefix"),
        ("E", "encrypted:BDqxyz", "encrypted-value"),
        ("F", "ENC[AES256_GCM,data:a=,iv:b=,tag:c=,type:str]", "encrypted-value"),
        ("G", "op://Prod/stripe/credential", "encrypted-value"),
        ("sops_mac", "x", "encrypted-value"), ("H", "value\u{200B}", "invisible-at-ends"),
        ("I", "\u{A0}value", "invisible-at-ends"), ("J", "value\u{FEFF}", "invisible-at-ends"),
        ("K", "\u{201C}value\u{201D}", "invisible-at-ends"),
        ("TZ", "Europe/Berlin", "reserved-name"),
        ("AWS_SECRET_KEY", "x", "reserved-name"), ("NODE_ENV", "development", "node-env"),
        ("CRON_SECRET", "grün", "unfit-for-header"), ("CRON_SECRET", "a\tb", "unfit-for-header"),
    ]

    @Test(
        "VAL-F8, VAL-F12, VAL-F15, VAL-F17: set, import and import --strict check values alike",
        arguments: cases)
    func suspicious(key: String, value: String, code: String) throws {
        let set = try json(
            home.run(["set", key, "-p", "set", "--raw", "--json"], input: .text(value)))
        #expect(codes(set) == [code])
        failed(
            try home.run(["set", key, "-p", "web", "--raw", "--strict"], input: .text(value)), 2,
            key)
        let text = "\(key)=\"\(value.replacing("\n", with: "\\n"))\"\nOTHER=1\n"
        let strict = try home.run(["import", "-", "-p", "web", "--strict"], input: .text(text))
        #expect(strict.end == .exited(2), "\(strict.error)")
        failed(try home.run(["list", "-p", "web"]), 4)
        #expect(codes(try imported(text)).contains(code))
        let shown = done(try home.run(["import", "-", "-p", "other"], input: .text(text)))
        #expect(shown.error.contains("warning: "))
        #expect(value.utf8.count < 12 || !shown.error.contains(value), "\(shown.error)")
    }

    @Test("VAL-F8, VAL-F12: pull checks the values that it takes")
    func pulled() throws {
        let platform = try SandboxHome()
        try platform.set("A", "value")
        try platform.set("B", "value")
        done(try platform.run("push", "-p", "web", "--yes"))
        try platform.change("A", ["value": "theirs\n"])
        let first = try json(platform.run("pull", "-p", "web", "--yes", "--json"))
        #expect(codes(first) == ["blank-at-ends"], "\(first)")
        // What did not change is not reported again.
        try platform.change("B", ["value": "op://Prod/stripe/credential"])
        let second = try json(platform.run("pull", "-p", "web", "--yes", "--json"))
        #expect(codes(second) == ["encrypted-value"], "\(second)")
    }

    @Test("VAL-F15: NODE_ENV is checked where it is for production")
    func nodeEnvironment() throws {
        for (target, value, warns) in [
            ("development", "development", false), ("preview", "test", false),
            ("production", "production", false), ("production", "development", true),
        ] {
            let set = try json(
                home.run(
                    ["set", "NODE_ENV", "-p", "set", "-t", target, "--json"], input: .text(value)))
            #expect(codes(set).contains("node-env") == warns)
            let result = try imported("NODE_ENV=\(value)\n", "-t", target)
            #expect(codes(result).contains("node-env") == warns, "\(target) \(value)")
        }
    }

    @Test("VAL-F8: many warnings of a kind are counted, and --json lists them")
    func many() throws {
        let text = (1...20).map { "A\($0)=\" x\"\n" }.joined()
        let shown = done(try home.run(["import", "-", "-p", "web"], input: .text(text)))
        #expect(shown.error.split(separator: "\n").filter { $0.hasPrefix("warning:") }.count == 6)
        #expect(shown.error.contains("15 more"), "\(shown.error)")
        #expect(codes(try imported(text)).count { $0 == "blank-at-ends" } == 20)
    }

    @Test("VAL-F16: empty values are one line, which -q drops")
    func empty() throws {
        let text = (1...68).map { "A\($0)=\n" }.joined()
        let shown = done(try home.run(["import", "-", "-p", "web"], input: .text(text)))
        let lines = shown.error.split(separator: "\n").filter { $0.contains("empty value") }
        #expect(lines.count == 1 && lines.first?.contains("68 variables") == true)
        let quiet = done(try home.run(["import", "-", "-p", "quiet", "-q"], input: .text(text)))
        #expect(quiet.error == "")
        #expect(codes(try imported(text)).count { $0 == "empty-value" } == 68)
    }

    private static let pem = """
        BEFORE=1
        TLS_KEY=-----BEGIN PRIVATE KEY-----
        MIIEfake0123456789ABCDEF
        Zm9vYmFyc2VjcmV0dGFpbA==
        -----END PRIVATE KEY-----
        AFTER=1

        """

    @Test(
        "VAL-F11: no piece of a cut value becomes a name or is shown",
        arguments: ["dotenv", "next", "node"])
    func cutValue(dialect: String) throws {
        let json = """
            CREDENTIALS={
              "type": "service_account",
              "url": "https://x.example/?token=Zm9vYmFyc2VjcmV0dGFpbA==",
              Zm9vYmFyc2VjcmV0dGFpbA==
            }
            AFTER=1

            """
        for (text, key) in [(Self.pem, "TLS_KEY"), (json, "CREDENTIALS")] {
            let shown = done(
                try home.run(
                    ["import", "-", "-p", "web", "--dialect", dialect], input: .text(text)))
            #expect(shown.error.contains("cut-value \(key)"), "\(shown.error)")
            #expect(!(shown.error + shown.output).contains("Zm9v"), "\(shown.error)\(shown.output)")
            let result = try reported(text, dialect)
            let names = try home.run(["list", "-p", "other", "--json"]).output
            #expect(!(names + "\(result)").contains("Zm9v"), "\(names)")
            #expect(names.contains("AFTER") || dialect == "node")
            failed(
                try home.run(
                    ["import", "-", "-p", "web", "--dialect", dialect, "--strict"],
                    input: .text(text)), 2, "cut-value")
        }
        try home.directory.write(Self.pem, to: "work/pem.env")
        let kept = try home.run(["import", "pem.env", "-p", "web", "--remove"])
        #expect(kept.end == .exited(1))
        #expect(
            kept.error.contains("pem.env was not deleted: some of its values are cut"),
            "\(kept.error)")
    }

    private func reported(_ text: String, _ dialect: String) throws -> JSONDocument {
        try json(
            home.run(
                ["import", "-", "-p", "other", "--json", "--dialect", dialect], input: .text(text)))
    }

    private static let references = """
        A=1#x
        B=2#y
        C=3#z
        D=4#w
        E=5#v
        F="say "hi""
        NEXT_PUBLIC_URL=https://x.example
        API_BASE=${NEXT_PUBLIC_URL}/api

        """

    @Test("USE-L2: a reference to another name of the file is a warning, with the way out")
    func references() throws {
        try home.directory.write(Self.references, to: "work/.env")
        func told(_ options: String...) throws -> String {
            done(try home.run(["import", ".env", "-p", "web"] + options)).error
        }
        for options in [[], ["-q"]] {
            let plain = done(try home.run(["import", ".env", "-p", "web"] + options)).error
            #expect(plain.contains("warning: API_BASE refers to NEXT_PUBLIC_URL"), "\(plain)")
            #expect(plain.contains("--expand") && !plain.contains("--dialect next"), "\(plain)")
        }
        for dependencies in ["dependencies", "devDependencies"] {
            try home.directory.write(
                "{\"name\": \"x\", \"\(dependencies)\": {\"next\": \"15.0.0\"}}",
                to: "work/package.json")
            #expect(try told().contains("--dialect next"))
            try home.directory.makeDirectory("work/sub")
            try home.directory.write(Self.references, to: "work/sub/.env")
            let below = done(try home.run(["import", "sub/.env", "-p", "web"])).error
            #expect(below.contains("--dialect next"))
        }
        #expect(try !told("--expand").contains("refers to"))
        #expect(try !told("--dialect", "next").contains("refers to"))
        // No reference: escaped, to itself, or to what the file does not set.
        let none = try imported("A=1\nB=\\$A\nC=$C\nD=${NOPE}\nE=$$\n")
        #expect(!codes(none).contains("reference"))
        let nested = try imported("A=1\nB=${NOPE:-x${A}}\n")
        #expect(codes(nested).contains("reference"))
    }

    @Test("USE-L2: many diagnostics are one line for each code, the worst first")
    func groups() throws {
        let result = done(
            try home.run(["import", "-", "-p", "web"], input: .text(Self.references)))
        let lines = result.error.split(separator: "\n").filter { $0.hasPrefix("stdin:") }
        #expect(lines.first?.contains("differs-expansion API_BASE") == true, "\(result.error)")
        #expect(
            lines.contains {
                $0.contains("differs-hash-in-value A") && $0.contains("also B, C, D, E")
            },
            "\(result.error)")
        #expect(lines.count <= 5)
    }

    @Test("VAL-F17: a UTF-16 file is called one", arguments: [true, false])
    func utf16(hasMark: Bool) throws {
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
            let text = (hasMark ? "\u{FEFF}" : "") + "KEY=value\r\n"
            let bytes = Array(try #require(text.data(using: encoding)))
            failed(
                try home.run(["import", "-", "-p", "web"], input: .bytes(bytes)), 2, "UTF-16",
                "iconv")
        }
    }
}
