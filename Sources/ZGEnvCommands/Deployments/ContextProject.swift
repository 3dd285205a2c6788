internal import CommandLineKit
internal import Vault
internal import VercelAPI

/// The project that options, environment or directory select for a command that takes a deployment. It
/// is optional; a project other than the deployment's is reported.
struct ContextProject {
    /// The project's binding in the vault, which shows where to search first.
    let binding: VaultProject.Binding?
    private let name: String?
    private let id: String?

    init(_ workspace: Workspace) throws {
        let resolver = ProjectResolver(workspace)
        if let index = try workspace.session.indexWithoutPrompt() {
            let local = try? resolver.existing(in: index)
            binding = local?.binding
            id = binding?.projectID
            name = local?.name ?? workspace.options.project
            return
        }
        binding = nil
        switch try? resolver.reference() {
        case .named(let name): (self.name, id) = (name, nil)
        case .platform(let project, _): (name, id) = (nil, project)
        case .link(let link):
            name = nil
            id = if case .platform(let project, _) = link.target { project } else { nil }
        case nil: (name, id) = (nil, nil)
        }
    }

    /// Compares it with the deployment's project.
    ///
    /// - Throws: ``ExitCode/conflict`` if `-p` selects another project. If the directory or the
    ///   environment does, only warns, since a deployment's id is more specific.
    func check(_ deployment: Deployment, of project: Project, _ workspace: Workspace) throws {
        let isSame = id.map { $0 == project.id } ?? name.map { $0 == project.name } ?? true
        guard !isSame else { return }
        let (own, other) = (project.name, name ?? id ?? "")
        let said = "\(deployment.id) is a deployment of \(own), not of \(other)"
        if workspace.options.namesProject {
            throw CommandError(
                .conflict, "\(said).",
                hint:
                    "Leave out -p, or list the deployments of \(other) with: zg-env deployment list -p \(word: other)"
            )
        }
        workspace.context.warn(
            "other-project", "\(said), the project selected by the directory or the environment.")
    }
}
