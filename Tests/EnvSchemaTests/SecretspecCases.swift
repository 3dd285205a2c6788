import EnvSchema
import Foundation
import JSON
import Testing

/// One of the secretspec cases of the shared file.
struct SecretspecCase: Sendable, CustomTestStringConvertible {
    let name: String
    let target: String?
    let input: String
    let expected: JSONValue

    var testDescription: String { name }

    static let all: [SecretspecCase] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Cases/env-schema-cases.json")
        guard let data = try? Data(contentsOf: file),
            let cases = try? JSONValue(parsing: [UInt8](data))["cases"]?.array
        else { return [] }
        return cases.compactMap { value in
            guard value["source"]?.string == "secretspec", let name = value["name"]?.string,
                let target = value["target"]?.string, let input = value["input"]?.string,
                let expected = value["expected"]
            else { return nil }
            return SecretspecCase(
                name: name, target: target == "default" ? nil : target, input: input,
                expected: expected)
        }
    }()

    func read() throws -> Schema { try SecretspecReader.read([UInt8](input.utf8), target: target) }
}

extension SchemaNote {
    /// As the cases write it: the code, and what it is about.
    var asInCases: String {
        code.rawValue + (key.map { ":\($0)" } ?? decorator.map { ":@\($0)" } ?? "")
    }
}
