internal import JSON

/// The members of a JSON object in a request, read with the API's complaints.
struct Fields {
    let members: [String: JSONValue]

    /// The object's members, or a 400 for anything else.
    init(_ value: JSONValue) throws(APIError) {
        guard let members = value.object else {
            throw .badRequest("Invalid request: the body should be object.")
        }
        self.members = members
    }

    /// Refuses members of other names.
    func allow(only names: Set<String>) throws(APIError) {
        if let other = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw .badRequest("Invalid request: should NOT have additional property `\(other)`.")
        }
    }

    /// True if the member is there, be it null.
    func has(_ name: String) -> Bool { members[name] != nil }

    private func fail(_ name: String, _ kind: String) -> APIError {
        .badRequest("Invalid request: `\(name)` should be \(kind).")
    }

    /// A text; `nil` when missing or null.
    func string(_ name: String, maximum: Int? = nil) throws(APIError) -> String? {
        guard let value = members[name], value != .null else { return nil }
        guard let text = value.string else { throw fail(name, "string") }
        if let maximum, text.unicodeScalars.count > maximum {
            throw .badRequest(
                "Invalid request: `\(name)` should NOT be longer than \(maximum) characters.")
        }
        return text
    }

    /// A text that must be there.
    func requiredString(_ name: String) throws(APIError) -> String {
        guard has(name) else {
            throw .badRequest("Invalid request: missing required property `\(name)`.")
        }
        guard let text = try string(name) else { throw fail(name, "string") }
        return text
    }

    /// A list of texts; `nil` when missing.
    func strings(_ name: String) throws(APIError) -> [String]? {
        guard let value = members[name], value != .null else { return nil }
        guard let elements = value.array else { throw fail(name, "array") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw fail(name, "array of strings") }
        return texts
    }

    /// A whole number; `nil` when missing or null.
    func integer(_ name: String) throws(APIError) -> Int64? {
        guard let value = members[name], value != .null else { return nil }
        guard let number = value.integer else { throw fail(name, "number") }
        return number
    }

    /// A truth value; `nil` when missing or null.
    func bool(_ name: String) throws(APIError) -> Bool? {
        guard let value = members[name], value != .null else { return nil }
        guard let flag = value.bool else { throw fail(name, "boolean") }
        return flag
    }

    /// An object; `nil` when missing or null.
    func object(_ name: String) throws(APIError) -> Fields? {
        guard let value = members[name], value != .null else { return nil }
        guard value.object != nil else { throw fail(name, "object") }
        return try Fields(value)
    }

    /// An object of texts; `nil` when missing or null.
    func texts(_ name: String) throws(APIError) -> [String: String]? {
        guard let object = try object(name)?.members else { return nil }
        let texts = object.compactMapValues(\.string)
        guard texts.count == object.count else { throw fail(name, "object of strings") }
        return texts
    }

    /// A policy for encrypted variables; `nil` when missing or null.
    func policy(_ name: String) throws(APIError) -> Team.SensitivePolicy? {
        guard let word = try string(name) else { return nil }
        guard let policy = Team.SensitivePolicy(rawValue: word) else {
            throw fail(name, "one of default, on, off")
        }
        return policy
    }

    /// A list of fixed targets; `nil` when missing.
    func targets(_ name: String) throws(APIError) -> [Target]? {
        guard let words = try strings(name) else { return nil }
        let targets = words.compactMap(Target.init(rawValue:))
        guard targets.count == words.count else {
            throw fail(name, "one of production, preview, development")
        }
        guard Set(targets).count == targets.count else {
            throw .badRequest("Invalid request: `\(name)` should NOT have duplicate items.")
        }
        return targets
    }
}
