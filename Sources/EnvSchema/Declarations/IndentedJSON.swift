internal import JSON

/// JSON for people and version control: one member a line.
enum IndentedJSON {
    static func text(_ value: JSONValue) -> String {
        var text = ""
        write(value, "", to: &text)
        return text + "\n"
    }

    private static func write(_ value: JSONValue, _ indentation: String, to text: inout String) {
        let inner = indentation + "  "
        switch value {
        case .object(let members) where !members.isEmpty:
            text += "{"
            for (index, member) in members.enumerated() {
                text += (index == 0 ? "\n" : ",\n") + inner
                text += JSONValue.string(member.name).encodedText + ": "
                write(member.value, inner, to: &text)
            }
            text += "\n\(indentation)}"
        case .array(let elements) where !elements.isEmpty:
            text += "["
            for (index, element) in elements.enumerated() {
                text += (index == 0 ? "\n" : ",\n") + inner
                write(element, inner, to: &text)
            }
            text += "\n\(indentation)]"
        default: text += value.encodedText
        }
    }
}
