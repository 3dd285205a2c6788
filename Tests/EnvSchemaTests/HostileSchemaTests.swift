import EnvSchema
import JSON
import Testing

/// Files that are made to harm the reader of a cloned repository.
@Suite struct HostileSchemaTests {
    private func readAll(_ bytes: [UInt8]) {
        for notation in Schema.Notation.allCases {
            _ = try? SchemaReader.read(bytes, notation: notation, fileName: "schema")
        }
        _ = SchemaReader.notation(of: bytes, fileName: ".env.schema")
    }

    @Test(
        arguments: [
            ("", "\""), ("A=", "'"), ("", "# @a("), ("", "# @a(\n"), ("# ", "@"), ("A=", "["),
            ("A={", "a={"), ("A=", "f("), ("A=", "$("), ("A=", "${"), ("A=", "${a:-"),
            ("A=[", "${"),
            ("", "# @type=f(x, y\n"), ("", "# @type=f(x,\n"), ("", "A=f(x,\n"), ("", "A=\"\"\"\n"),
            ("", "A=\n"), ("# @required ", "b "), ("A=f(", "a=a,"), ("", "# @type=array(\n"),
            ("# @type=", "array("), ("A=", "your"), ("A=a", "{{"), ("A=f(", "\"\\\","), ("", "\n"),
            ("# @docs(", "\"\\\""), ("A=", "\\$"), ("", "# @docs(\"x\n"), ("# @type=array(", "["),
        ])
    func manyTimesTheSameIsRead(_ start: String, _ part: String) {
        // Enough to notice time that is not linear.
        readAll(bytes(start, part, SchemaReader.maximumSize / 8))
    }

    @Test(arguments: ["\"", "# @a(", "# @a(\n", "@@@@", "# @type=f(x, y\n"])
    func longestFilesAreRead(_ part: String) {
        readAll(bytes("", part, SchemaReader.maximumSize))
    }

    private func bytes(_ start: String, _ part: String, _ size: Int) -> [UInt8] {
        let count = (size - start.utf8.count) / part.utf8.count
        return Array((start + String(repeating: part, count: count)).utf8)
    }

    @Test func nestingIsLimited() throws {
        for (open, close) in [("[", "]"), ("f(", ")"), ("{a=", "}")] {
            func text(_ depth: Int) -> String {
                "A=" + String(repeating: open, count: depth) + "x"
                    + String(repeating: close, count: depth)
            }
            #expect(try readSpec(text(64)).items.count == 1)
            #expect(
                schemaError { () throws(SchemaError) in try readSpec("\n" + text(65)) }
                    == SchemaError(.syntax, line: 2))
        }
    }

    @Test func sizeIsLimited() throws {
        let full = [UInt8](repeating: UInt8(ascii: "\n"), count: SchemaReader.maximumSize)
        for notation in [Schema.Notation.envSpec, .plain] {
            func read(_ bytes: [UInt8]) -> SchemaError? {
                schemaError { () throws(SchemaError) in
                    try SchemaReader.read(bytes, notation: notation, fileName: "schema")
                }
            }
            #expect(read(full) == nil)
            #expect(read(full + full) == SchemaError(.tooLong))
            #expect(read([0x41, 0x3D, 0xFF]) == SchemaError(.notText))
            #expect(read([0x41, 0x3D, 0xED, 0xA0, 0x80]) == SchemaError(.notText))
            #expect(read([0x41, 0x3D, 0x00]) == SchemaError(.notText))
        }
    }

    @Test func notesAreLimited() throws {
        let text = String(repeating: "# @a @b @c\n\n", count: 20_000)
        #expect(try readSpec("A=\n\n" + text).notes.count == 10_000)
        #expect(try readSpec(text).notes.count == 10_000)
        #expect(try readPlain(String(repeating: "junk\n", count: 20_000)).notes.count == 10_000)
    }

    @Test func namesInNotesAreShort() throws {
        let name = String(repeating: "ä", count: 10_000)
        let schema = try readSpec("# @a\(name)\n# ---\n# @b\(name) @type=\(name)\nA=")
        #expect(schema.notes.count == 3)
        for note in schema.notes {
            let longest = max(note.decorator?.utf8.count ?? 0, note.subject?.utf8.count ?? 0)
            #expect(longest > 200 && longest <= 260)
        }
    }

    @Test func changedCasesDoNotTrap() {
        var random = SeededRandom(seed: .random(in: .min ... .max))
        print("seed of the changed schemas: \(random.seed)")
        let inputs = NotationCase.all.map(\.input)
        let parts: [[UInt8]] = [
            "\"", "'", "`", "\"\"\"", "(", ")", "[", "]", "{", "}", "@", "# @", "#", "\n", "\r\n",
            "=",
            ",", "$", "${", "$(", "\\", " ", "\t", "export ", "# @type=", "# @required=",
            "\u{FEFF}",
            "ä", "---", "undefined", "true", "-0.5", "forEnv(", "not(", "# @import(./.env.a",
        ].map { Array($0.utf8) }
        for _ in 0..<4000 {
            var bytes = inputs.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let start = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    bytes.insert(contentsOf: parts.randomElement(using: &random) ?? [], at: start)
                case 1:
                    let end = min(bytes.count, start + Int.random(in: 1...8, using: &random))
                    bytes.removeSubrange(start..<end)
                case 2:
                    if start < bytes.count {
                        bytes[start] = .random(in: .min ... .max, using: &random)
                    }
                default:
                    let other = inputs.randomElement(using: &random) ?? []
                    bytes.replaceSubrange(start..., with: other.suffix(other.count / 2))
                }
            }
            readAll(bytes)
            if let schema = try? SchemaReader.read(bytes, fileName: ".env.schema") {
                #expect(Set(schema.items.map(\.key)).count == schema.items.count)
                #expect(!schema.json.encoded.isEmpty)
            }
        }
    }
}

/// SplitMix64, so that a failure can be repeated.
private struct SeededRandom: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
