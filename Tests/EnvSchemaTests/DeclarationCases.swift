import Foundation
import JSON

@testable import EnvSchema

/// The items of a case of the shared file, as it expects them.
struct DeclarationCase: Sendable {
    let name: String
    let items: [SchemaItem]

    static let all: [DeclarationCase] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Cases/env-schema-cases.json")
        guard let data = try? Data(contentsOf: file),
            let cases = try? JSONValue(parsing: [UInt8](data))["cases"]?.array
        else { return [] }
        return cases.compactMap { value in
            guard let name = value["name"]?.string,
                let items = value["expected"]?["items"]?.array
            else { return nil }
            return DeclarationCase(name: name, items: items.compactMap(item))
        }
    }()

    /// The values of the shared file that belong to a type: whether each fits as it is.
    static let values: [(type: ValueType, text: String, fits: Bool)] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Cases/env-schema-cases.json")
        guard let data = try? Data(contentsOf: file),
            let values = try? JSONValue(parsing: [UInt8](data))["values"]?.array
        else { return [] }
        return values.compactMap { value in
            guard let text = value["value"]?.string, let valid = value["valid"]?.bool,
                let type = type(value["type"], value["options"])
            else { return nil }
            return (type, text, valid && value["note"] == nil)
        }
    }()

    private static func item(_ value: JSONValue) -> SchemaItem? {
        guard let key = value["key"]?.string else { return nil }
        var item = SchemaItem(key: key, line: 1)
        item.requirement = value["required"]?.bool == true ? .always : .never
        item.isSensitive = value["sensitive"]?.bool
        item.type = type(value["type"], value["typeOptions"])
        item.typeIsInferred = value["typeInferred"]?.bool ?? false
        if let text = value["default"]?.string { item.value = .default(text) }
        if let text = value["placeholder"]?.string { item.value = .placeholder(text) }
        item.description = value["description"]?.string
        item.example = value["example"]?.string
        item.documentation = (value["docs"]?.array ?? []).compactMap { link in
            link["url"]?.string.map { SchemaLink(url: $0, text: link["text"]?.string) }
        }
        if let deprecated = value["deprecated"] {
            item.deprecation = SchemaDeprecation(advice: deprecated.string)
        }
        return item
    }

    private static func type(_ name: JSONValue?, _ options: JSONValue?) -> ValueType? {
        guard let name = name?.string.flatMap(ValueType.Name.init) else { return nil }
        return ValueType(name, options: (options?.object ?? [:]).compactMapValues(option))
    }

    private static func option(_ value: JSONValue) -> OptionValue? {
        switch value {
        case .bool(let flag): .flag(flag)
        case .integer(let number): .number("\(number)")
        case .number(let number): .number("\(number)")
        case .string(let text): .text(text)
        case .array(let values): .list(values.compactMap(\.string))
        case .object: type(value["type"], value["typeOptions"]).map { .type($0) }
        case .null: nil
        }
    }
}

extension SchemaItem {
    /// Items with everything that a hostile schema can write where text is allowed.
    static let hostile: [SchemaItem] = {
        let texts = [
            "*/ declare const x: never; /*", "**/", "a\r\nb\u{2028}c\u{2029}d\u{85}e\u{0}f",
            "\u{202E}reversed\u{2066}", "@deprecated not so", "@\u{301}", "\"; }", "\\", "`${x}`",
            "\u{1B}[31m", "*\n/", "*\u{200E}/", "</script>", "{@link x}", "//", "é🔑", "", "\n\n",
            "\u{D7FF}\u{E000}\u{10FFFF}",
        ]
        var items = texts.enumerated().map { index, text in
            var item = SchemaItem(key: "HOSTILE_\(index)", line: 1, isSensitive: false)
            item.type = ValueType(.enum, options: ["values": .list([text, text, "x"])])
            item.value = .default(text)
            item.description = text
            item.example = text
            item.documentation = [SchemaLink(url: text, text: text), SchemaLink(url: text)]
            item.deprecation = SchemaDeprecation(advice: text)
            return item
        }
        items += texts.map { text in
            var item = SchemaItem(key: text, line: 1, isSensitive: true)
            item.type = ValueType(
                .string,
                options: [
                    "startsWith": .text(text), "endsWith": .text(text), "matches": .text(text),
                    "minLength": .number(text), "maxLength": .number("-1"),
                ])
            return item
        }
        let keys = [
            "a-b", "a.b", "2FA", "class", "constructor", "__proto__", "readonly", "TZ", "new",
        ]
        items += keys.map { SchemaItem(key: $0, line: 1, requirement: .always) }
        return items
    }()
}
