import EnvSchema
import Foundation
import JSON
import Testing

/// The cases of all notations, with the tables for detection and environment names.
struct NotationCase: Sendable, CustomTestStringConvertible {
    let name: String
    let notation: Schema.Notation
    let target: String?
    let input: [UInt8]
    let expected: JSONValue

    var testDescription: String { name }

    static let file: JSONValue = {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Cases/env-schema-cases.json")
        guard let data = try? Data(contentsOf: url),
            let json = try? JSONValue(parsing: Array(data))
        else { return .null }
        return json
    }()

    static let all: [NotationCase] = (file["cases"]?.array ?? []).compactMap { entry in
        guard let name = entry["name"]?.string, let input = entry["input"]?.string,
            let notation = entry["source"]?.string.flatMap(Schema.Notation.init),
            let expected = entry["expected"]
        else { return nil }
        let target = entry["target"]?.string
        return NotationCase(
            name: name, notation: notation, target: target == "default" ? nil : target,
            input: Array(input.utf8), expected: expected)
    }
}

extension SchemaNote {
    /// As the cases write it.
    var inCases: String {
        guard let name = key ?? decorator.map({ "@" + $0 }) else { return code.rawValue }
        return code.rawValue + ":" + name
    }
}

/// Reads an env-spec text without imports.
func readSpec(_ text: String, _ imports: any SchemaImports = NoSchemaImports()) throws(SchemaError)
    -> Schema
{
    try SchemaReader.read(
        Array(text.utf8), notation: .envSpec, fileName: ".env.schema", imports: imports)
}

func readPlain(_ text: String) throws(SchemaError) -> Schema {
    try SchemaReader.read(Array(text.utf8), notation: .plain, fileName: ".env.example")
}

/// Returns why a text is refused, or nil.
func schemaError(_ body: () throws(SchemaError) -> Schema) -> SchemaError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}
