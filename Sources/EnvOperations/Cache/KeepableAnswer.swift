package import JSON
package import VercelAPI

/// An answer of which a part may be kept. What its `writeKept` writes is the whole list: nothing
/// of a record is kept that it does not name. Members have the platform's names, so that the same
/// code reads them again.
///
/// Never on it: `value`, `vsmValue`, `legacyValue`, `env`, `buildEnv`, and texts of logs.
package protocol KeepableAnswer: Decodable, Sendable {
    /// Writes one JSON value.
    func writeKept(to json: inout JSONWriter<ByteBuffer>) throws(OutputError)
}

/// The projects of an account or team.
package struct ProjectsAnswer: KeepableAnswer, Equatable {
    /// In the platform's order.
    package let projects: [Project]

    /// Takes an answer.
    package init(_ projects: [Project]) { self.projects = projects }

    package func writeKept(to json: inout JSONWriter<ByteBuffer>) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.name("projects")
            try json.array { (json) throws(OutputError) in
                for project in projects { try Self.write(project, to: &json) }
            }
        }
    }

    private static func write(
        _ project: Project, to json: inout JSONWriter<ByteBuffer>
    ) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.member("id", project.id)
            try json.member("name", project.name)
            try json.text("accountId", project.accountId)
            try json.text("framework", project.framework)
            try json.time("updatedAt", project.updatedAt)
            guard let production = project.production else { return }
            try json.name("targets")
            try json.object { (json) throws(OutputError) in
                try json.name("production")
                try production.writeKept(to: &json)
            }
        }
    }
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

    package func writeKept(to json: inout JSONWriter<ByteBuffer>) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.text("current", current)
            try json.name("deployments")
            try json.array { (json) throws(OutputError) in
                for deployment in deployments { try deployment.writeKept(to: &json) }
            }
        }
    }
}

/// The shared variables that a project uses.
package struct SharedVariablesAnswer: KeepableAnswer, Equatable {
    /// In the platform's order.
    package let variables: [SharedVariable]

    /// Takes an answer.
    package init(_ variables: [SharedVariable]) { self.variables = variables }

    package func writeKept(to json: inout JSONWriter<ByteBuffer>) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.name("variables")
            try json.array { (json) throws(OutputError) in
                for variable in variables { try Self.write(variable, to: &json) }
            }
        }
    }

    private static func write(
        _ variable: SharedVariable, to json: inout JSONWriter<ByteBuffer>
    ) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.member("id", variable.id)
            try json.member("key", variable.key)
            try json.member("type", variable.type.rawValue)
            try json.member("target", variable.targets.map(\.rawValue))
            try json.member("projectId", variable.projectIds)
            try json.name("applyToAllCustomEnvironments")
            try json.bool(variable.appliesToAllCustomEnvironments)
            try json.text("comment", variable.comment)
            try json.time("createdAt", variable.createdAt)
            try json.time("updatedAt", variable.updatedAt)
        }
    }
}

/// That the platform could not be reached when it was last tried. Holds nothing but its time.
package struct OutageNote: KeepableAnswer {
    /// Makes a note.
    package init() {}

    package func writeKept(to json: inout JSONWriter<ByteBuffer>) throws(OutputError) {
        try json.object { (_) throws(OutputError) in }
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

    fileprivate func writeKept(to json: inout JSONWriter<ByteBuffer>) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.member("id", id)
            try json.text("name", name)
            try json.text("projectId", projectId)
            try json.text("url", url)
            try json.member("readyState", state.rawValue)
            try json.text("readySubstate", substate?.rawValue)
            try json.text("target", target)
            if customEnvironmentId != nil || customEnvironmentSlug != nil {
                try json.name("customEnvironment")
                try json.object { (json) throws(OutputError) in
                    try json.text("id", customEnvironmentId)
                    try json.text("slug", customEnvironmentSlug)
                }
            }
            try json.text("source", source)
            if let creator {
                try json.name("creator")
                try json.object { (json) throws(OutputError) in
                    try json.member("username", creator)
                }
            }
            try json.time("createdAt", createdAt)
            try json.time("buildingAt", buildingAt)
            try json.time("ready", readyAt)
            try json.text("errorCode", errorCode)
            try json.name("meta")
            try json.object { (json) throws(OutputError) in
                for name in Self.keptMeta { try json.text(name, meta[name]) }
            }
        }
    }
}

extension JSONWriter<ByteBuffer> {
    /// Writes a member that may be missing.
    fileprivate mutating func text(_ name: String, _ text: String?) throws(OutputError) {
        if let text { try member(name, text) }
    }

    /// Writes a time in milliseconds, which may be missing.
    fileprivate mutating func time(_ name: String, _ time: APITime?) throws(OutputError) {
        guard let time else { return }
        try self.name(name)
        try integer(time.milliseconds)
    }
}
