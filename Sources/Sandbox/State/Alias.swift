internal import JSON

/// A host name that leads to a deployment.
struct Alias: Codable, Sendable {
    var id: String
    var host: String
    var projectId: String
    var deploymentId: String
    var createdAt: Int64

    var json: JSONValue {
        [
            "uid": .string(id), "alias": .string(host),
            "created": .string(Timestamp.text(createdAt)), "redirect": nil,
        ]
    }
}
