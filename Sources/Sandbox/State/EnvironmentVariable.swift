internal import JSON

/// A variable's environment among the three fixed ones.
enum Target: String, Codable, Sendable, CaseIterable {
    case production, preview, development
}

/// How a variable is kept.
enum VariableType: String, Codable, Sendable {
    case system, encrypted, plain, sensitive
}

/// One record of a project's environment variables.
struct EnvironmentVariable: Codable, Sendable {
    var id: String
    var projectId: String
    var key: String
    var value: String
    var type: VariableType
    var targets: [Target]
    var customEnvironmentIds: [String]
    var gitBranch: String?
    var comment: String?
    var createdAt: Int64
    var updatedAt: Int64
    var createdBy: String?
    var updatedBy: String?

    /// True if both may not stand beside each other: same key and branch, and an environment shared.
    func conflicts(with other: EnvironmentVariable) -> Bool {
        key == other.key && gitBranch == other.gitBranch
            && (targets.contains(where: other.targets.contains)
                || customEnvironmentIds.contains(where: other.customEnvironmentIds.contains))
    }

    /// True if both are the same record for an upsert: same key, branch and exact environments.
    func hasSameScope(as other: EnvironmentVariable) -> Bool {
        key == other.key && gitBranch == other.gitBranch
            && Set(targets) == Set(other.targets)
            && Set(customEnvironmentIds) == Set(other.customEnvironmentIds)
    }

    /// The record as lists and writes show it: ciphertext for encrypted values, nothing for
    /// sensitive ones.
    var json: JSONValue {
        var members = metadata
        switch type {
        case .plain, .system: members["value"] = .string(value)
        case .encrypted:
            members["value"] = .string(
                Ciphertext.text(for: value, salt: "\(id)\(updatedAt)"))
            members["decrypted"] = false
        case .sensitive: members["value"] = ""
        }
        return .members(members)
    }

    /// The record as asked for by its id: with its value, unless it is sensitive.
    var decryptedJSON: JSONValue {
        var members = metadata
        members["decrypted"] = .bool(type != .sensitive)
        if type != .sensitive { members["value"] = .string(value) }
        return .members(members)
    }

    private var metadata: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "id": .string(id), "key": .string(key), "type": .string(type.rawValue),
            "configurationId": nil, "createdAt": .integer(createdAt),
            "updatedAt": .integer(updatedAt), "createdBy": JSONValue(createdBy),
            "updatedBy": JSONValue(updatedBy),
        ]
        // A record of custom environments alone has no target list at all.
        if !targets.isEmpty || customEnvironmentIds.isEmpty {
            members["target"] = JSONValue(targets.map(\.rawValue))
        }
        if !customEnvironmentIds.isEmpty {
            members["customEnvironmentIds"] = JSONValue(customEnvironmentIds)
        }
        members["gitBranch"] = gitBranch.map(JSONValue.string)
        members["comment"] = comment.map(JSONValue.string)
        return members
    }
}
