import EnvSchema
import Glibc
import JSON
import Testing

/// Reads the shared cases.
enum SchemaCases {
    struct Unreadable: Error {}

    static func read(_ name: String) throws -> [JSONValue] {
        let path = #filePath
        let folder = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
        let bytes = try contents("\(folder)/Cases/env-schema-cases.json")
        guard case .array(let cases)? = try JSONValue(parsing: bytes)[name] else {
            throw Unreadable()
        }
        return cases
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path, "r") else { throw Unreadable() }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = unsafe fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// The type that a case describes with a name and options.
    static func type(of value: JSONValue, options key: String = "options") -> ValueType? {
        guard let name = value["type"]?.text.flatMap(ValueType.Name.init) else { return nil }
        var type = ValueType(name)
        if case .object(let members)? = value[key] {
            for member in members { type.options[member.name] = option(member.value) }
        }
        return type
    }

    private static func option(_ value: JSONValue) -> OptionValue? {
        switch value {
        case .bool(let flag): .flag(flag)
        case .integer(let number): .number("\(number)")
        case .number(let number): .number("\(number)")
        case .string(let text): .text(text)
        case .array(let values): .list(values.compactMap(\.text))
        case .object: type(of: value, options: "typeOptions").map { .type($0) }
        case .null: nil
        }
    }
}

extension JSONValue {
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
