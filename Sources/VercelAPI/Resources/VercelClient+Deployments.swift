internal import JSON

/// Which deployments to list.
package struct DeploymentFilter: Sendable, Equatable {
    /// Only those of this project, by its id.
    package var projectId: String?
    /// `production`, `preview` or `staging`.
    package var target: String?
    /// Only those in one of these states.
    package var states: [Deployment.State] = []
    /// Only those of this branch.
    package var branch: String?
    /// Only those of this commit.
    package var commit: String?
    /// Only those made after this moment.
    package var since: APITime?
    /// Only those made before this moment.
    package var until: APITime?
    /// Only those that production can be rolled back to.
    package var isRollbackCandidate: Bool?
    /// The largest number of them.
    package var limit = 20

    /// Makes a filter that lets everything through.
    package init() {}
}

/// How to make a new deployment of an existing one's source.
package struct NewDeployment: Sendable, Equatable {
    /// The deployment whose source is used.
    package var sourceId: String
    /// The name of the project.
    package var projectName: String
    /// `production` or `staging`; nil for a preview.
    package var target: String?
    /// A custom environment, by id or name.
    package var customEnvironment: String?
    /// Whether what earlier builds kept is used.
    package var usesCache = false
    /// Whether the newest commit of the branch is used instead of the source's own.
    package var usesLatestCommit = false
    /// What is noted as the reason: `redeploy` or `promote`.
    package var action = "redeploy"
    /// A further note, by which the deployment is found again when its answer is lost.
    package var mark: String?

    /// The name of ``mark`` among a deployment's `meta`.
    static let markName = "zgEnvMark"

    /// Describes a fresh build of the same commit.
    package init(sourceId: String, projectName: String, target: String? = nil) {
        self.sourceId = sourceId
        self.projectName = projectName
        self.target = target
    }
}

/// What became of a deletion.
package enum DeletionOutcome: Sendable, Equatable {
    /// It was there and is gone.
    case deleted
    /// It was not there when the request was repeated, so the first one most likely did it.
    case alreadyGone
}

extension VercelClient {
    /// Lists deployments, newest first.
    package func deployments(_ filter: DeploymentFilter) throws(VercelAPIError) -> [Deployment] {
        let states = filter.states.map(\.rawValue).joined(separator: ",")
        let call = try APICall(
            .get, "/v6/deployments",
            query: [
                ("projectId", filter.projectId), ("target", filter.target),
                ("state", states.isEmpty ? nil : states), ("branch", filter.branch),
                ("sha", filter.commit), ("since", filter.since.map { String($0.milliseconds) }),
                ("until", filter.until.map { String($0.milliseconds) }),
                ("rollbackCandidate", filter.isRollbackCandidate.map { $0 ? "true" : "false" }),
                ("limit", String(min(max(filter.limit, 1), 100))),
            ])
        return try list(call, cursor: "until", limit: max(filter.limit, 0))
    }

    /// Reads one deployment by its id or its host name.
    ///
    /// - Throws: ``VercelAPIError/Code/notFound`` also for what is no id at all.
    package func deployment(_ idOrHost: String) throws(VercelAPIError) -> Deployment {
        let call = try APICall(.get, "/v13/deployments/\(idOrHost)")
        do throws(VercelAPIError) {
            return try read(try perform(call), as: Deployment.self)
        } catch {
            guard error.code == .badRequest, error.platformMessage?.contains("`id`") == true
            else { throw error }
            throw error.recoded(.notFound, reason: "not found, and not a deployment's id")
        }
    }

    /// Makes a new deployment.
    ///
    /// - Throws: ``VercelAPIError/Code/outcomeUnknown`` if it may have been made; look for one
    ///   whose `meta` names the source before making another.
    package func createDeployment(_ new: NewDeployment) throws(VercelAPIError) -> Deployment {
        var call = try APICall(
            .post, "/v13/deployments",
            query: [("forceNew", "1"), ("withCache", new.usesCache ? "1" : nil)])
        try call.writeBody { (json) throws(OutputError) in
            try json.object { (json) throws(OutputError) in
                try json.member("deploymentId", new.sourceId)
                try json.member("name", new.projectName)
                if let target = new.target { try json.member("target", target) }
                if let environment = new.customEnvironment {
                    try json.member("customEnvironmentSlugOrId", environment)
                }
                if new.usesLatestCommit {
                    try json.name("withLatestCommit")
                    try json.bool(true)
                }
                try json.name("meta")
                try json.object { (json) throws(OutputError) in
                    try json.member("action", new.action)
                    if let mark = new.mark { try json.member(NewDeployment.markName, mark) }
                }
            }
        }
        return try readCreated(try perform(call), as: Deployment.self)
    }

    /// Stops a deployment that is not finished.
    package func cancelDeployment(_ id: String) throws(VercelAPIError) -> Deployment {
        try read(
            try perform(try APICall(.patch, "/v12/deployments/\(id)/cancel")),
            as: Deployment.self)
    }

    /// Deletes a deployment.
    package func deleteDeployment(_ id: String) throws(VercelAPIError) -> DeletionOutcome {
        var call = try APICall(.delete, "/v13/deployments/\(id)")
        call.expectation = .nothingOrJSON
        return try delete(call)
    }

    /// Makes a call that deletes, which may come to nothing only where it is a repetition.
    func delete(_ call: APICall) throws(VercelAPIError) -> DeletionOutcome {
        do throws(VercelAPIError) {
            _ = try perform(call)
            return .deleted
        } catch {
            guard error.code == .notFound, error.isAfterRepeat else { throw error }
            return .alreadyGone
        }
    }

    /// Decodes the answer of a call that made something: if it cannot be read, it was made even so.
    func readCreated<T: Decodable>(
        _ answer: APIAnswer, as type: T.Type
    ) throws(VercelAPIError) -> T {
        do throws(VercelAPIError) {
            return try read(answer, as: type)
        } catch {
            throw error.recoded(
                .outcomeUnknown,
                reason: "the platform accepted it, but its answer cannot be read",
                hint: "look it up before doing it again")
        }
    }
}
