import EnvSchema
import JSON
import Testing

@Suite struct NotationCasesTests {
    @Test func allAreThere() {
        let count = Dictionary(grouping: NotationCase.all, by: \.notation).mapValues(\.count)
        #expect(count == [.envSpec: 119, .plain: 24, .secretspec: 19])
    }

    @Test(arguments: NotationCase.all)
    func isReadAsExpected(_ example: NotationCase) throws {
        let result = Result { () throws(SchemaError) -> Schema in
            try SchemaReader.read(
                example.input, notation: example.notation, fileName: "schema",
                target: example.target)
        }
        let json = Schema.json(of: result)
        if let error = example.expected["error"] {
            #expect(json["error"]?["code"] == error["code"])
            if let line = error["line"] { #expect(json["error"]?["line"] == line) }
            return
        }
        let schema = try result.get()
        #expect(
            Set(schema.notes.map(\.inCases))
                == Set(example.expected["notes"]?.array?.compactMap(\.string) ?? []))
        #expect(json["envKey"] == example.expected["envKey"])
        #expect(json["profile"] == example.expected["profile"])
        let items = json["items"]?.array ?? []
        let expected = example.expected["items"]?.array ?? []
        #expect(items.map { $0["key"] } == expected.map { $0["key"] })
        for (item, expected) in zip(items, expected) {
            #expect(canonical(item) == canonical(expected))
        }
    }

    /// The value with the members of objects in one order.
    private func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                members.sorted { $0.name < $1.name }
                    .map { JSONValue.Member($0.name, canonical($0.value)) })
        case .array(let elements): .array(elements.map(canonical))
        default: value
        }
    }

    @Test func notationIsDetected() throws {
        let table = try #require(NotationCase.file["detect"]?.array)
        #expect(table.count == 12)
        for entry in table {
            let text = try #require(entry["input"]?.string)
            let name = try #require(entry["fileName"]?.string)
            let notation = SchemaReader.notation(of: Array(text.utf8), fileName: name)
            #expect(notation.rawValue == entry["source"]?.string, "\(text)")
        }
    }

    /// Files of each notation are recognized as what they are, if anything in them tells it.
    @Test func casesAreDetected() {
        for example in NotationCase.all where example.notation == .plain {
            let notation = SchemaReader.notation(of: example.input, fileName: ".env.example")
            #expect(notation == .plain, "\(example.name)")
        }
    }

    @Test func environmentNamesStandForTargets() throws {
        let table = try #require(NotationCase.file["targets"]?.array)
        #expect(table.count == 16)
        for entry in table {
            let name = try #require(entry["envName"]?.string)
            let custom = entry["customEnvironments"]?.array?.compactMap(\.string) ?? []
            let target = EnvironmentMapping(customEnvironments: custom).target(of: name)
            #expect(target == entry["target"]?.string, "\(name)")
        }
    }

    @Test func requirementsHoldByTarget() throws {
        let table = try #require(NotationCase.file["requiredFor"]?.array)
        #expect(table.count == 8)
        for entry in table {
            let requirement: SchemaRequirement =
                if let names = entry["required"]?["forEnv"]?.array {
                    .environments(names.compactMap(\.string))
                } else if let names = entry["required"]?["notForEnv"]?.array {
                    .exceptEnvironments(names.compactMap(\.string))
                } else {
                    entry["required"]?.bool == true ? .always : .never
                }
            let target = try #require(entry["target"]?.string)
            let isRequired = EnvironmentMapping().holds(requirement, for: target)
            #expect(isRequired == entry["is"]?.bool, "\(entry)")
        }
    }
}
