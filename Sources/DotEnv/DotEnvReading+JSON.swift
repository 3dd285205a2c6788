internal import JSON

extension DotEnvReading {
    /// Reads one JSON object whose values are strings, numbers, `true` or `false`. A number or word is
    /// the text that stands there.
    mutating func scanJSON() throws(DotEnvError) {
        let text = text
        do {
            try unsafe text.withBytes(0..<text.count) { bytes in
                let source = unsafe bytes.bytes
                do {
                    try JSONTree.read(source) { try addMembers(of: $0) }
                } catch is JSONError {
                    throw text.failure(
                        .refused, "not valid JSON, or nested too deeply",
                        at: JSONTree.offsetOfFailure(in: source))
                }
            }
        } catch {
            throw error as? DotEnvError ?? DotEnvError(.refused, "not valid JSON")
        }
    }

    private mutating func addMembers(of tree: JSONTree) throws {
        guard tree.kind(0) == .object else {
            throw text.failure(
                .refused, "not a JSON object of names and values", at: tree.range(of: 0).lowerBound)
        }
        try tree.forEachMember(of: 0) { name, value in
            let (key, range) = (tree.range(of: name), tree.range(of: value))
            var statement = Statement(
                key: key, keyEncoding: .quoted, value: range,
                extent: key.lowerBound - 1..<range.upperBound)
            guard tree.isWhole(name) else {
                throw text.failure(.refused, "not a valid variable name", at: key.lowerBound)
            }
            switch tree.kind(value) {
            case .text, .escapedText:
                statement.encoding = .quoted
                statement.extent = key.lowerBound - 1..<range.upperBound + 1
                guard tree.isWhole(value) else {
                    throw refusal("the value has a NUL or half of a surrogate pair", statement)
                }
            case .number, .yes, .no: break
            case .null:
                throw refusal("the value is null", statement)
            case .object, .array:
                throw refusal("nested values cannot be read", statement)
            }
            try addMember(statement)
            return true
        }
    }

    /// Returns an error about the value of a member.
    private func refusal(_ reason: String, _ statement: Statement) -> DotEnvError {
        let name = text.name(statement.key, statement.keyEncoding)
        return text.failure(
            .refused, reason, at: statement.value.lowerBound,
            key: name.isVariableName ? name : nil)
    }
}

extension JSONTree {
    /// Returns whether a string is Unicode text without NUL.
    fileprivate func isWhole(_ index: Int) -> Bool {
        var hasNUL = false
        return forEachByte(ofText: index) { if $0 == 0 { hasNUL = true } } && !hasNUL
    }
}
