internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What the response cache knows of production: whether it is rolled back, and which deployment only
/// lacks a promotion. Used only where it agrees with the vault about what is live.
struct ProductionStates {
    private struct State {
        let project: VaultProject
        let isRolledBack: Bool
        /// Has all changes that are not live.
        let staged: Deployment?
    }

    private let states: [State]

    /// Reads the cache; without it, nothing is known.
    ///
    /// - Parameter notLive: The variables that are not live yet.
    init(of index: VaultIndex, notLive: [Variable], _ workspace: Workspace) {
        let bound = index.projects.filter { $0.binding != nil && $0.live != nil }
        guard !bound.isEmpty, let keys = try? workspace.session.keysWithoutPrompt(),
            let answers = try? VercelResponses(workspace, keys: keys, index: index)
        else {
            states = []
            return
        }
        states = bound.compactMap { project in
            guard let binding = project.binding else { return nil }
            let (deployments, newest) = answers.cachedDeployments(of: binding)
            guard let newest, newest.current == project.live?.id else { return nil }
            let waiting = notLive.filter { $0.project == project.id }
            return State(
                project: project, isRolledBack: newest.isRolledBack ?? false,
                staged: waiting.isEmpty
                    ? nil : PendingChanges.staged(with: waiting, in: project, among: deployments))
        }
    }

    /// With `--refresh`, asks Vercel for the production deployments of the project if something is not
    /// live, and caches them.
    static func refreshIfAsked(_ workspace: Workspace) throws {
        guard workspace.options.refresh else { return }
        let index = try workspace.session.indexAsSeen(.listing)
        let project = try ProjectResolver(workspace).existingIfGiven(in: index)
        guard let project, let binding = project.binding,
            index.variables.contains(where: {
                $0.project == project.id && SyncState.isLive($0, in: project) == false
            })
        else { return }
        let client = try VercelSession(workspace).access(binding).client
        let askedAt = workspace.context.now()
        let platform = try client.project(binding.projectID, withRollbackInfo: true)
        var filter = DeploymentFilter()
        (filter.projectId, filter.target, filter.limit) = (binding.projectID, "production", 20)
        let answer = DeploymentsResponse(
            current: platform.production?.id, deployments: try client.deployments(filter),
            isRolledBack: platform.isRolledBack)
        try VercelResponses(workspace).keep(production: answer, of: binding, askedAt: askedAt)
    }

    /// One line for each project whose production is rolled back.
    var text: String {
        states.filter(\.isRolledBack).map {
            let name = DisplayText.safe($0.project.name)
            let id = DisplayText.safe($0.project.live?.id ?? "")
            return
                "Production of \(name) is rolled back to \(id); new deployments go live only when promoted\n"
        }.joined()
    }

    private func state(_ variables: [Variable]) -> State? {
        states.first { $0.project.id == variables.first?.project }
    }

    /// Returns the command that makes variables of one project live without a build; nil if a build is
    /// needed.
    func command(for variables: [Variable]) -> String? {
        state(variables)?.staged.map { "zg-env promote \(word: $0.id)" }
    }

    /// Returns what to add to the command that makes variables of one project live.
    func remark(on variables: [Variable]) -> String {
        guard let state = state(variables) else { return "" }
        if state.staged != nil { return ": already built" }
        return state.isRolledBack ? ": then promote the new deployment" : ""
    }
}
