package import JSON
package import VercelAPI

/// An answer of which a part may be kept. What `kept` has is the whole list: nothing of a record is kept
/// that it does not name. Members have the platform's names, so that the same code reads them again.
///
/// Never on it: `value`, `vsmValue`, `legacyValue`, `env`, `buildEnv`, and texts of logs.
package protocol KeepableAnswer: Decodable, Sendable {
    /// What is kept of it.
    var kept: JSONValue { get }
}

/// The projects of an account or team.
package struct ProjectsAnswer: KeepableAnswer, Equatable {
    /// In the platform's order.
    package let projects: [Project]

    /// Takes an answer.
    package init(_ projects: [Project]) { self.projects = projects }

    package var kept: JSONValue { ["projects": .array(projects.map(\.kept))] }
}

/// The newest deployments of a project, and which of them serves production.
package struct DeploymentsAnswer: KeepableAnswer, Equatable {
    /// The id of the deployment that serves production; nil where none does.
    package let current: String?
    /// Newest first.
    package let deployments: [Deployment]

    /// Takes an answer.
    package init(current: String?, deployments: [Deployment]) {
        self.current = current
        self.deployments = deployments
    }

    package var kept: JSONValue {
        .members([
            "current": .kept(current), "deployments": .array(deployments.map(\.kept)),
        ])
    }
}

/// The shared variables that a project uses.
package struct SharedVariablesAnswer: KeepableAnswer, Equatable {
    /// In the platform's order.
    package let variables: [SharedVariable]

    /// Takes an answer.
    package init(_ variables: [SharedVariable]) { self.variables = variables }

    package var kept: JSONValue { ["variables": .array(variables.map(\.kept))] }
}

/// That the platform could not be reached when it was last tried. Holds nothing but its time.
package struct OutageNote: KeepableAnswer {
    /// Makes a note.
    package init() {}

    package var kept: JSONValue { [:] }
}

extension JSONValue {
    /// A text that may be missing.
    fileprivate static func kept(_ text: String?) -> JSONValue? { text.map { .string($0) } }

    /// A time in milliseconds that may be missing.
    fileprivate static func kept(_ time: APITime?) -> JSONValue? {
        time.map { .integer($0.milliseconds) }
    }
}

extension Project {
    fileprivate var kept: JSONValue {
        .members([
            "id": .string(id), "name": .string(name), "accountId": .kept(accountId),
            "framework": .kept(framework), "updatedAt": .kept(updatedAt),
            "targets": production.map { ["production": $0.kept] },
        ])
    }
}

extension SharedVariable {
    fileprivate var kept: JSONValue {
        .members([
            "id": .string(id), "key": .string(key), "type": .string(type.rawValue),
            "target": .strings(targets.map(\.rawValue)), "projectId": .strings(projectIds),
            "applyToAllCustomEnvironments": .bool(appliesToAllCustomEnvironments),
            "comment": .kept(comment), "createdAt": .kept(createdAt),
            "updatedAt": .kept(updatedAt),
        ])
    }
}

extension Deployment {
    /// What `meta` may be kept of: users of the Vercel CLI put into it what they like.
    static let keptMeta =
        ["github", "gitlab", "bitbucket"].flatMap { host in
            ["CommitRef", "CommitSha", "CommitMessage", "CommitAuthorName", "CommitAuthorLogin"].map
            {
                host + $0
            }
        } + ["action", "originalDeploymentId", "deployHookName"]

    fileprivate var kept: JSONValue {
        let meta = meta.filter { Self.keptMeta.contains($0.key) }
        let isCustom = customEnvironmentId != nil || customEnvironmentSlug != nil
        let environment = JSONValue.members([
            "id": .kept(customEnvironmentId), "slug": .kept(customEnvironmentSlug),
        ])
        return .members([
            "id": .string(id), "name": .kept(name), "projectId": .kept(projectId),
            "url": .kept(url), "readyState": .string(state.rawValue),
            "readySubstate": .kept(substate?.rawValue), "target": .kept(target),
            "customEnvironment": isCustom ? environment : nil, "source": .kept(source),
            "creator": creator.map { ["username": .string($0)] }, "createdAt": .kept(createdAt),
            "buildingAt": .kept(buildingAt), "ready": .kept(readyAt),
            "errorCode": .kept(errorCode), "meta": .members(meta.mapValues { .string($0) }),
        ])
    }
}
