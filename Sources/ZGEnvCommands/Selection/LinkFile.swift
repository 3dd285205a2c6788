internal import JSON
internal import SystemFiles

/// The link of a directory to a project: the Vercel CLI's `.vercel/project.json` or `repo.json`, or
/// `.zg-env.json` for a project that is only in the vault.
struct LinkFile: Equatable {
    enum Target: Equatable {
        /// A Vercel project.
        case platform(project: String, organisation: String)
        /// A project of the vault.
        case local(String)

        /// The fields of an approval; the organisation of a project of the vault is empty.
        var fields: (project: String, organisation: String) {
            switch self {
            case .platform(let project, let organisation): (project, organisation)
            case .local(let name): (name, "")
            }
        }
    }

    let path: String
    /// The linked directory, without symbolic links.
    let directory: String
    let target: Target
    /// The project's name on Vercel according to the file, which nothing has checked.
    var vercelName: String?

    /// The name of the project as far as the file has it.
    var name: String {
        switch target {
        case .platform(let id, _): vercelName ?? id
        case .local(let name): name
        }
    }

    /// The folder of the Vercel CLI in a directory.
    static let folder = ".vercel"
    /// The path of the Vercel CLI's link in a directory.
    static let vercelPath = "\(folder)/project.json"
    private static let repositoryPath = "\(folder)/repo.json"
    /// The path of a link to a project of the vault in a directory.
    static let localPath = ".zg-env.json"

    /// Returns the link of exactly `directory`, regardless of its owner; nil if it does not exist.
    static func at(_ directory: String) throws -> LinkFile? {
        guard let (name, path) = files(in: directory).first else { return nil }
        return try read(path, name: name, at: directory, from: directory)
    }

    /// Finds the nearest link at or above `directory`, within its git repository: the link of an approved
    /// directory does not cover a clone inside it. Outside of a repository it searches up to the root.
    ///
    /// - Parameters:
    ///   - directory: A path without symbolic links.
    ///   - warn: Called with a message for each file that is ignored because of its owner.
    /// - Throws: ``ExitCode/usage`` for a link that cannot be read, and for one outside the repository.
    static func nearest(
        to directory: String, user: UInt32, warn: (String) -> Void
    ) throws -> LinkFile? {
        var current = directory
        while true {
            for (name, path) in files(in: current) {
                guard FileKind.owner(path) == user else {
                    warn("\(path) belongs to another user and is ignored.")
                    continue
                }
                if let link = try read(path, name: name, at: current, from: directory) {
                    return link
                }
            }
            if let root = RepositoryRoot.at(current), !isNestedWorkTree(root) {
                try refuseLink(above: root.path, user)
                return nil
            }
            guard let above = RealPath.above(current) else { return nil }
            current = above
        }
    }

    /// Finds, for a directory in a linked work tree, the link of the same directory in the main work
    /// tree. It does not apply: it only helps to name the project.
    static func inMainWorkTree(of directory: String, user: UInt32) -> LinkFile? {
        guard let root = RepositoryRoot.nearest(to: directory), root.isLinkedWorkTree,
            let repository = root.repository, FileReplacement.name(of: repository) == ".git",
            let main = RealPath.above(repository)
        else { return nil }
        let below = String(directory.utf8.dropFirst(root.path.utf8.count)) ?? ""
        return try? nearest(to: main + below, user: user) { _ in }
    }

    /// Returns the link files in a directory, in order of precedence.
    private static func files(in directory: String) -> [(name: String, path: String)] {
        [localPath, vercelPath, repositoryPath].compactMap { name in
            let path = "\(directory == "/" ? "" : directory)/\(name)"
            return FileKind.isFile(path) ? (name, path) : nil
        }
    }

    /// Whether this is a linked work tree inside its own repository.
    private static func isNestedWorkTree(_ root: RepositoryRoot) -> Bool {
        guard root.isLinkedWorkTree, let repository = root.repository,
            let above = RealPath.above(root.path)
        else { return false }
        return RepositoryRoot.nearest(to: above)?.repository == repository
    }

    /// Throws if there is a link above a repository, where it does not apply.
    private static func refuseLink(above root: String, _ user: UInt32) throws {
        var current = RealPath.above(root)
        while let directory = current {
            let found = files(in: directory).first { FileKind.owner($0.path) == user }
            if let found {
                throw CommandError(
                    .usage,
                    "The link \(found.path) does not apply in \(root), which is a separate git "
                        + "repository.",
                    hint: "Run in that directory: zg-env link "
                        + "\(found.name == localPath ? "--local " : "")NAME, or specify the project "
                        + "with -p.")
            }
            current = RealPath.above(directory)
        }
    }

    private struct Content: Decodable {
        var projectId: String?
        var orgId: String?
        var projectName: String?
        var project: String?
    }

    private struct Repository: Decodable {
        struct VaultProject: Decodable {
            var id: String
            var name: String?
            var directory: String?
            var orgId: String?

            /// The folder in the repository; empty for its root.
            var folder: String { directory == "." ? "" : directory ?? "" }
        }
        var orgId: String?
        var projects: [VaultProject]
    }

    private static func read(
        _ path: String, name: String, at base: String, from directory: String
    ) throws -> LinkFile? {
        guard let bytes = SmallFile.bytes(path) else {
            throw CommandError(
                .usage, "\(path) cannot be read.", hint: "Specify the project with -p.")
        }
        do {
            if name == repositoryPath {
                let repository = try JSONDecoder().decode(Repository.self, from: bytes)
                return link(of: repository, path: path, base: base, directory: directory)
            }
            let content = try JSONDecoder().decode(Content.self, from: bytes)
            if name == localPath, let project = content.project {
                return LinkFile(path: path, directory: base, target: .local(project))
            }
            if let project = content.projectId, let organisation = content.orgId {
                return LinkFile(
                    path: path, directory: base,
                    target: .platform(project: project, organisation: organisation),
                    vercelName: content.projectName)
            }
        } catch {
            // Fall through: the decoder's own message would not help.
        }
        throw CommandError(
            .usage, "\(path) is not a valid link to a project.",
            hint: "Create a new one with: zg-env link")
    }

    /// Returns the link to the project with the deepest directory that contains `directory`.
    private static func link(
        of repository: Repository, path: String, base: String, directory: String
    ) -> LinkFile? {
        let prefix = base == "/" ? "/" : base + "/"
        let below = directory == base ? "" : String(directory.dropFirst(prefix.count))
        let matches = repository.projects.filter { project in
            let folder = project.folder
            return folder.isEmpty || below == folder || below.hasPrefix(folder + "/")
        }
        let deepest = matches.max { $0.folder.utf8.count < $1.folder.utf8.count }
        guard let deepest, let organisation = deepest.orgId ?? repository.orgId else { return nil }
        return LinkFile(
            path: path, directory: deepest.folder.isEmpty ? base : prefix + deepest.folder,
            target: .platform(project: deepest.id, organisation: organisation),
            vercelName: deepest.name)
    }
}
