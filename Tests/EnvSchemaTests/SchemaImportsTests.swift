import EnvSchema
import Testing

@Suite struct SchemaImportsTests {
    /// Files by path. A path within another file is looked up as it is written.
    private struct Files: SchemaImports {
        let files: [String: String]

        func file(at path: String, importedFrom importer: String?) -> SchemaImport? {
            files[path].map { SchemaImport(text: Array($0.utf8), identity: path) }
        }
    }

    /// A file for every path, which imports more.
    private struct Endless: SchemaImports {
        let text: String

        func file(at path: String, importedFrom importer: String?) -> SchemaImport? {
            let depth = (importer.map { $0.utf8.count } ?? 0) + 1
            return SchemaImport(
                text: Array(text.utf8), identity: String(repeating: "x", count: depth))
        }
    }

    private func read(_ text: String, _ files: [String: String]) throws -> Schema {
        try readSpec(text, Files(files: files))
    }

    @Test func itemsOfTheImportingFileWin() throws {
        let schema = try read(
            "# @import(./.env.a) @import(./.env.b)\n# @defaultRequired=false\n# ---\nA=1\n",
            ["./.env.a": "A=2\nB=3\n# @foo\nC=4\n", "./.env.b": "B=5\n"])
        #expect(schema.items.map(\.key) == ["A", "B", "C"])
        #expect(schema.items.map(\.value) == [.default("1"), .default("5"), .default("4")])
        #expect(schema.items.map(\.path) == [nil, "./.env.b", "./.env.a"])
        #expect(schema.items.map(\.requirement) == [.never, .always, .always])
        #expect(schema.notes.map(\.inCases) == ["unknown-decorator:C"])
        #expect(schema.notes.map(\.path) == ["./.env.a"])
    }

    @Test func notesAreOfWhatCounts() throws {
        let schema = try read(
            "# @currentEnv=$E\n# @import(./.env.a) @import(./.env.b)\n# ---\nA=$E\nE=",
            [
                "./.env.a": "# @foo\nA=\n# @foo\nB=",
                "./.env.b": "# @required=forEnv(p) @bar\nB=\n# @foo @bar\nC=",
            ])
        #expect(
            schema.notes.map { "\($0.path ?? "") \($0.inCases) \($0.subject ?? "")" } == [
                " function-value:A ref", "./.env.b unknown-decorator:B bar",
                "./.env.b unknown-decorator:C foo", "./.env.b unknown-decorator:C bar",
            ])
    }

    @Test(
        arguments: [
            ("pick=[A, C]", ["A", "C"]), ("omit=[A]", ["B", "C", "AB"]),
            ("pick=[A*]", ["A", "AB"]), ("omit=[?]", ["AB"]), ("pick=[\"*B\"]", ["B", "AB"]),
            ("enabled=true", ["A", "B", "C", "AB"]), ("enabled=false", []), ("A, B", ["A", "B"]),
        ])
    func keysAreChosen(_ arguments: String, _ keys: [String]) throws {
        let schema = try read(
            "# @import(./.env.a, \(arguments))\n", ["./.env.a": "A=\nB=\nC=\nAB=\n"])
        #expect(schema.items.map(\.key) == keys)
        let isOld = arguments == "A, B"
        #expect(schema.notes.map(\.inCases) == (isOld ? ["deprecated-decorator:@import"] : []))
    }

    @Test(
        arguments: [
            "./.env.b", "/.env.a", ".env.a", "~/.env.a", "./dir/", "./a.env", "$A", "npm:x",
            "./.env.a, pick=[A], omit=[B]", "./.env.a, pick=A", "./.env.a, pick=[]",
            "./.env.a, pick=[$A]", "./.env.a, enabled=forEnv(dev)", "./.env.a, foo=1", "",
        ])
    func importIsNotFollowed(_ arguments: String) throws {
        let schema = try read("# @import(\(arguments))\n# ---\nX=", ["./.env.a": "A="])
        #expect(schema.items.map(\.key) == ["X"])
        #expect(schema.notes.map(\.inCases) == ["import-not-followed"])
    }

    @Test func circlesEnd() throws {
        let files = [
            "./.env.a": "# @import(./.env.b)\n\nA=", "./.env.b": "# @import(./.env.a)\n\nB=",
        ]
        let schema = try read("# @import(./.env.a)\n", files)
        #expect(schema.items.map(\.key) == ["A", "B"])
        #expect(schema.notes.map(\.inCases) == ["import-not-followed"])
        #expect(schema.notes.first?.path == "./.env.b")
        #expect(schema.notes.first?.subject == "./.env.a")
    }

    @Test func depthAndNumberAreLimited() throws {
        let deep = try readSpec("# @import(./.env.a)\n", Endless(text: "# @import(./.env.a)\n\nA="))
        #expect(deep.notes.map(\.inCases) == ["import-not-followed"])
        let twice = "# @import(./.env.a) @import(./.env.b)\n\nA="
        let wide = try readSpec(twice, Endless(text: twice))
        #expect(wide.items.map(\.key) == ["A"])
        #expect(wide.notes.count <= 2 * SchemaReader.maximumImports)
    }

    @Test func errorsOfImportsNameTheFile() {
        for (text, code, line) in [
            ("X=\n?", SchemaError.Code.syntax, 2), ("\0", .notText, nil),
        ] as [(String, SchemaError.Code, Int?)] {
            let error = schemaError { () throws(SchemaError) in
                try readSpec("# @import(./.env.a)\n", Files(files: ["./.env.a": text]))
            }
            #expect(error == SchemaError(code, line: line, path: "./.env.a"))
        }
    }

    @Test func environmentMayBeNamedByAnImport() throws {
        let files = ["./.env.a": "# @currentEnv=$E\n\nE=\n# @required=forEnv(p)\nA="]
        let all = try read("# @import(./.env.a)\n", files)
        #expect(all.environmentKey == "E")
        #expect(all.notes.isEmpty)
        let some = try read("# @import(./.env.a, pick=[A])\n", files)
        #expect(some.environmentKey == nil)
        #expect(some.notes.map(\.inCases) == ["no-current-env:A"])
    }

    @Test func disabledImportDeclaresNothing() throws {
        let schema = try read("# @import(./.env.a)\n\nA=", ["./.env.a": "# @disable\n\nB="])
        #expect(schema.items.map(\.key) == ["A"])
        #expect(schema.notes == [SchemaNote(.fileDisabled, line: 1, path: "./.env.a")])
    }
}
