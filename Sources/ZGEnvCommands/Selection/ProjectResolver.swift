internal import CommandLineKit
internal import Glibc
internal import Vault

/// Finds the project that a command means.
///
/// In order: `--project` and ZG_ENV_PROJECT; VERCEL_ORG_ID with VERCEL_PROJECT_ID; the nearest link
/// file, once this vault has approved it.
struct ProjectResolver {
    /// What a command means.
    enum Reference: Equatable {
        /// A project by name, which may not be there.
        case named(String)
        /// A project of the platform by id.
        case platform(project: String, organisation: String)
        /// A directory's link, which counts once it is approved.
        case link(LinkFile)
    }

    private let workspace: Workspace

    init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    /// What the options, the environment and the directory name.
    ///
    /// - Throws: ``ExitCode/usage`` when nothing names a project.
    func reference() throws -> Reference {
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
                .usage, "Of VERCEL_ORG_ID and VERCEL_PROJECT_ID only one is set.",
                hint: "Set both, or neither.")
        }
        let link = try LinkFile.nearest(to: context.workingDirectory, user: geteuid()) {
            context.warn("foreign-link", $0)
        }
        if let link { return .link(link) }
        throw CommandError(
            .usage, "No project is named.",
            hint: "Give -p NAME, set ZG_ENV_PROJECT, or tie this directory with: zg-env link")
    }

    /// What a value that is given out depends on, beside its record: how its project was found.
    func naming() throws -> CheckpointUse.Values.Naming {
        switch try reference() {
        case .named: .name
        case .platform: .binding
        case .link(let link): .directory(link.directory)
        }
    }

    /// The project in the vault.
    ///
    /// - Throws: ``ExitCode/notFound`` when the vault has none of that name.
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

    /// The project in the vault, or the name of one to be made.
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
            "No project of the vault is bound to the platform's \(id).",
            hint: "Bind one with: zg-env link NAME")
    }

    /// A directory may have come with a cloned repository, so its link counts only once this vault
    /// has approved it: otherwise foreign code could choose whose secrets it is handed.
    private func approved(_ link: LinkFile, in index: VaultIndex) throws -> VaultProject {
        let known = index.metadata.approvedDirectories.first { $0.path == link.directory }
        if let known, Self.matches(known, link), let project = index.project(known.vaultProject) {
            return project
        }
        let changed =
            known == nil
            ? "has not been approved for this vault" : "was changed since it was approved"
        throw CommandError(
            .usage, "The link \(link.path) \(changed).",
            hint: "Run: zg-env link, or name the project with -p.")
    }

    private static func matches(
        _ approval: IndexMetadata.ApprovedDirectory, _ link: LinkFile
    ) -> Bool {
        switch link.target {
        case .platform(let project, let organisation):
            approval.project == project && approval.organisation == organisation
        case .local(let name): approval.project == name && approval.organisation.isEmpty
        }
    }

    static func notFound(_ name: String, in index: VaultIndex) -> CommandError {
        let names = index.projects.map(\.name)
        let near = Suggestion.nearest(to: name, among: names)
        return CommandError(
            .notFound, "There is no project \(name) in the vault.",
            hint: near.map { "Did you mean \($0)?" }
                ?? "See what is there with: zg-env list --all-projects")
    }

    /// Refuses names that could not be told from other things, or steer a terminal.
    static func check(_ name: String) throws {
        let isPlain =
            !name.isEmpty && name.utf8.count <= VaultFormat.nameLimit
            && DisplayText.safe(name) == name && !name.contains("/")
        guard isPlain else {
            throw CommandError(
                .usage,
                "That is no name for a project: it is empty, too long, or has characters that cannot be shown."
            )
        }
    }
}
