internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Offers what a command line lacks: the project in use, or the command's only missing word.
struct MissingWords {
    /// The commands that offer the vault's projects in a directory without a link. Those that send
    /// something or start a program need to be told.
    private static let projectCommands: Set<String> = [
        "list", "show", "reveal", "copy", "edit", "history", "deployment list", "deployment show",
        "deployment logs", "deployment promote", "open",
    ]

    let workspace: Workspace

    /// Asks for the project if the command needs one, none is given, and a person can pick.
    ///
    /// - Parameter lacksWord: Whether the last argument is still missing.
    func pickProject(for parsed: ParsedCommand, lacksWord: Bool) throws {
        guard Self.projectCommands.contains(workspace.command),
            !Self.needsNone(parsed, lacksWord: lacksWord), Picker(workspace).isPossible,
            try ProjectResolver(workspace).given(warns: false) == nil
        else { return }
        let index = try workspace.session.index(.listing)
        let entries = index.projects.sorted { $0.name < $1.name }.map { project in
            let count = Set(index.variables(of: project.id).map(\.name)).count
            return ListPicker.Entry(
                project.name, note: count == 1 ? "1 variable" : "\(count) variables")
        }
        workspace.session.pickedProject = try Picker(workspace).pick("Project", entries)
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

    /// Returns the word that a person picks; nil if nobody can pick, or there is nothing to pick.
    func word(_ kind: DynamicCompletion) throws -> String? {
        let picker = Picker(workspace)
        guard picker.isPossible else { return nil }
        switch kind {
        case .variable: return try picker.pick("Variable", try variables())
        case .project:
            let index = try workspace.session.index(.listing)
            return try picker.pick(
                "Project", index.projects.map { .init($0.name) }.sorted { $0.word < $1.word })
        case .deployment, .deploymentID: return try picker.pick("Deployment", try deployments())
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

    private func deployments() throws -> [ListPicker.Entry] {
        let bound = try LinkedProject.anywhere(workspace)
        var filter = DeploymentFilter()
        (filter.projectId, filter.limit) = (bound.platform.id, 50)
        let now = workspace.context.now()
        return try bound.access.client.deployments(filter).filter { $0.state != .deleted }.map {
            .init(
                $0.id,
                note: DeploymentListing.summary(
                    of: $0, isCurrent: $0.id == bound.platform.production?.id, now: now))
        }
    }
}
