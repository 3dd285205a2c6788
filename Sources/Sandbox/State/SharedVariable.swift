internal import JSON

/// A variable of a team, used by its linked projects.
struct SharedVariable: Codable, Sendable {
    var id: String
    var ownerId: String
    var key: String
    var value: String
    var type: VariableType
    var targets: [Target]
    var projectIds: [String]
    var appliesToCustomEnvironments: Bool
    var comment: String?
    var createdAt: Int64
    var updatedAt: Int64
    var createdBy: String
    var updatedBy: String

    /// Returns whether both cannot coexist: same key, and a common target and project.
    func conflicts(with other: SharedVariable) -> Bool {
        key == other.key && ownerId == other.ownerId
            && (targets.contains(where: other.targets.contains)
                || (appliesToCustomEnvironments && other.appliesToCustomEnvironments))
            && (projectIds.isEmpty || other.projectIds.isEmpty
                || projectIds.contains(where: other.projectIds.contains))
    }

    /// Returns the record; only requests by id include the clear value.
    func json(decrypted: Bool) -> JSONValue {
        let readable = decrypted && type != .sensitive
        let shown: JSONValue? =
            if readable {
                .string(value)
            } else if type == .sensitive {
                nil
            } else {
                .string(Ciphertext.text(for: value, salt: "\(id)\(updatedAt)"))
            }
        return .members([
            "id": .string(id), "ownerId": .string(ownerId), "key": .string(key), "value": shown,
            "type": .string(type.rawValue), "target": .strings(targets.map(\.rawValue)),
            "projectId": .strings(projectIds), "decrypted": .bool(readable),
            "applyToAllCustomEnvironments": .bool(appliesToCustomEnvironments),
            "comment": .string(comment ?? ""), "created": .string(Timestamp.text(createdAt)),
            "createdAt": .integer(createdAt), "updatedAt": .integer(updatedAt),
            "createdBy": .string(createdBy), "updatedBy": .string(updatedBy),
        ])
    }
}
