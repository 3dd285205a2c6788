internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Offers what a command line lacks: the project in use, or the command's only missing word.
struct MissingWords {
    let workspace: Workspace

    /// Returns the project that a person picks; nil if none is needed or one is given, and if nobody
    /// can pick.
    ///
    /// - Parameter lacksWord: Whether the last argument is still missing.
    func project(
        for parsed: ParsedCommand, _ use: VaultUse, lacksWord: Bool
    ) throws -> String? {
        guard use.picksProject, !Self.needsNone(parsed, lacksWord: lacksWord),
            Picker(workspace).isPossible,
            try ProjectResolver(workspace).given(warns: false) == nil
        else { return nil }
        let index = try workspace.session.index(.listing)
        let entries = index.projects.sorted { $0.name < $1.name }.map { project in
            let count = Set(index.variables(of: project.id).map(\.name)).count
            return ListPicker.Entry(project.name, note: DisplayText.count(count, "variable"))
        }
        return try Picker(workspace).pick("Project", entries)
    }

    /// Whether the command is about all projects, or about a deployment that is named without one.
    private static func needsNone(_ parsed: ParsedCommand, lacksWord: Bool) -> Bool {
        let all = "all-projects"
        if parsed.spec.options.contains(where: { $0.name == all }), parsed.has(all) { return true }
        guard !lacksWord,
            let argument = parsed.spec.arguments.first(where: {
                $0.completion == .dynamic(.deployment)
            }), let word = parsed.argument(argument.name)
        else { return false }
        return !NamedDeployment.words.contains(word)
    }

    /// Returns the project of `-p` or of the directory's link; nil without one. A link may come with a
    /// repository, so a command that asks nothing does not take the project from it.
    private func givenProject() throws -> String? {
        if let name = workspace.options.project { return name }
        guard !workspace.options.yes else { return nil }
        let resolver = ProjectResolver(workspace)
        guard try resolver.given(warns: false) != nil else { return nil }
        return try resolver.existing(in: workspace.session.index(.listing)).name
    }

    /// Returns the word that the command line or the directory gives elsewhere, or that a person picks;
    /// nil if no one can pick, or there is nothing to pick.
    ///
    /// - Parameter command: Limits deployments to those that it can be used with.
    func word(_ kind: DynamicCompletion, for command: CommandSpec) throws -> String? {
        if kind == .project, let name = try givenProject() { return name }
        let picker = Picker(workspace)
        guard picker.isPossible else { return nil }
        switch kind {
        case .variable: return try picker.pick("Variable", try variables())
        case .project:
            let index = try workspace.session.index(.listing)
            return try picker.pick(
                "Project", index.projects.map { .init($0.name) }.sorted { $0.word < $1.word })
        case .deployment, .deploymentID:
            return try picker.pick("Deployment", try deployments(for: command))
        case .target, .account, .team: return nil
        }
    }

    private func variables() throws -> [ListPicker.Entry] {
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = Dictionary(grouping: index.variables(of: project.id), by: \.name)
        return records.sorted { $0.key < $1.key }.map { name, records in
            .init(
                name, note: records.map(\.attributes.scope.description).joined(separator: "; "))
        }
    }

    private func deployments(for command: CommandSpec) throws -> [ListPicker.Entry] {
        let bound = try LinkedProject.anywhere(workspace)
        var filter = DeploymentFilter()
        (filter.projectId, filter.limit) = (bound.platform.id, 50)
        let now = workspace.context.now()
        let current = bound.platform.production?.id
        return try bound.access.client.deployments(filter).filter { deployment in
            guard command.path == DeploymentPromote.spec.path else {
                return deployment.state != .deleted
            }
            return DeploymentActions(deployment, current: current).promotionRefusal == nil
        }.map {
            .init(
                $0.id,
                note: DeploymentListing.summary(of: $0, isCurrent: $0.id == current, now: now))
        }
    }
}
