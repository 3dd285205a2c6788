internal import CommandLineKit
internal import Glibc
internal import Vault

/// Finds the project of a command.
///
/// In order: `--project` and ZG_ENV_PROJECT; VERCEL_ORG_ID with VERCEL_PROJECT_ID; the nearest link
/// file, once this vault has approved it.
struct ProjectResolver {
    enum Reference: Equatable {
        /// A project by name, which may not exist.
        case named(String)
        /// A Vercel project by id.
        case platform(project: String, organisation: String)
        /// A directory's link, which is only valid once approved.
        case link(LinkFile)
    }

    private let workspace: Workspace

    init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    /// Returns the reference in the options, the environment or the directory.
    ///
    /// - Parameter warns: Whether to warn of links that are ignored.
    /// - Throws: ``ExitCode/usage`` without one.
    func reference(warns: Bool = true) throws -> Reference {
        if let found = try given(warns: warns) { return found }
        throw CommandError(
            .usage, "No project given.",
            hint: Self.workTreeHint(workspace)
                ?? "Use -p NAME, or link this directory with: zg-env link NAME (or --local NAME, without Vercel)"
        )
    }

    /// Returns how to link a work tree beside its repository to the project of the main work tree;
    /// nil elsewhere.
    static func workTreeHint(_ workspace: Workspace) -> String? {
        let directory = workspace.context.workingDirectory
        return LinkFile.inMainWorkTree(of: directory, user: geteuid()).map { link in
            let option = if case .local = link.target { "--local " } else { "" }
            return
                "The main worktree is linked to \(link.name) (\(link.directory)). Link this one with: zg-env link \(option)\(word: link.name)"
        }
    }

    /// Returns the reference in the options, the environment or the directory; nil without one.
    ///
    /// - Parameter warns: Whether to warn of links that are ignored.
    func given(warns: Bool = true) throws -> Reference? {
        if let name = workspace.options.project {
            try Self.check(name)
            return .named(name)
        }
        let context = workspace.context
        let organisation = context.variable("VERCEL_ORG_ID")
        let project = context.variable("VERCEL_PROJECT_ID")
        if let organisation, let project {
            return .platform(project: project, organisation: organisation)
        }
        if organisation != nil || project != nil {
            throw CommandError(
                .usage, "Only one of VERCEL_ORG_ID and VERCEL_PROJECT_ID is set.",
                hint: "Set both, or neither.")
        }
        let link = try LinkFile.nearest(to: context.workingDirectory, user: geteuid()) {
            if warns { context.warn("foreign-link", $0) }
        }
        return link.map { .link($0) }
    }

    /// Returns the project in the vault.
    ///
    /// - Throws: ``ExitCode/notFound`` if it does not exist.
    func existing(in index: VaultIndex) throws -> VaultProject {
        switch try reference() {
        case .named(let name):
            if let project = index.project(named: name) { return project }
            throw Self.notFound(name, in: index)
        case .platform(let id, let organisation):
            return try Self.bound(to: id, organisation, in: index)
        case .link(let link):
            return try approved(link, in: index)
        }
    }

    /// Returns the project in the vault; nil if it cannot be found.
    ///
    /// - Throws: What ``existing(in:)`` throws if `-p` names it.
    func existingIfGiven(in index: VaultIndex) throws -> VaultProject? {
        workspace.options.namesProject ? try existing(in: index) : try? existing(in: index)
    }

    /// Returns the project in the vault, or the name of a new one.
    func existingOrNew(in index: VaultIndex) throws -> (project: VaultProject?, name: String) {
        if case .named(let name) = try reference() {
            return (index.project(named: name), name)
        }
        let project = try existing(in: index)
        return (project, project.name)
    }

    private static func bound(
        to id: String, _ organisation: String, in index: VaultIndex
    ) throws -> VaultProject {
        let match = index.projects.first {
            $0.binding?.projectID == id
                && ($0.binding?.teamID ?? $0.binding?.accountID) == organisation
        }
        if let match { return match }
        throw CommandError(
            .notFound,
            "No project in the vault is linked to the Vercel project \(id).",
            hint: "Link a project with: zg-env link NAME")
    }

    /// Requires approval of the link: a directory may come from a cloned repository, and foreign code must
    /// not choose whose secrets it gets.
    private func approved(_ link: LinkFile, in index: VaultIndex) throws -> VaultProject {
        if let project = Self.approvedProject(of: link, in: index) { return project }
        let isKnown = Self.approval(of: link, in: index) != nil
        let changed =
            isKnown ? "has changed since it was approved" : "is not approved for this vault"
        throw CommandError(
            .usage, "The link \(link.path) \(changed).",
            hint: "Approve the link with: zg-env link, or specify the project with -p.")
    }

    /// Returns the project that this vault has approved a link for; nil if it has not.
    static func approvedProject(of link: LinkFile, in index: VaultIndex) -> VaultProject? {
        guard let known = approval(of: link, in: index),
            (known.project, known.organisation) == link.target.fields
        else {
            return nil
        }
        return index.project(known.vaultProject)
    }

    /// Paths are compared by their bytes: equal texts may be two directories.
    private static func approval(
        of link: LinkFile, in index: VaultIndex
    ) -> IndexMetadata.ApprovedDirectory? {
        index.metadata.approvedDirectories.first {
            $0.path.utf8.elementsEqual(link.directory.utf8)
        }
    }

    static func notFound(_ name: String, in index: VaultIndex) -> CommandError {
        let names = index.projects.map(\.name)
        let near = Suggestion.nearest(to: name, among: names)
        return CommandError(
            .notFound, "The vault has no project \(name).",
            hint: near.map { "Did you mean \($0)?" }
                ?? "List the projects with: zg-env projects")
    }

    /// Refuses names that are ambiguous or contain control characters.
    static func check(_ name: String) throws {
        let isPlain =
            !name.isEmpty && name.utf8.count <= VaultFormat.nameLimit
            && DisplayText.safe(name) == name && !name.contains("/")
        guard isPlain else {
            throw CommandError(
                .usage,
                "The project name is not valid: it is empty, too long, or contains a slash or control characters."
            )
        }
    }
}
