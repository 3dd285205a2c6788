import JSON
import Testing

@testable import EnvSchema

@Suite struct SecretspecCasesTests {
    @Test func allAreThere() {
        #expect(SecretspecCase.all.count == 19)
    }

    @Test(arguments: SecretspecCase.all)
    func isReadAsExpected(_ example: SecretspecCase) throws {
        if let code = example.expected["error"]?["code"]?.string {
            let error = #expect(throws: SchemaError.self) { _ = try example.read() }
            #expect(error?.code.rawValue == code)
            return
        }
        let schema = try example.read()
        #expect(schema.notation == .secretspec)
        #expect(schema.profile == example.expected["profile"]?.string)
        let notes = example.expected["notes"]?.array?.compactMap(\.string) ?? []
        #expect(Set(schema.notes.map(\.asInCases)) == Set(notes))
        let expected = example.expected["items"]?.array ?? []
        #expect(schema.items.map(\.key) == expected.compactMap { $0["key"]?.string })
        for (item, expected) in zip(schema.items, expected) { check(item, expected) }
    }

    private func check(_ item: SchemaItem, _ expected: JSONValue) {
        let requirement: SchemaRequirement = expected["required"]?.bool == true ? .always : .never
        #expect(item.requirement == requirement)
        #expect(item.isSensitive == expected["sensitive"]?.bool)
        #expect(item.sensitivitySource == nil)
        #expect(item.type == nil)
        #expect(item.description == expected["description"]?.string)
        let value: DeclaredValue =
            if let text = expected["default"]?.string {
                .default(text)
            } else if let name = expected["function"]?.string {
                .function(name)
            } else {
                .none
            }
        #expect(item.value == value)
        let groups =
            names(expected["groups"]?["atLeastOne"], .atLeastOne)
            + names(expected["groups"]?["exactlyOne"], .exactlyOne)
        #expect(item.groups == groups)
        let known: Set<String> = [
            "key", "required", "sensitive", "type", "description", "default", "function", "groups",
        ]
        #expect(Set((expected.object ?? [:]).keys).isSubset(of: known))
    }

    private func names(_ value: JSONValue?, _ rule: SchemaGroup.Rule) -> [SchemaGroup] {
        (value?.array ?? []).compactMap(\.string).map { SchemaGroup(rule: rule, name: $0) }
    }
}
