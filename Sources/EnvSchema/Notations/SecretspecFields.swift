/// A value of another type than its field has is noted and has no effect.
extension SecretspecReading {
    mutating func flag(_ node: Int, _ key: String?) -> Bool? {
        if case .flag(let value) = document.kind(node) { return value }
        note(.badValue, key: key, line: document.line(node))
        return nil
    }

    mutating func string(_ node: Int, _ key: String?) -> String? {
        if let text = document.string(node) { return text }
        note(.badValue, key: key, line: document.line(node))
        return nil
    }

    /// Reads what one profile says of one key.
    mutating func entry(_ node: Int) -> SecretspecEntry {
        let key = document.key(node)
        var entry = SecretspecEntry(line: document.line(node), place: node)
        // `KEY = "text"` still says that there is such a key.
        guard document.isTable(node) else {
            note(.badValue, key: key, line: entry.line)
            return entry
        }
        for field in document.children(node) {
            let line = document.line(field)
            switch document.key(field) {
            case "description": entry.description = string(field, key)
            case "required": entry.required = requirement(field, key)
            case "default": entry.defaultValue = string(field, key)
            case "composed": entry.isComposed = string(field, key) != nil
            case "providers", "ref", "refs": noteProvider(field)
            case "as_path":
                entry.isPath = flag(field, key).map { .init(value: $0, line: line) }
            case "encoding", "extract": entry.storedForm = .init(value: (), line: line)
            case "type":
                entry.generatedType = string(field, key).map { .init(value: $0, line: line) }
            case "generate":
                // Options stand for true.
                entry.generates =
                    document.isTable(field)
                    ? .init(value: true, line: line)
                    : flag(field, key).map { .init(value: $0, line: line) }
            default: note(.unknownField, key: key, line: line)
            }
        }
        return entry
    }

    private mutating func requirement(
        _ node: Int, _ key: String
    ) -> SecretspecEntry.Requirement? {
        guard document.isTable(node) else { return flag(node, key).map { .flag($0) } }
        var groups: [SchemaGroup] = []
        for field in document.children(node) {
            switch document.key(field) {
            case "at_least_one": addGroups(.atLeastOne, field, key, to: &groups)
            case "exactly_one": addGroups(.exactlyOne, field, key, to: &groups)
            default: note(.unknownField, key: key, line: document.line(field))
            }
        }
        guard groups.isEmpty else { return .groups(groups) }
        // A member of no group would be required nowhere by mistake.
        note(.badValue, key: key, line: document.line(node))
        return nil
    }

    /// Reads the name of a group, or a list of them.
    private mutating func addGroups(
        _ rule: SchemaGroup.Rule, _ node: Int, _ key: String, to groups: inout [SchemaGroup]
    ) {
        var seen = Set(groups)
        let names: [Int] =
            if case .array = document.kind(node) { document.children(node) } else { [node] }
        for node in names {
            guard let name = string(node, key) else { continue }
            let group = SchemaGroup(rule: rule, name: name)
            guard !name.allSatisfy(\.isWhitespace), seen.insert(group).inserted else {
                note(.badValue, key: key, line: document.line(node))
                continue
            }
            groups.append(group)
        }
    }
}
