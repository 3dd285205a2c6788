internal import DotEnv
internal import Vault
internal import VercelAPI

/// The project that options, environment or directory name beside a deployment. None is needed; one
/// that is not the deployment's own is told.
struct ProjectInReach {
    /// What the vault has of its place on the platform: a hint where to look first.
    let binding: VaultProject.Binding?
    private let name: String?
    private let id: String?

    init(_ workspace: Workspace) throws {
        let resolver = ProjectResolver(workspace)
        if let index = try workspace.session.indexAtHand() {
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
            guard case .platform(let project, _) = link.target else {
                id = nil
                return
            }
            id = project
        case nil: (name, id) = (nil, nil)
        }
    }

    /// Holds it against the deployment's own project.
    ///
    /// - Throws: ``ExitCode/conflict`` where the command's own option names another one. What is around,
    ///   the directory or the environment, is contradicted by a deployment's id without harm: that is a
    ///   warning.
    func check(_ deployment: Deployment, of project: Project, _ workspace: Workspace) throws {
        let isSame: Bool
        if let id {
            isSame = id == project.id
        } else {
            isSame = name.map { $0 == project.name } ?? true
        }
        guard !isSame else { return }
        let (own, other) = (project.name, name ?? id ?? "")
        let said = "\(deployment.id) is a deployment of \(own), not of \(other)"
        if workspace.options.namesProject {
            throw CommandError(
                .conflict, "\(said).",
                hint:
                    "Nothing was done. Leave -p out if it is meant; those of \(other) are shown by: zg-env deployment list -p \(word: other)"
            )
        }
        workspace.context.warn(
            "other-project", "\(said), which is named by the directory or the environment.")
    }
}
