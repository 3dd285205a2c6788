internal import JSON

/// What ties a directory to a project: the Vercel CLI's `.vercel/project.json` or `repo.json`, or
/// `.zg-env.json` for a project that lives only in the vault.
struct LinkFile: Equatable {
    /// What a link names.
    enum Target: Equatable {
        /// A project of the platform.
        case platform(project: String, organisation: String)
        /// A project of the vault.
        case local(String)
    }

    /// The file.
    let path: String
    /// The directory it stands for, without symbolic links.
    let directory: String
    /// What it names.
    let target: Target

    /// Where the Vercel CLI keeps its link, below a directory.
    static let platformPath = ".vercel/project.json"
    private static let repositoryPath = ".vercel/repo.json"
    /// Where a link to a project of the vault is kept, below a directory.
    static let localPath = ".zg-env.json"

    /// The link of exactly `directory`, whoever owns it; nil where there is none.
    static func at(_ directory: String) throws -> LinkFile? {
        guard let (name, path) = files(in: directory).first else { return nil }
        return try read(path, name: name, at: directory, from: directory)
    }

    /// Finds the nearest link at `directory` or above, as far as the git repository that it is in reaches:
    /// a clone in an approved directory is not covered by that one's link. Where there is no repository it
    /// looks up to the root.
    ///
    /// - Parameters:
    ///   - directory: A path without symbolic links.
    ///   - warn: Told of files that are passed over because somebody else owns them.
    /// - Throws: ``ExitCode/usage`` for a link that cannot be read, and for one outside of the repository.
    static func nearest(
        to directory: String, user: UInt32, warn: (String) -> Void
    ) throws -> LinkFile? {
        var current = directory
        while true {
            for (name, path) in files(in: current) {
                guard FileKind.owner(path) == user else {
                    warn("\(path) belongs to another user and is passed over.")
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

    /// The files of links that are in a directory, in the order in which they count.
    private static func files(in directory: String) -> [(name: String, path: String)] {
        [localPath, platformPath, repositoryPath].compactMap { name in
            let path = "\(directory == "/" ? "" : directory)/\(name)"
            return FileKind.isFile(path) ? (name, path) : nil
        }
    }

    /// Whether this is a further work tree of the very repository that it lies in.
    private static func isNestedWorkTree(_ root: RepositoryRoot) -> Bool {
        guard root.isFurtherWorkTree, let repository = root.repository,
            let above = RealPath.above(root.path)
        else { return false }
        return RepositoryRoot.nearest(to: above)?.repository == repository
    }

    /// Says of a link above a repository that it does not count there.
    private static func refuseLink(above root: String, _ user: UInt32) throws {
        var current = RealPath.above(root)
        while let directory = current {
            let found = files(in: directory).first { FileKind.owner($0.path) == user }
            if let found {
                throw CommandError(
                    .usage,
                    "The link \(found.path) does not count in \(root), which is a git repository of "
                        + "its own.",
                    hint: "Run in that directory: zg-env link "
                        + "\(found.name == localPath ? "--local " : "")NAME, or name the project with "
                        + "-p.")
            }
            current = RealPath.above(directory)
        }
    }

    private struct Content: Decodable {
        var projectId: String?
        var orgId: String?
        var project: String?
    }

    private struct Repository: Decodable {
        struct VaultProject: Decodable {
            var id: String
            var directory: String?
            var orgId: String?
        }
        var orgId: String?
        var projects: [VaultProject]
    }

    private static func read(
        _ path: String, name: String, at base: String, from directory: String
    ) throws -> LinkFile? {
        guard let bytes = SmallFile.bytes(path) else {
            throw CommandError(.usage, "\(path) cannot be read.", hint: "Give the project with -p.")
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
                    target: .platform(project: project, organisation: organisation))
            }
        } catch {
            // Fall through to the one message: what the decoder says helps nobody.
        }
        throw CommandError(
            .usage, "\(path) is no link to a project.",
            hint: "Make a new one with: zg-env link")
    }

    /// The project of a repository whose directory holds `directory`, the deepest one.
    private static func link(
        of repository: Repository, path: String, base: String, directory: String
    ) -> LinkFile? {
        let prefix = base == "/" ? "/" : base + "/"
        let below = directory == base ? "" : String(directory.dropFirst(prefix.count))
        let matches = repository.projects.filter { project in
            let folder = project.directory ?? "."
            return folder == "." || folder.isEmpty || below == folder
                || below.hasPrefix(folder + "/")
        }
        let deepest = matches.max {
            ($0.directory ?? ".").utf8.count < ($1.directory ?? ".").utf8.count
        }
        guard let deepest, let organisation = deepest.orgId ?? repository.orgId else { return nil }
        let folder = deepest.directory ?? "."
        return LinkFile(
            path: path, directory: folder == "." || folder.isEmpty ? base : prefix + folder,
            target: .platform(project: deepest.id, organisation: organisation))
    }
}
