internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

/// Writes the link file of a directory, and approves the directory in the vault.
struct DirectoryLink {
    private let workspace: Workspace
    private let replaces: Bool

    /// - Parameter replaces: Whether to replace a link to another project.
    init(_ workspace: Workspace, replaces: Bool = false) {
        (self.workspace, self.replaces) = (workspace, replaces)
    }

    /// Returns the path of the link file for a target.
    static func path(of target: LinkFile.Target, at directory: String) -> String {
        switch target {
        case .platform: "\(directory)/\(LinkFile.vercelPath)"
        case .local: "\(directory)/\(LinkFile.localPath)"
        }
    }

    /// Writes the link file unless the directory has the same link. In a git repository, git ignores
    /// the directory of a link to Vercel then.
    ///
    /// - Parameters:
    ///   - name: The name of the Vercel project, which the Vercel CLI shows.
    ///   - local: The project's name in the vault. A link to that name alone is replaced.
    /// - Returns: The `.gitignore` that was changed, or would be by a dry run; nil for none.
    /// - Throws: ``ExitCode/conflict`` for a link to another project, unless it may be replaced.
    func write(
        _ target: LinkFile.Target, name: String, local: String, at directory: String
    ) throws -> String? {
        let path = Self.path(of: target, at: directory)
        let present = try LinkFile.at(directory)
        if let present, present.target == target { return nil }
        let isOwn = present?.target == .local(local)
        // A link to the vault's project excuses its own file alone, not one of the Vercel CLI beside it.
        let isTaken =
            isOwn
            ? present?.path != path && FileKind.isTaken(path)
            : present != nil || FileKind.isTaken(path)
        if isTaken, !replaces {
            throw CommandError(
                .conflict, "This directory is already linked to another project.",
                hint: "Use --force to replace that link.")
        }
        func ignored() -> String? {
            guard case .platform = target else { return nil }
            return ignore(LinkFile.folder, in: directory)
        }
        if workspace.options.dryRun { return ignored() }
        let content: JSONValue
        switch target {
        case .local(let project): content = ["project": .string(project)]
        case .platform(let project, let organisation):
            content = [
                "projectId": .string(project), "orgId": .string(organisation),
                "projectName": .string(name),
            ]
            let folder = "\(directory)/\(LinkFile.folder)"
            guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else {
                throw CommandError(.failed, "Cannot create \(folder).")
            }
        }
        var writer = JSONWriter(to: ByteBuffer())
        try writer.value(content)
        var text = try writer.finish()
        try text.write("\n")
        try PrivateFile.write(text.bytes, to: path, replaces: true)
        // It would be read first.
        if isOwn, let present, present.path != path { unsafe unlink(present.path) }
        return ignored()
    }

    /// Adds a name to the `.gitignore` of a directory in a git repository, as the Vercel CLI does,
    /// unless that file or one above has it. A failure is only a warning.
    ///
    /// - Returns: The path of the file; nil if nothing is to be added.
    private func ignore(_ name: String, in directory: String) -> String? {
        guard let root = RepositoryRoot.nearest(to: directory) else { return nil }
        let path = RealPath.joined(directory, ".gitignore")
        let above = sequence(first: directory, next: RealPath.above)
            .prefix { RealPath.isWithin($0, root.path) }
        let isIgnored = above.contains { place in
            Self.lines(of: SmallFile.bytes(RealPath.joined(place, ".gitignore")) ?? [])
                .contains {
                    // A pattern with a slash in front is for that directory alone.
                    [name, "\(name)/"].contains($0)
                        || place == directory && ["/\(name)", "/\(name)/"].contains($0)
                }
        }
        if isIgnored { return nil }
        if workspace.options.dryRun {
            workspace.note("Would add \(name) to \(path).")
            return path
        }
        do {
            try Self.append(name, to: path)
            workspace.note("Added \(name) to \(path).")
            return path
        } catch {
            workspace.context.warn(
                "not-ignored",
                "git does not ignore \(name). \(CommandError(mapping: error).message)")
            return nil
        }
    }

    private static func lines(of text: [UInt8]) -> [String] {
        text.split { $0 == 0x0A || $0 == 0x0D }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Adds a line to a file that exists or not. Never writes through a symbolic link, which may have
    /// come with the repository.
    private static func append(_ line: String, to path: String) throws {
        let old = FileFacts(regularFile: path)
        var text: [UInt8] = []
        if FileKind.isTaken(path) {
            guard old != nil, let found = SmallFile.bytes(path) else {
                throw CommandError(.failed, "\(path) is not a small regular file.")
            }
            text = found
        }
        let end: [UInt8] = text.contains(0x0D) ? [0x0D, 0x0A] : [0x0A]
        if let last = text.last, last != 0x0A { text += end }
        text += Array(line.utf8) + end
        try text.withBytes {
            try PrivateFile.write(
                $0, to: path, permissions: 0o644, keeping: old, replaces: old != nil)
        }
    }

    /// Approves a directory for a project, which is created if the vault does not have it.
    ///
    /// - Parameters:
    ///   - local: The project's name in the vault.
    ///   - binding: The Vercel project to link the vault project to; nil to leave its link alone.
    func approve(
        _ directory: String, _ target: LinkFile.Target, as local: String,
        binding: VaultProject.Binding?
    ) throws {
        if workspace.options.dryRun { return }
        let time = workspace.context.now()
        let (project, organisation) = target.fields
        let forgotten = try workspace.session.commit { transaction, _ -> Int in
            var forgotten = 0
            let vaultProject = transaction.project(named: local, at: time).project
            if let binding,
                let position = transaction.index.projects.firstIndex(where: {
                    $0.id == vaultProject.id
                })
            {
                forgotten = transaction.bind(projectAt: position, to: binding)
            }
            transaction.index.metadata.approve(
                .init(
                    path: directory, project: project, organisation: organisation,
                    vaultProject: vaultProject.id))
            return forgotten
        }
        if forgotten > 0 {
            workspace.note(
                "\(local) is now linked to another Vercel project; \(forgotten == 1 ? "1 variable is" : "\(forgotten) variables are") now treated as not pushed."
            )
        }
        workspace.note("Linked \(directory) to project \(local).")
    }
}
