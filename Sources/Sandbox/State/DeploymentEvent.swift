internal import JSON

/// A line of a deployment's build log.
struct DeploymentEvent: Codable, Sendable {
    enum Kind: String, Codable, Sendable {
        case delimiter, command, stdout, stderr, exit
        case deploymentState = "deployment-state"
        case aliasAssigned = "alias-assigned"
    }

    var id: String
    /// Increases within the deployment; of fixed width so that texts sort like numbers.
    var serial: String
    /// Milliseconds since 1970.
    var date: Int64
    var kind: Kind
    var text: String
    var isWarning: Bool = false
    /// The build step that a delimiter starts.
    var step: String?
    var state: ReadyState?
    /// The exit code of a command's end.
    var statusCode: Int64?

    /// Returns one of the API's forms: nested for output, flat for state changes, and a special one
    /// for the end of alias assignment.
    func json(deployment: Deployment, hosts: [String]) -> JSONValue {
        switch kind {
        case .delimiter, .command, .stdout, .stderr, .exit: nested(deployment)
        case .deploymentState: flat(deployment)
        case .aliasAssigned:
            [
                "type": .string(kind.rawValue), "deploymentId": .string(deployment.id),
                "date": .integer(date), "created": .integer(date), "alias": .strings(hosts),
                "aliasError": deployment.aliasError?.json ?? .null, "aliasWarning": nil,
            ]
        }
    }

    private func info(_ deployment: Deployment) -> JSONValue {
        .members([
            "type": "build", "name": .string("bld_\(deployment.id.dropFirst(4).prefix(9))"),
            "entrypoint": ".", "step": step.map(JSONValue.string),
            "readyState": state.map { .string($0.rawValue) },
        ])
    }

    private func nested(_ deployment: Deployment) -> JSONValue {
        [
            "type": .string(kind.rawValue), "created": .integer(date),
            "payload": .members([
                "deploymentId": .string(deployment.id), "id": .string(id), "date": .integer(date),
                "created": .integer(date), "serial": .string(serial), "text": .string(text),
                "info": info(deployment), "statusCode": statusCode.map(JSONValue.integer),
                "level": isWarning ? "warning" : nil,
            ]),
        ]
    }

    private func flat(_ deployment: Deployment) -> JSONValue {
        .members([
            "type": .string(kind.rawValue), "created": .integer(date), "date": .integer(date),
            "deploymentId": .string(deployment.id), "id": .string(id), "serial": .string(serial),
            "text": text.isEmpty ? nil : .string(text),
            "level": state == .error ? "error" : isWarning ? "warning" : nil,
            "info": info(deployment),
        ])
    }
}
