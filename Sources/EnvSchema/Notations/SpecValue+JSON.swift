internal import JSON

extension SpecValue {
    /// The text that a list stands for: its elements with commas, or JSON if that would not keep
    /// them apart.
    var listText: String {
        guard case .list(let values) = self else { return "" }
        let texts = values.compactMap(\.literal?.resolved)
        guard texts.count == values.count,
            texts.allSatisfy({ !$0.utf8.contains(UInt8(ascii: ",")) })
        else { return json.encodedText }
        return texts.joined(separator: ",")
    }

    var jsonText: String { json.encodedText }

    /// The literal as the other tool would write it to a variable. Nested at most as deeply as
    /// ``SpecScanner/maximumDepth``.
    var json: JSONValue {
        switch self {
        case .text(let text):
            switch text.form {
            case .flag(let flag): .bool(flag)
            case .undefined: .null
            case .text: .string(text.resolved)
            case .number: .plainNumber(text.content)
            }
        case .list(let values): .array(values.map(\.json))
        case .object(let members):
            .object(
                members.map { JSONValue.Member($0.name ?? "", $0.value.json) }
                    .filter { $0.value != .null })
        case .call: .null
        }
    }
}
