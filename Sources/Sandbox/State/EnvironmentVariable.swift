internal import JSON

enum Target: String, Codable, Sendable, CaseIterable {
    case production, preview, development
}

enum VariableType: String, Codable, Sendable {
    case system, encrypted, plain, sensitive
}

/// An environment variable of a project.
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
    /// `config` or `secret`, which decides beside the type whether the value can be read; nil for
    /// records from before July 2026.
    var visibility: String?
    /// The member `contentHint`'s type, for a variable that an integration put there.
    var integration: String?

    /// Whether it counts as a Secret, whose value the API never shows.
    var isSecret: Bool { type == .sensitive || visibility == "secret" }

    /// Whether the API decrypts the value: a user's token cannot open what an integration stored.
    var isReadable: Bool { !isSecret && integration == nil }

    var isInProduction: Bool { targets.contains(.production) }

    /// Returns whether both cannot coexist: same key and branch, and a common environment.
    func conflicts(with other: EnvironmentVariable) -> Bool {
        key == other.key && gitBranch == other.gitBranch
            && (targets.contains(where: other.targets.contains)
                || customEnvironmentIds.contains(where: other.customEnvironmentIds.contains))
    }

    /// Returns whether both are the same record for an upsert: same key, branch and environments.
    func hasSameScope(as other: EnvironmentVariable) -> Bool {
        key == other.key && gitBranch == other.gitBranch
            && Set(targets) == Set(other.targets)
            && Set(customEnvironmentIds) == Set(other.customEnvironmentIds)
    }

    /// The form of lists and writes: ciphertext for encrypted values, no value for sensitive ones.
    var json: JSONValue {
        var members = metadata
        switch type {
        case _ where isSecret: members["value"] = ""
        case .plain, .system: members["value"] = .string(value)
        case .encrypted:
            members["value"] = .string(
                Ciphertext.text(for: value, salt: "\(id)\(updatedAt)"))
            members["decrypted"] = false
        case .sensitive: members["value"] = ""
        }
        return .members(members)
    }

    /// The form of a request by id: with its value, unless it is sensitive.
    var decryptedJSON: JSONValue {
        var members = metadata
        members["decrypted"] = .bool(isReadable)
        if isReadable { members["value"] = .string(value) }
        return .members(members)
    }

    private var metadata: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "id": .string(id), "key": .string(key), "type": .string(type.rawValue),
            "configurationId": nil, "createdAt": .integer(createdAt),
            "updatedAt": .integer(updatedAt), "createdBy": .string(orNull: createdBy),
            "updatedBy": .string(orNull: updatedBy),
        ]
        // A record with only custom environments has no target list.
        if !targets.isEmpty || customEnvironmentIds.isEmpty {
            members["target"] = .strings(targets.map(\.rawValue))
        }
        if !customEnvironmentIds.isEmpty {
            members["customEnvironmentIds"] = .strings(customEnvironmentIds)
        }
        members["gitBranch"] = gitBranch.map(JSONValue.string)
        members["comment"] = comment.map(JSONValue.string)
        members["visibility"] = visibility.map(JSONValue.string)
        members["contentHint"] = integration.map {
            ["type": .string($0), "storeId": "store_sandbox"]
        }
        return members
    }
}
