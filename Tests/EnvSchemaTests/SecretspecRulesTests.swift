import Testing

@testable import EnvSchema

/// Rules that no case of the shared file has.
@Suite struct SecretspecRulesTests {
    private static let project = "[project]\nname = \"a\"\nrevision = \"1.0\"\n"

    private func read(_ text: String, _ target: String? = nil) throws -> Schema {
        try SecretspecReader.read([UInt8]((Self.project + text).utf8), target: target)
    }

    private func error(_ text: String, _ target: String? = nil) -> SchemaError? {
        #expect(throws: SchemaError.self) { _ = try read(text, target) }
    }

    /// Reads one key `A` of the profile `default`.
    private func readOne(_ fields: String) throws -> (item: SchemaItem, notes: [String]) {
        let schema = try read("[profiles.default]\nA = { \(fields) }\n")
        return (try #require(schema.items.first), schema.notes.map(\.asInCases))
    }

    // MARK: Profiles

    @Test(
        arguments: [
            ("production", "production"), ("preview", "preview"), ("development", "development"),
            ("qa", "qa"), ("prod", "prod"),
        ])
    func exactNameIsFirst(_ target: String, _ profile: String) throws {
        let names = [
            "default", "prod", "staging", "stage", "dev", "local", "production", "preview",
            "development", "qa",
        ]
        let text = names.map { "[profiles.\($0)]\nA = { description = \"a\" }\n" }.joined()
        let schema = try read(text, target)
        #expect(schema.profile == profile)
        #expect(schema.notes.isEmpty)
    }

    @Test(
        arguments: [
            ("production", ["prod"]), ("preview", ["staging", "stage"]),
            ("development", ["dev", "local"]),
        ])
    func shortNamesFollowInOrder(_ target: String, _ names: [String]) throws {
        for index in names.indices {
            let present = ["default"] + names[index...].reversed()
            let text = present.map { "[profiles.\($0)]\nA = { description = \"a\" }\n" }.joined()
            #expect(try read(text, target).profile == names[index])
        }
    }

    @Test(arguments: ["live", "Production", "qa", "prod", "staging"])
    func otherNamesMeanTheDefault(_ target: String) throws {
        let schema = try read(
            "[profiles.default]\nA={description=\"a\"}\n[profiles.production]\nB={}\n", target)
        #expect(schema.profile == "default")
        #expect(schema.notes == [SchemaNote(.profileDefault, line: 0)])
    }

    @Test func noTargetAsksForTheDefault() throws {
        let schema = try read("[profiles.production]\nA = { description = \"a\" }\n")
        #expect(schema.profile == nil)
        #expect(schema.items.isEmpty)
        #expect(schema.notes == [SchemaNote(.profileUnmapped, line: 0)])
        #expect(try read("[profiles.default]\n", "default").notes.isEmpty)
    }

    @Test(arguments: ["", "[profiles]\n", "profiles = 3\n", "[profiles]\ndefault = 3\n"])
    func noProfileIsAnError(_ text: String) {
        #expect(error(text)?.code == .noProfile)
    }

    @Test func profileThatIsNoTableCountsAsAbsent() throws {
        let schema = try read(
            "[profiles]\nproduction = 3\n[profiles.default]\nA = { description = \"a\" }\n",
            "production")
        #expect(schema.profile == "default")
        #expect(schema.notes.map(\.code) == [.profileDefault, .badValue])
        #expect(schema.notes.map(\.line) == [0, 5])
    }

    // MARK: Merging

    @Test func fieldsAreInheritedOneByOne() throws {
        let schema = try read(
            """
            [profiles.default.A]
            description = "of all"
            default = "1"
            as_path = true
            [profiles.default.B]
            description = "b"
            required = { at_least_one = "g" }
            [profiles.production.A]
            as_path = false
            default = "2"
            [profiles.production.B]
            required = true
            """, "production")
        #expect(schema.items.map(\.key) == ["A", "B"])
        #expect(schema.items.map(\.line) == [11, 14])
        #expect(schema.items.map(\.description) == ["of all", "b"])
        #expect(schema.items.map(\.value) == [.default("2"), .none])
        #expect(schema.items.map(\.requirement) == [.never, .always])
        #expect(schema.items.map(\.groups) == [[], []])
        #expect(schema.notes.isEmpty)
    }

    @Test func defaultsOfTheProfileComeLast() throws {
        let text = """
            [profiles.default.defaults]
            required = false
            default = "never"
            [profiles.default]
            A = { description = "a" }
            B = { description = "b", default = "own" }
            C = { description = "c", required = { exactly_one = "g" } }
            D = { description = "d", composed = "${A}" }
            [profiles.production.defaults]
            default = "all"
            [profiles.production]
            E = { description = "e" }
            """
        let own = try read(text)
        #expect(own.items.map(\.key) == ["A", "B", "C", "D"])
        #expect(own.items.map(\.requirement) == [.never, .never, .never, .never])
        #expect(
            own.items.map(\.value) == [
                .default("never"), .default("own"), .default("never"), .function("composed"),
            ])
        let other = try read(text, "production")
        #expect(other.items.map(\.key) == ["A", "B", "C", "D", "E"])
        #expect(
            other.items.map(\.value) == [
                .default("all"), .default("own"), .default("all"), .function("composed"),
                .default("all"),
            ])
        #expect(
            other.items.map(\.requirement) == [.never, .never, .never, .always, .never])
    }

    @Test func inheritanceIsOnlyTurnedOffByFalse() throws {
        let text = "[profiles.default]\nA = { description = \"a\" }\n[profiles.qa.defaults]\n"
        #expect(try read(text + "inherit = false\n", "qa").items.isEmpty)
        #expect(try read(text + "inherit = true\n", "qa").items.count == 1)
        let wrong = try read(text + "inherit = \"false\"\n", "qa")
        #expect(wrong.items.count == 1)
        #expect(wrong.notes == [SchemaNote(.badValue, line: 7)])
    }

    @Test func inheritedKeysAreNotedForWhatTheySay() throws {
        let text = """
            [profiles.default]
            A = { description = "a", colour = 1 }
            [profiles.qa]
            B = { description = "b" }
            """
        #expect(try read(text, "qa").notes == [SchemaNote(.unknownField, key: "A", line: 5)])
        let alone = text + "\n[profiles.qa.defaults]\ninherit = false\n"
        #expect(try read(alone, "qa").notes.isEmpty)
    }

    // MARK: Fields

    @Test func groupsAreNamesOrLists() throws {
        let (item, notes) = try readOne(
            #"description = "a", required = { at_least_one = ["x", "y"], exactly_one = "z" }"#)
        #expect(
            item.groups == [
                SchemaGroup(rule: .atLeastOne, name: "x"),
                SchemaGroup(rule: .atLeastOne, name: "y"),
                SchemaGroup(rule: .exactlyOne, name: "z"),
            ])
        #expect(item.requirement == .never)
        #expect(notes == ["group-required:A"])
    }

    @Test(
        arguments: [
            "required = 3", "required = \"true\"", "required = {}", "required = [true]",
            "required = { at_least_one = [] }", "required = { exactly_one = 3 }",
            "required = { at_least_one = \" \" }", "required = 2026-01-01",
        ])
    func requirementOfAnotherTypeCountsAsAbsent(_ field: String) throws {
        let (item, notes) = try readOne("description = \"a\", \(field)")
        #expect(item.requirement == .always)
        #expect(item.groups.isEmpty)
        #expect(notes.contains("bad-value:A"))
    }

    @Test func unknownRuleOfAGroupIsNoted() throws {
        let (item, notes) = try readOne(
            #"description = "a", required = { one_of = "g", at_least_one = ["h", "h"] }"#)
        #expect(item.groups == [SchemaGroup(rule: .atLeastOne, name: "h")])
        #expect(Set(notes) == ["unknown-field:A", "bad-value:A", "group-required:A"])
    }

    @Test(
        arguments: [
            "default = 3000", "default = true", "as_path = \"yes\"", "type = 1", "generate = 1",
            "composed = false",
        ])
    func otherValueOfAnotherTypeCountsAsAbsent(_ field: String) throws {
        let (item, notes) = try readOne("description = \"a\", \(field)")
        #expect(item.value == .none)
        #expect(item.requirement == .always)
        #expect(notes == ["bad-value:A"])
    }

    @Test(arguments: ["", "description = \"\"", "description = 1"])
    func missingDescriptionIsNoted(_ field: String) throws {
        #expect(try readOne(field).notes.contains("no-description:A"))
    }

    @Test func keyThatIsNoTableIsStillDeclared() throws {
        let schema = try read("[profiles.default]\nA = \"text\"\n")
        #expect(schema.items.map(\.key) == ["A"])
        #expect(schema.items.first?.requirement == .always)
        #expect(schema.notes.map(\.asInCases).contains("bad-value:A"))
    }

    @Test(
        arguments: [
            ("type = \"hex\"", "generate-noted:A"), ("generate = {}", "generate-noted:A"),
            ("generate = { length = 64 }", "generate-noted:A"), ("ref = {}", "provider-ignored"),
            ("refs = {}", "provider-ignored"), ("providers = []", "provider-ignored"),
            ("encoding = \"base64\"", "stored-form-ignored:A"),
            ("extract = {}", "stored-form-ignored:A"), ("as_path = true", "as-path:A"),
            ("prompt = true", "unknown-field:A"), ("Required = false", "unknown-field:A"),
        ])
    func fieldWithoutEffectIsNoted(_ field: String, _ note: String) throws {
        let (item, notes) = try readOne("description = \"a\", \(field)")
        #expect(notes == [note])
        #expect(item.requirement == .always)
    }

    @Test(arguments: ["generate = false", "as_path = false"])
    func fieldThatIsTurnedOffIsNotNoted(_ field: String) throws {
        #expect(try readOne("description = \"a\", \(field)").notes.isEmpty)
    }

    @Test func defaultsOfUnknownFieldsAreNoted() throws {
        let schema = try read(
            "[profiles.default.defaults]\nproviders = [\"x\"]\ncolour = 1\nrequired = 1\n")
        #expect(
            schema.notes == [
                SchemaNote(.providerIgnored, line: 5), SchemaNote(.unknownField, line: 6),
                SchemaNote(.badValue, line: 7),
            ])
        let none = try read("[profiles.default]\ndefaults = 3\n")
        #expect(none.items.isEmpty)
        #expect(none.notes == [SchemaNote(.badValue, line: 5)])
    }

    @Test(
        arguments: [
            ("A-B", 1), ("A.B", 1), ("2FA", 1), ("A B", 0), ("", 0), ("A=B", 0), ("Ä", 0),
            ("\\u0000", 0), ("A\\nB", 0),
        ])
    func nameThatIsNotPortableIsNoted(_ key: String, _ count: Int) throws {
        let schema = try read("[profiles.default]\n\"\(key)\" = { description = \"a\" }\n")
        #expect(schema.items.count == count)
        #expect(schema.notes.map(\.code) == [.keyNotPortable])
    }

    // MARK: The file

    @Test(arguments: ["\"2.0\"", "\"1\"", "1.0", "true"])
    func anotherRevisionIsNoted(_ revision: String) throws {
        let text = "[project]\nname = \"a\"\nrevision = \(revision)\n[profiles.default]\n"
        let schema = try SecretspecReader.read([UInt8](text.utf8), target: nil)
        #expect(schema.notes == [SchemaNote(.revisionUnknown, line: 3)])
    }

    @Test func missingRevisionIsNoted() throws {
        let none = try SecretspecReader.read([UInt8]("[profiles.default]\n".utf8), target: nil)
        #expect(none.notes == [SchemaNote(.revisionUnknown, line: 0)])
        let project = "[profiles.default]\n[project]\nname = \"a\"\n"
        let schema = try SecretspecReader.read([UInt8](project.utf8), target: nil)
        #expect(schema.notes == [SchemaNote(.revisionUnknown, line: 2)])
    }

    @Test func unknownTablesAreNoted() throws {
        let schema = try read("require_reason = true\ncolour = 1\n[other]\n[profiles.default]\n")
        #expect(
            schema.notes == [
                SchemaNote(.unknownField, line: 5), SchemaNote(.unknownField, line: 6),
            ])
    }

    @Test(
        arguments: [
            ("[profiles.default]\nA = {}\nA = {}\n", 6),
            ("[profiles.default]\n[profiles.default]\n", 5),
            ("[profiles.default.A]\n[profiles.default]\nA = {}\n", 6),
            ("[profiles.default]\nA = { required = true, required = true }\n", 5),
            ("[profiles.default]\nA\n", 5), ("x = \"\n", 4), ("[é]\n", 4),
        ])
    func malformedFileIsAnErrorWithItsLine(_ text: String, _ line: Int) {
        let error = error(text)
        #expect(error?.code == .syntax)
        #expect(error?.line == line)
    }

    @Test func dottedKeysAndTablesMeanTheSame() throws {
        let forms = [
            "[profiles.default.A]\ndescription = \"a\"\nrequired = false\n",
            "[profiles.default]\nA.description = \"a\"\nA.required = false\n",
            "[profiles]\ndefault.A = { description = \"a\", required = false }\n",
            "[profiles.\"default\".'A']\n\"description\" = '''a'''\nrequired = false\n",
        ]
        for form in forms {
            let schema = try read(form)
            #expect(schema.items.map(\.key) == ["A"])
            #expect(schema.items.first?.description == "a")
            #expect(schema.items.first?.requirement == .never)
            #expect(schema.notes.isEmpty)
        }
    }

    @Test func orderIsThatOfTheFile() throws {
        let keys = ["Z", "B", "Y", "A", "M10", "M2"]
        let schema = try read(
            "[profiles.default]\n"
                + keys.map { "\($0) = { description = \"a\" }\n" }.joined())
        #expect(schema.items.map(\.key) == keys)
        #expect(schema.items.map(\.line) == [5, 6, 7, 8, 9, 10])
        let inline = try read(
            "[profiles]\ndefault = { Z = { description = \"a\" }, A = { description = \"a\" } }\n")
        #expect(inline.items.map(\.key) == ["Z", "A"])
    }

    @Test func lineEndsAndByteOrderMarkMakeNoDifference() throws {
        let text = Self.project + "[profiles.default]\nA = { description = \"ä\" }\n"
        let plain = try SecretspecReader.read([UInt8](text.utf8), target: nil)
        let crlf = text.replacing("\n", with: "\r\n")
        #expect(try SecretspecReader.read([UInt8](crlf.utf8), target: nil) == plain)
        let marked = [0xEF, 0xBB, 0xBF] + [UInt8](text.utf8)
        #expect(try SecretspecReader.read(marked, target: nil) == plain)
    }

    @Test func continuedLineMayGoOnBeyondASCII() throws {
        let (item, _) = try readOne("description = \"\"\"\\\n   Җ \\\n  ünter\"\"\"")
        #expect(item.description == "Җ ünter")
    }
}
