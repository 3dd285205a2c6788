import DotEnv
import Testing

/// Bare values that go on in the next lines.
@Suite struct `Cut values` {
    private static let pem =
        "-----BEGIN PRIVATE KEY-----\nMIIE\nZm9vYmFy==\n-----END PRIVATE KEY-----\n"

    /// Longer than a name.
    private static let long = String(repeating: "Zm9v", count: 16)

    /// A text, and the names in it that are no piece of a value.
    static let cases: [(String, [String])] = [
        ("A=\(pem)B=1\n", ["A", "B"]),
        ("A=\(pem)\(pem)B=1\n", ["A", "B"]),
        ("export A = \(pem)B=1\n", ["A", "B"]),
        ("A=\(pem.replacing("\n", with: "\r\n"))B=1\r\n", ["A", "B"]),
        (
            "A=-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nZm9v==\n-----END RSA PRIVATE KEY-----\n",
            ["A"]
        ),
        // Without the end line, short names are names.
        ("A=-----BEGIN X-----\nMIIEMIIEMIIEMIIEMIIEMIIE\nB=\n", ["A", "B"]),
        ("A=-----BEGIN X-----\nMIIEMIIEMIIEMIIEMIIEMIIE==\nB=1\n", ["A", "B"]),
        // A PGP block has headers, an empty line and a checksum.
        (
            "A=-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\nComment: x=1\n\nlQdG\nZm9v==\n=njUN\n-----END PGP PRIVATE KEY BLOCK-----\nB=1\n",
            ["A", "B"]
        ),
        ("A=-----BEGIN PGP MESSAGE-----\nVersion: Zm9v\n\n\(long)\nZm9v==\nB=1\n", ["A", "B"]),
        // A comment behind the first line.
        ("A=\(pem.replacing("KEY-----\n", with: "KEY----- # Zm9v x\n"))B=1\n", ["A", "B"]),
        // A quote that never ends.
        ("A=\"\(pem)B=1\n", ["A", "B"]), ("A='\(pem)B=1\n", ["A", "B"]),
        ("A=\"{\n  \"a\": \"x=1\",\n Zm9v: x\n}\"\nB=1\n", ["A", "B"]),
        // A block that begins on the next line.
        ("A=\n\(pem)B=1\n", ["A", "B"]), ("A= # Zm9v\n\(pem)B=1\n", ["A", "B"]),
        ("A=\r\n\(pem.replacing("\n", with: "\r\n"))B=1\r\n", ["A", "B"]),
        ("A=\n{\n Zm9v: x\n}\nB=1\n", ["A", "B"]),
        // A foreign line: it is no piece, and what follows it is.
        ("A=\(pem.replacing("MIIE", with: "# no\nMIIE"))B=1\n", ["A", "B"]),
        ("A=\(pem.replacing("Zm9v", with: "what? Zm9v\nZm9v"))B=1\n", ["A", "B"]),
        ("A=\(pem.replacing("Zm9v", with: "C=foreign\nZm9v"))B=1\n", ["A", "C", "B"]),
        ("A=-----BEGIN X-----\n\(long)\nwhat? no\n\(long)\nZm9v==\nB=1\n", ["A", "B"]),
        ("A={\n  \"a\": \"x=1\",\n  b=1\n}\nB=1\n", ["A", "b", "B"]),
        ("A={\n  \"a\": {\n \"b=\": [1] },\n Zm9v: x\n}\nB=1\n", ["A", "B"]),
        ("A=[\n \"]\",\n Zm9v: x\n]\nB=1\n", ["A", "B"]),
        ("A={\"a\": 1,\n Zm9v: x }\nB=1\n", ["A", "B"]),
    ]

    @Test("VAL-F11: the rest of a cut value is known", arguments: cases)
    func cut(text: String, names: [String]) throws {
        let file = try read(text)
        #expect(file.indicesWithoutPieces.map { file.entries[$0].key } == names, "\(text)")
        let cut = file.diagnostics.filter { $0.code == .cutValue }
        #expect(cut.map(\.key) == ["A"], "\(text)")
        for diagnostic in file.diagnostics {
            #expect(diagnostic.key.map { !$0.contains("Zm9v") } ?? true, "\(diagnostic)")
        }
        // The parse itself is that of every dialect.
        #expect(try pairs(text).map(\.key).contains("A"))
    }

    @Test(
        "VAL-F11: whole values are not cut",
        arguments: [
            "A=\"-----BEGIN X-----\nMIIE\n-----END X-----\"\nB=1\n", "A={}\nB=1\n", "A={\nB=1\n",
            "A=[\n\nB=1\n", "A={\n# comment\nB=1\n", "A=-----BEGIN X-----\nB=1\n", "A={",
            "A={\"a\":1}\n\"b\": 1\n", "A=-----BEGIN X----- # x\nMIIE\nB=1\n",
            "A=\n-----BEGIN X-----\nB=1\n", "A=\nB={}\n",
            "A=-----BEGIN X-----MIIE-----END X-----\nMIIE\n-----END X-----\n",
            "A='{\n\"a\": 1}'\n", "A=- x\nB=1\n",
        ])
    func whole(text: String) throws {
        let file = try read(text)
        #expect(!file.diagnostics.contains { $0.code == .cutValue }, "\(text)")
        #expect(file.indicesWithoutPieces == file.effectiveIndices)
    }

    @Test("VAL-F11: a piece does not hide the variable of the same name")
    func sameName() throws {
        let file = try read("Zm9v=1\nA=-----BEGIN X-----\nZm9v==\n-----END X-----\n")
        #expect(file.indicesWithoutPieces.map { file.entries[$0].position.line } == [1, 2])
    }

    @Test(
        "VAL-F16: a shell ends a bare value at a semicolon",
        arguments: [
            "A=b;C=d\n", "A=sqlserver://h:1433;database=d;user=sa\n", "A=b;\n", "A=b; C=d\nB=1\n",
        ])
    func semicolon(text: String) throws {
        let diagnostics = try read(text).diagnostics
        #expect(diagnostics.map(\.code) == [.differsShell], "\(text)")
        #expect(diagnostics.map(\.key) == ["A"])
    }
}
