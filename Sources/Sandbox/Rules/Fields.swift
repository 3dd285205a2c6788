internal import JSON

/// The members of a JSON object in a request, validated with the API's messages.
struct Fields {
    let members: [String: JSONValue]

    /// Throws 400 unless `value` is an object.
    init(_ value: JSONValue) throws(APIError) {
        guard let members = value.object else {
            throw .badRequest("Invalid request: the body should be object.")
        }
        self.members = members
    }

    /// Throws for members with other names.
    func allow(only names: Set<String>) throws(APIError) {
        if let other = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw .badRequest("Invalid request: should NOT have additional property `\(other)`.")
        }
    }

    /// Returns whether the member is present, even if null.
    func has(_ name: String) -> Bool { members[name] != nil }

    private func fail(_ name: String, _ kind: String) -> APIError {
        .badRequest("Invalid request: `\(name)` should be \(kind).")
    }

    /// Returns a string; `nil` if absent or null.
    func string(_ name: String, maximum: Int? = nil) throws(APIError) -> String? {
        guard let value = members[name], value != .null else { return nil }
        guard let text = value.string else { throw fail(name, "string") }
        if let maximum, text.unicodeScalars.count > maximum {
            throw .badRequest(
                "Invalid request: `\(name)` should NOT be longer than \(maximum) characters.")
        }
        return text
    }

    /// Returns a string that must be present.
    func requiredString(_ name: String) throws(APIError) -> String {
        guard has(name) else {
            throw .badRequest("Invalid request: missing required property `\(name)`.")
        }
        guard let text = try string(name) else { throw fail(name, "string") }
        return text
    }

    /// Returns an array of strings; `nil` if absent.
    func strings(_ name: String) throws(APIError) -> [String]? {
        guard let value = members[name], value != .null else { return nil }
        guard let elements = value.array else { throw fail(name, "array") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw fail(name, "array of strings") }
        return texts
    }

    /// Returns an integer; `nil` if absent or null.
    func integer(_ name: String) throws(APIError) -> Int64? {
        guard let value = members[name], value != .null else { return nil }
        guard let number = value.integer else { throw fail(name, "number") }
        return number
    }

    /// Returns a Boolean; `nil` if absent or null.
    func bool(_ name: String) throws(APIError) -> Bool? {
        guard let value = members[name], value != .null else { return nil }
        guard let flag = value.bool else { throw fail(name, "boolean") }
        return flag
    }

    /// Returns an object; `nil` if absent or null.
    func object(_ name: String) throws(APIError) -> Fields? {
        guard let value = members[name], value != .null else { return nil }
        guard value.object != nil else { throw fail(name, "object") }
        return try Fields(value)
    }

    /// Returns an object of strings; `nil` if absent or null.
    func texts(_ name: String) throws(APIError) -> [String: String]? {
        guard let object = try object(name)?.members else { return nil }
        let texts = object.compactMapValues(\.string)
        guard texts.count == object.count else { throw fail(name, "object of strings") }
        return texts
    }

    /// Returns a policy for sensitive variables; `nil` if absent or null.
    func policy(_ name: String) throws(APIError) -> Team.SensitivePolicy? {
        guard let word = try string(name) else { return nil }
        guard let policy = Team.SensitivePolicy(rawValue: word) else {
            throw fail(name, "one of default, on, off")
        }
        return policy
    }

    /// Returns the member `disjunctiveProductionSecretPolicy`; `nil` if absent or null.
    func disjunctivePolicy() throws(APIError) -> Team.DisjunctivePolicy? {
        let name = "disjunctiveProductionSecretPolicy"
        guard let word = try string(name) else { return nil }
        guard let policy = Team.DisjunctivePolicy(rawValue: word) else {
            throw fail(name, "one of default, off, on")
        }
        return policy
    }

    /// Returns an array of targets; `nil` if absent.
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
