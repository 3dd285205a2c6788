import Foundation
import TestSupport
import Testing

/// A realistic file: every value arrives as motdotla/dotenv reads it.
@Suite("Real input")
struct RealInputTests {
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----
        """

    /// Every key and value that motdotla/dotenv reads from ``file``.
    private static let expected: [(key: String, value: String)] = [
        ("DATABASE_URL", "postgres://app:p%40ss@db.example.com:5432/shop?sslmode=require#main"),
        ("TLS_KEY", pem), ("SERVICE_ACCOUNT", #"{"type":"service","key":"a\nb","n":[1,2]}"#),
        ("SECRET", "c2VjcmV0IHdpdGggcGFkZGluZw=="),
        ("HASH", "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"),
        ("EXPORTED", "yes"), ("SPACED", "a b  c"), ("COMMENTED", "value"), ("HASHED", "a#b"),
        ("DUPLICATE", "second"), ("EMPTY", ""), ("UNICODE", "Grüße, 世界 🔐"), ("TABS", "a\tb"),
        ("ESCAPES", "line 1\nline 2"), ("LITERAL", #"line 1\nline 2"#),
        ("BACKTICKS", "it's \"so\""),
        ("dotted.name", "1"), ("COLON", "works too"),
    ]

    private static let file = """
        # Settings of the shop

        DATABASE_URL="postgres://app:p%40ss@db.example.com:5432/shop?sslmode=require#main"
        TLS_KEY="\(pem)"
        SERVICE_ACCOUNT='{"type":"service","key":"a\\nb","n":[1,2]}'
        SECRET=c2VjcmV0IHdpdGggcGFkZGluZw==
        HASH='$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'
        export EXPORTED=yes
        SPACED = a b  c   \n\
        COMMENTED=value # not this
        HASHED="a#b"
        DUPLICATE=first
        DUPLICATE=second
        EMPTY=
        UNICODE="Grüße, 世界 🔐"
        TABS="a\tb"
        ESCAPES="line 1\\nline 2"
        LITERAL='line 1\\nline 2'
        BACKTICKS=`it's "so"`
        dotted.name=1
        COLON: works too

        """

    /// The file unchanged, with Windows line ends, and with a byte order mark.
    enum Form: CaseIterable {
        case plain, windows, marked
    }

    @Test(arguments: Form.allCases)
    func `every value arrives byte for byte`(form: Form) throws {
        let home = try CommandHome.initialised()
        var text = Self.file
        // The reference parser turns Windows line ends into plain ones, in values too.
        if form == .windows { text = text.replacing("\n", with: "\r\n") }
        if form == .marked { text = "\u{FEFF}" + text }
        try home.directory.write(text, to: "work/.env")
        let imported = try json(home.run(["import", ".env", "-p", "web", "--json"]))
        let expected = Self.expected
        #expect(Set(imported["created"]?.texts ?? []) == Set(expected.map(\.key)))
        let codes = imported["diagnostics"]?.elements.compactMap { $0["code"]?.text } ?? []
        #expect(codes.contains("duplicate-key"))
        for diagnostic in imported["diagnostics"]?.elements ?? [] {
            #expect(diagnostic.names == ["file", "line", "column", "key", "code", "message"])
            #expect(diagnostic["file"] == ".env")
        }

        let child = done(
            try home.run(
                ["run", "-p", "web", "-t", "production", "--no-inherit", "--", "env", "-0"]))
        let entries = Set(child.standardOutput.split(separator: 0).map { Array($0) })
        #expect(entries == Set(expected.map { Array("\($0.key)=\($0.value)".utf8) }))

        for (key, value) in expected {
            #expect(try home.revealed(key) == Array(value.utf8), "\(key)")
        }
        let object = try json(
            home.run(["export", "-p", "web", "-t", "preview", "--format", "json"]))
        #expect(
            object
                == .object(
                    Dictionary(uniqueKeysWithValues: expected.map { ($0, .string($1)) })))
    }

    @Test func `diagnostics on stderr have file, line, column, code and key`() throws {
        let home = try CommandHome.initialised()
        try home.directory.write("A=1\nURL=http://x/#frag\nnot a line\nA=2\n", to: "work/.env")
        let result = done(try home.run(["import", ".env", "-p", "web"]))
        let lines = result.error.split(separator: "\n").filter { $0.hasPrefix(".env:") }
        #expect(lines.contains { $0.hasPrefix(".env:1:1: duplicate-key A: ") })
        #expect(lines.contains { $0.wholeMatch(of: /\.env:2:\d+: differs-\S+ URL: .+/) != nil })
        #expect(lines.contains { $0.wholeMatch(of: /\.env:3:\d+: ignored-\S+.*: .+/) != nil })
        let before = try home.vaultBytes()
        failed(try home.run(["import", ".env", "-p", "web", "--strict", "-q"]), 2, "--strict")
        #expect(try home.vaultBytes() == before)
    }

    @Test func `import says whether git tracks the file`() throws {
        let home = try CommandHome.initialised()
        try home.directory.write("A=1\n", to: "work/.env")
        for arguments in [["init", "-q"], ["add", ".env"]] {
            var git = ProgramRunner(
                path: "/usr/bin/git", arguments, environment: home.environment)
            git.workingDirectory = home.directory.path("work")
            done(try git.run())
        }
        let result = done(try home.run(["import", ".env", "-p", "web"]))
        #expect(result.error.contains("git tracks it"))
    }

    @Test func `several keys and files are quoted so that they read back alike`() throws {
        let home = try CommandHome.initialised()
        try home.directory.write(Self.file, to: "work/.env")
        done(try home.run(["import", ".env", "-p", "web"]))
        for format in ["dotenv", "shell"] {
            // Names that cannot be shell variables.
            let left = format == "shell" ? ["dotted.name"] : []
            let exported = done(
                try home.run(
                    ["export", "-p", "web", "-t", "preview", "--format", format]
                        + left.flatMap { ["--except", $0] }))
            try home.directory.write(exported.standardOutput, to: "work/\(format)")
            let back = try json(
                home.run(["import", format, "-p", "web", "--dialect", format, "--json"]))
            #expect(back["updated"] == [])
            #expect(
                back["unchanged"]?.elements.count == Self.expected.count - left.count, "\(format)")
        }
    }
}

/// The recorded results of motdotla/dotenv.
@Suite("The cases of motdotla/dotenv")
struct DotEnvCasesTests {
    struct Case: Decodable, Sendable {
        struct Expected: Decodable, Sendable {
            let motdotla: [[String]]
        }
        let name: String
        let input: String
        let expected: Expected
    }

    private struct File: Decodable {
        let cases: [Case]
    }

    /// All cases, which the dialect tests read too.
    static func cases() throws -> [Case] {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(
            contentsOf: package.appending(path: "Tests/DotEnvTests/Cases/dotenv-cases.json"))
        return try JSONDecoder().decode(File.self, from: data).cases
    }

    @Test(arguments: 0..<8)
    func `each case imports and exports the recorded values`(part: Int) throws {
        let home = try CommandHome.initialised()
        let cases = try Self.cases()
        #expect(cases.count > 150)
        // A new vault for every eighth case, as each import rewrites the vault.
        for (number, testCase) in cases.enumerated() where number % 8 == part {
            let project = "case\(number)"
            let pairs = testCase.expected.motdotla.map { ($0[0], JSONDocument.string($0[1])) }
            var expected = Dictionary(pairs) { $1 }
            let imported = try home.run(
                ["import", "-", "-p", project, "--json"], input: .text(testCase.input))
            if let key = expected.keys.first(where: { $0.utf8.count > 1_024 }) {
                // The vault does not accept this name: refused with its position, nothing stored.
                let text = try failedAsJSON(imported, 2, "usage")
                #expect(text.contains("stdin:1:1") && !text.contains(key))
                continue
            }
            if expected.isEmpty, imported.status == 2 {
                // An import without variables is an error and creates no project.
                try failedAsJSON(imported, 2, "usage")
                failed(try home.run(["export", "-p", project]), 4, project)
                continue
            }
            #expect(imported.status == 0, "\(testCase.name): \(imported.error)")
            let exported = try home.run(
                ["export", "-p", project, "-t", "production", "--format", "json"])
            #expect(exported.status == 0, "\(testCase.name): \(exported.error)")
            let found = try JSONDocument(exported.standardOutput)
            if found["__proto__"] != nil {
                // JavaScript drops this name silently; zg-env keeps it and says so.
                let codes = try JSONDocument(imported.standardOutput)["diagnostics"]?.elements
                #expect(codes?.contains { $0["code"] == "differs-prototype-name" } == true)
                expected["__proto__"] = found["__proto__"]
            }
            #expect(found == .object(expected), "\(testCase.name)")
        }
    }

    @Test(
        arguments: [
            ("NUL", [0x41, 0x3D, 0x00, 0x0A], "NUL"), ("half", [0x41, 0x3D, 0xC3, 0x0A], "UTF-8"),
            ("surrogate", [0x41, 0x3D, 0xED, 0xA0, 0x80], "UTF-8"),
            ("overlong", [0x41, 0x3D, 0xC0, 0xAF], "UTF-8"), ("lone", [0x80], "UTF-8"),
            ("in a comment", [0x23, 0xFF, 0x0A, 0x41, 0x3D, 0x31], "UTF-8"),
        ] as [(String, [UInt8], String)])
    func `bytes that are not text are refused with their position`(
        name: String, bytes: [UInt8], word: String
    ) throws {
        let home = try CommandHome.initialised()
        let before = try home.vaultBytes()
        let result = try home.run(["import", "-", "-p", "web"], input: .bytes(bytes))
        failed(result, 2, word, "stdin", "line ", "byte ")
        #expect(try home.vaultBytes() == before)
    }
}
