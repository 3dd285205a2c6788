import EnvSchema
import Testing

/// Files that are made to harm.
@Suite struct SecretspecBoundsTests {
    private func error(_ bytes: [UInt8]) -> SchemaError? {
        do {
            _ = try SecretspecReader.read(bytes, target: nil)
            return nil
        } catch {
            return error
        }
    }

    private func error(_ text: String) -> SchemaError? { error([UInt8](text.utf8)) }

    @Test func sizeIsLimited() {
        let start = [UInt8]("[profiles.default]\n#".utf8)
        let limit = 1 << 20
        let full = start + [UInt8](repeating: UInt8(ascii: "x"), count: limit - start.count)
        #expect(error(full) == nil)
        #expect(error(full + [UInt8(ascii: "x")]) == SchemaError(.tooLong))
    }

    @Test func onlyTextIsRead() {
        #expect(error([0xFF]) == SchemaError(.notText))
        #expect(error("a = \"\0\"\n") == SchemaError(.notText))
        #expect(error("")?.code == .noProfile)
    }

    @Test(
        arguments: [
            ("a = ", "[", "", 1), ("a = ", "{a=", "", 1), ("\n[", "a.", "a]\n", 2),
            ("\n\n", "'a'.", "a = 1\n", 3), ("a = {", "a . ", "a = 1}\n", 1),
            ("", "[[a]]\n", "", 8193), ("", "a.a=1\n", "", 8193),
        ])
    func depthAndNumberAreLimited(_ start: String, _ part: String, _ end: String, _ line: Int) {
        let text = start + String(repeating: part, count: 100_000) + end
        #expect(error(text) == SchemaError(.syntax, line: line))
    }

    @Test func textIsNoStructure() {
        let dots = String(repeating: "[a.", count: 100_000)
        for text in [
            "# \(dots)\n", "a = \"\(dots)\"\n", "a = '\(dots)'\n",
            "a = \"\"\"\n\"\(dots)\\\"\n\"\"\"\n",
            "a = '''\n''\(dots)'''''\n", "a = \"\"\"\(dots)\"\"\"\"\" # \(dots)\n",
            "a = \"\\\\\" # \(dots)\n", "'a' = '\\' # \(dots)\n",
        ] {
            #expect(error(text) == SchemaError(.noProfile))
        }
    }

    /// Inputs that disprove assumptions of the library.
    @Test(arguments: [
        "[=", "[ #", "[[=", "[\u{0B}a]", "[profilesҖa]\n", "a = \"\"\"\\Җ\"\"\"\n", "=", "a.=1",
    ])
    func assumptionsOfTheLibraryAreNotTrusted(_ text: String) {
        #expect(error("\n" + text) == SchemaError(.syntax, line: 2))
    }

    /// Every prefix, and random changes of the cases.
    @Test func changedFilesAreReadOrRefused() {
        let seed = UInt64.random(in: 0 ... .max)
        print("secretspec: seed \(seed)")
        var state = seed
        func random(_ bound: Int) -> Int {
            // SplitMix64.
            state &+= 0x9E37_79B9_7F4A_7C15
            var bits = state
            bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
            return Int((bits ^ bits >> 31) % UInt64(bound))
        }
        let parts = [
            "[", "]", "{", "}", "\"", "\"\"\"", "'", "=", ".", ",", "#", "\\", "\n", "\r\n", "\t",
            "[[", "]]", "true", "3", "1.5e9", "default", "profiles", "defaults", "required",
            "at_least_one", "é", "Җ", "\u{FEFF}", "\\u0000", "1979-05-27T07:32:00Z", "0x", "inf",
        ].map { [UInt8]($0.utf8) }
        for example in SecretspecCase.all {
            let bytes = [UInt8](example.input.utf8)
            for count in bytes.indices { _ = error([UInt8](bytes[..<count])) }
            for _ in 0..<300 {
                var changed = bytes
                for _ in 0...random(4) {
                    let place = random(changed.count + 1)
                    switch random(4) {
                    case 0: changed.insert(contentsOf: parts[random(parts.count)], at: place)
                    case 1: changed.insert(UInt8(random(256)), at: place)
                    case 2: changed.removeSubrange(place..<min(changed.count, place + random(9)))
                    default:
                        let end = min(changed.count, place + random(40))
                        changed.insert(
                            contentsOf: changed[place..<end], at: random(changed.count + 1))
                    }
                }
                for target in [nil, "production", "development"] {
                    guard let schema = try? SecretspecReader.read(changed, target: target) else {
                        continue
                    }
                    #expect(
                        Set(schema.items.map(\.key)).count == schema.items.count, "seed \(seed)")
                }
            }
        }
    }
}
