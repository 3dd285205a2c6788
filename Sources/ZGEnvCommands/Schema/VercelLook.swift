internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Vault
internal import VercelAPI

/// Looks at Vercel for what a schema declares: at the project's variables now, and at deployments.
struct VercelLook {
    private let bound: LinkedProject
    /// What Vercel lists, which may not be everything.
    let records: ListedRecords
    private let shared: SharedListing
    /// The slugs of the project's custom environments.
    let customEnvironments: [String]

    /// Reads the variables, without values.
    init(_ bound: LinkedProject, _ workspace: Workspace) throws {
        let client = bound.access.client
        let environments = try client.customEnvironments(ofProject: bound.platform.id)
        let names = CustomEnvironmentNames(environments)
        self.bound = bound
        customEnvironments = environments.map(\.slug)
        records = ListedRecords(
            try client.environmentVariables(ofProject: bound.platform.id), environments: names)
        shared = SharedListing(
            try SharedListing.keep(of: bound, workspace), askedAt: workspace.context.now())
    }

    /// Returns what the next deployment of a target gets.
    func look(at target: String, branch: String? = nil) -> SchemaLook {
        let place = ValueTarget(named: target, branch: branch)
        let found = Dictionary(
            records(in: place).map { ($0.key, $0.attributes.kind) },
            uniquingKeysWith: { first, _ in first })
        let shared = shared.names(in: place)
        return SchemaLook(side: .vercel, target: target, keys: shared.union(found.keys)) { item in
            if let kind = found[item.key] { return .init(.unread, kind: kind) }
            return shared.contains(item.key) ? .init(.unread) : missing
        }
    }

    /// Returns what the deployment that serves a target was built with.
    ///
    /// - Parameter deployment: The deployment, if it is known.
    /// - Throws: ``ExitCode/notFound`` without one.
    func liveLook(
        at target: String, branch: String? = nil, deployment: String? = nil
    ) throws -> SchemaLook {
        let client = bound.access.client
        let live = try client.deployment(deployment ?? serving(target, branch: branch))
        let place = ValueTarget(named: target, branch: branch ?? live.branch)
        let variables = LiveVariables(
            of: live, pulled: try pulled(live.id), records: records(in: place))
        let shared = shared.names(in: place)
        return SchemaLook(side: .live, target: target, keys: variables.keys) { item in
            var presence = variables.presence(of: item.key)
            if presence.content == .missing { presence = missing }
            guard presence.content == .missing, shared.contains(item.key) else { return presence }
            return .init(
                .unknown("a shared variable, and Vercel does not report when it was added"))
        }
    }

    /// What it means that a variable is not there: nothing, if Vercel may hide it. One for production may
    /// be for other targets too.
    private var missing: SchemaCheck.Presence {
        records.isComplete ? .missing : .init(.unknown(records.hidingClause))
    }

    private func records(in place: ValueTarget) -> [VercelRecord] {
        records.filter { $0.attributes.scope.applies(in: place) }
    }

    /// Returns the id of the newest deployment that is ready for a target; for production, of the live
    /// one.
    private func serving(_ target: String, branch: String?) throws -> String {
        if target == "production", let live = bound.platform.liveDeployment { return live.id }
        var filter = DeploymentFilter()
        filter.projectId = bound.platform.id
        filter.states = [.ready]
        filter.branch = branch
        filter.limit = 100
        let newest = try bound.access.client.deployments(filter).first { deployment in
            switch target {
            case "production": deployment.target == "production" && deployment.isAliasAssigned
            case "preview": deployment.target == nil && deployment.customEnvironmentSlug == nil
            default: deployment.customEnvironmentSlug == target
            }
        }
        guard let newest else {
            let place = branch.map { "branch \($0)" } ?? target
            throw CommandError(
                .notFound, "\(bound.platform.name) has no ready deployment for \(place).",
                hint: "Check what the next deployment will get with: zg-env check --on vercel")
        }
        return newest.id
    }

    /// Returns which variables Vercel gives out for a deployment, and whether each has a value; nil if it
    /// gives out none.
    private func pulled(_ id: String) throws -> [String: Bool]? {
        do throws(VercelAPIError) {
            let found = try bound.access.client.pulledEnvironment(
                ofDeployment: id, valuesInto: SecretArena())
            return found.buildEnvironment.mapValues { $0.count > 0 }
        } catch {
            // An undocumented call: without it, times decide.
            let refusals: [VercelAPIError.Code] = [
                .notFound, .forbidden, .gone, .badRequest, .notPossible, .malformedAnswer,
            ]
            guard refusals.contains(error.code) else { throw error }
            return nil
        }
    }
}
