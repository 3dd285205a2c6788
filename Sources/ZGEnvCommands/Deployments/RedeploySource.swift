internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// The deployment to redeploy, and its target.
struct RedeploySource {
    /// The deployment whose source is redeployed.
    let named: NamedDeployment
    /// The target in Vercel's API; nil for a preview.
    let apiTarget: String?
    /// The custom environment, if the target is one.
    let customEnvironment: String?

    /// The target as in `-t`.
    var targetName: String { customEnvironment ?? apiTarget ?? "preview" }

    /// The line of the plan, as shown to the user.
    var line: String {
        "redeploy \(named.deployment.id) of \(named.project.name) for \(targetName)"
    }

    /// Returns the plan: the line, the changes that production gets with it, and the notices.
    func plan(_ workspace: Workspace) throws -> [String] {
        let pending = try pending(workspace)
        return [line] + (pending?.lines ?? []) + (try notices(pending).map(\.message))
    }

    /// What the user may not expect of this source: its build failed, production is rolled back, or a
    /// promotion would be enough.
    func notices(_ pending: PendingChanges?) throws -> [Context.Warning] {
        let source = named.deployment
        var notices: [Context.Warning] = []
        if source.state.isFinal, source.state != .ready {
            notices.append(
                .init(
                    code: "failed-source",
                    message:
                        "\(source.id) ended in state \(source.state.rawValue); the same source is built again"
                ))
        }
        guard apiTarget == "production" else { return notices }
        if let local = named.local, let pending, !pending.changed.isEmpty,
            PendingChanges.staged(
                with: pending.changed + pending.removed, in: local, among: [source]) != nil
        {
            notices.append(
                .init(
                    code: "already-built",
                    message:
                        "\(source.id) already has these changes; without a build, make it live with: zg-env promote \(word: source.id)"
                ))
        }
        guard named.project.assignsDomains == false else { return notices }
        let project = try named.client.project(named.project.id, withRollbackInfo: true)
        notices.append(
            project.isRolledBack
                ? .init(
                    code: "rolled-back",
                    message:
                        "production is rolled back\(project.production.map { " to \($0.id)" } ?? ""), so the new deployment goes live only when you promote it"
                )
                : .init(
                    code: "staged",
                    message:
                        "the project stages production deployments, so the new deployment goes live only when you promote it"
                ))
        return notices
    }

    /// Shows the notices as warnings where no question has shown the plan.
    func warn(_ pending: PendingChanges?, _ workspace: Workspace) throws {
        guard workspace.options.yes else { return }
        for notice in try notices(pending) {
            workspace.context.warn(notice.code, CommandError.sentence(notice.message))
        }
        // Before the build, not with its result.
        if !workspace.options.json { workspace.context.showWarnings() }
    }

    /// Finds the given deployment, or the newest of the target.
    init(_ deployment: String?, for names: [String], _ workspace: Workspace) throws {
        guard names.count <= 1, names.first != "development" else {
            throw CommandError(
                .usage, "A deployment has one target: production, preview or a custom environment.")
        }
        if let text = deployment {
            self.init(try NamedDeployment(text, workspace), for: names.first)
        } else {
            try self.init(
                newestOf: try LinkedProject.anywhere(workspace), for: names.first ?? "production")
        }
    }

    /// Finds the newest production deployment of the workspace's project.
    init(productionOf workspace: Workspace) throws {
        try self.init(newestOf: try LinkedProject.inVault(workspace), for: "production")
    }

    private init(newestOf bound: LinkedProject, for target: String) throws {
        let filter =
            target == "production"
            ? DeploymentFilter(project: bound.platform.id, target: "production")
            : DeploymentFilter(project: bound.platform.id, limit: 100)
        let newest = try bound.access.client.deployments(filter).first {
            $0.state != .deleted
                && (target == "preview"
                    ? $0.target == nil && $0.customEnvironmentSlug == nil
                    : $0.target == target || $0.customEnvironmentSlug == target)
        }
        guard let newest else {
            throw CommandError.nothing(
                in: bound, for: target, hint: "Deploy the project once, then redeploy.")
        }
        self.init(
            NamedDeployment(
                client: bound.access.client, deployment: newest, project: bound.platform,
                local: bound.local), for: target)
    }

    private init(_ named: NamedDeployment, for target: String?) {
        self.named = named
        (apiTarget, customEnvironment) = Self.aim(of: named.deployment, target)
    }

    private static func aim(of deployment: Deployment, _ target: String?) -> (String?, String?) {
        switch target {
        // A custom environment may have the name of Vercel's own target staging.
        case let slug? where slug == deployment.customEnvironmentSlug: return (nil, slug)
        case "production", "staging": return (target, nil)
        case "preview": return (nil, nil)
        case let slug?: return (nil, slug)
        case nil:
            return (
                deployment.target,
                deployment.target == nil
                    ? deployment.customEnvironmentId ?? deployment.customEnvironmentSlug : nil
            )
        }
    }

    /// The notice that the new deployment is built without what is not pushed; nil if all is.
    static func notice(of notPushed: [String]?, in project: VaultProject?) -> Context.Warning? {
        guard let notPushed, let project, !notPushed.isEmpty else { return nil }
        let verb = notPushed.count == 1 ? "is" : "are"
        return .init(
            code: "not-pushed",
            message:
                "\(DisplayText.count(notPushed.count, "variable")) \(verb) not pushed: "
                + "\(VariableName.list(notPushed)) (zg-env push -p \(word: project.name))")
    }

    /// Returns the names of the target's variables that a push would send or remove; nil if the vault
    /// lacks the project or is not available.
    func notPushed(_ workspace: Workspace) throws -> [String]? {
        guard let local = named.local,
            let index = try workspace.session.indexWithoutPrompt(),
            let project = index.project(local.id)
        else { return nil }
        return PendingChanges.names(
            index.variables.filter {
                $0.project == project.id && SyncState.isNotPushed($0, in: project)
                    && ($0.attributes.scope.has(targetName)
                        || $0.remote?.agreed.scope.has(targetName) == true)
            })
    }

    /// Returns the changes that production gets with a new deployment; nil for another target, and if the
    /// vault lacks the project or is not available.
    func pending(_ workspace: Workspace) throws -> PendingChanges? {
        guard targetName == "production", let local = named.local,
            var index = try workspace.session.indexWithoutPrompt()
        else { return nil }
        index.see(
            live: named.project.liveDeployment, of: local.id, time: workspace.context.now())
        func known(standing: Set<String> = []) -> PendingChanges? {
            index.project(local.id).map { PendingChanges(of: $0, in: index, standing: standing) }
        }
        let pending = known()
        guard let pending, !pending.removed.isEmpty,
            let seen = try? VercelRefresh.look(at: local, workspace).records
        else { return pending }
        // A variable that someone has created again is not removed from production.
        return known(
            standing: Set(
                seen.filter { $0.attributes.scope.targets.contains(.production) }.map(\.key)))
    }
}

extension CommandError {
    /// The error for a project without a deployment to redeploy.
    static func nothing(in project: LinkedProject, for target: String, hint: String) -> Self {
        Self(
            .notFound,
            "\(project.platform.name) has no deployment for \(target) to redeploy.",
            hint: hint)
    }
}

extension Scope {
    /// Whether a target or custom environment of that name is part of it.
    fileprivate func has(_ target: String) -> Bool {
        targets.names.contains(target) || customEnvironments.contains(target)
    }
}
