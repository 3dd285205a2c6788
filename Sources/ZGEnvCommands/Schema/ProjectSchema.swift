internal import EnvSchema
internal import Glibc
internal import SystemFiles
internal import Vault

/// The file that declares the variables of a project, and what it declares for each target.
final class ProjectSchema {
    /// The files that a linked directory may have, in order of precedence.
    static let fileNames = [".env.schema", ".env.example", ".env.sample"]

    let path: String
    private let bytes: [UInt8]
    let notation: Schema.Notation
    private let imports: RepositoryImports
    private var schemas: [String?: Schema] = [:]

    /// - Throws: ``ExitCode/usage`` if it cannot be read.
    ///
    /// - Parameter waits: Whether to wait for the writer of a pipe.
    private init(_ path: String, notation: Schema.Notation?, waits: Bool = false) throws {
        guard
            let bytes = OpenFile.wholeBytes(
                of: path, limit: SchemaReader.maximumSize, waits: waits)
        else {
            throw CommandError(
                .usage, "The schema \(path) cannot be read.",
                hint: FileKind.isTaken(path)
                    ? "It must be a readable file of at most 1 MiB." : "There is no such file.")
        }
        self.path = path
        self.bytes = bytes
        self.notation =
            notation ?? SchemaReader.notation(of: bytes, fileName: Self.fileName(of: path))
        imports = RepositoryImports(of: path)
    }

    var fileName: String { Self.fileName(of: path) }

    static func fileName(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Reads what is declared for a target, or, without one, in general.
    ///
    /// - Throws: ``ExitCode/usage`` with the line.
    func schema(for target: String?) throws -> Schema {
        do throws(SchemaError) {
            return try read(for: target)
        } catch {
            throw CommandError(reading: error, path)
        }
    }

    func read(for target: String?) throws(SchemaError) -> Schema {
        // Only secretspec has profiles.
        let key = notation == .secretspec ? target : nil
        if let schema = schemas[key] { return schema }
        let schema = try SchemaReader.read(
            bytes, notation: notation, fileName: fileName, target: key,
            imports: imports)
        schemas[key] = schema
        return schema
    }

    /// Returns the schema that the options name, or that of the directory that this vault has approved
    /// for the project; nil without one.
    ///
    /// - Parameter project: The project of the command; nil without a vault.
    static func find(
        _ options: SchemaOptions, for project: VaultProject?, in index: VaultIndex?,
        _ workspace: Workspace
    ) throws -> ProjectSchema? {
        if let path = options.path {
            return try ProjectSchema(path, notation: options.notation, waits: true)
        }
        guard !workspace.options.ignoresSchema, let project, let index,
            let directory = try linkedDirectory(of: project, in: index, workspace)
        else { return nil }
        return try inDirectory(directory, options, workspace)
    }

    /// Returns the schema that the options name, or that of the project's linked directory.
    ///
    /// - Throws: ``ExitCode/usage`` without one.
    static func required(
        _ options: SchemaOptions, for project: VaultProject, in index: VaultIndex,
        _ workspace: Workspace
    ) throws -> ProjectSchema {
        if let found = try find(options, for: project, in: index, workspace) { return found }
        throw CommandError(
            .usage, "There is no schema for \(project.name).",
            hint:
                "Create .env.schema in the directory that is linked to the project, or use: --schema FILE"
        )
    }

    /// Returns the schema that the options name, which needs no vault, or that of the linked directory.
    static func readable(
        _ options: SchemaOptions, _ workspace: Workspace
    ) throws -> ProjectSchema {
        if let found = try find(options, for: nil, in: nil, workspace) { return found }
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        return try required(options, for: project, in: index, workspace)
    }

    /// Returns the schema in exactly this directory; nil if it has none.
    static func inDirectory(
        _ directory: String, _ options: SchemaOptions, _ workspace: Workspace
    ) throws -> ProjectSchema? {
        let root = RepositoryRoot.nearest(to: directory)?.path ?? directory
        for name in fileNames {
            let path = "\(directory == "/" ? "" : directory)/\(name)"
            guard FileKind.isFile(path) else { continue }
            guard FileKind.owner(path) == geteuid() else {
                workspace.context.warn(
                    "foreign-schema", "\(path) belongs to another user and is ignored.")
                continue
            }
            guard let real = RealPath.of(path), RealPath.isWithin(real, root) else {
                workspace.context.warn(
                    "foreign-schema",
                    "\(path) is a symbolic link to a file outside \(root) and is ignored.")
                continue
            }
            return try ProjectSchema(path, notation: options.notation)
        }
        return nil
    }

    /// Returns the nearest linked directory, if this vault has approved it for the project.
    private static func linkedDirectory(
        of project: VaultProject, in index: VaultIndex, _ workspace: Workspace
    ) throws -> String? {
        // Saves the search for most commands with `-p`.
        guard index.metadata.approvedDirectories.contains(where: { $0.vaultProject == project.id })
        else { return nil }
        let link: LinkFile?
        do {
            link = try LinkFile.nearest(
                to: workspace.context.workingDirectory, user: geteuid(), warn: { _ in })
        } catch is CommandError {
            return nil
        }
        guard let link, let approved = ProjectResolver.approvedProject(of: link, in: index),
            approved.id == project.id
        else { return nil }
        return link.directory
    }
}

extension CommandError {
    init(reading error: SchemaError, _ path: String) {
        let file = error.path.map { "\($0), imported by \(path)" } ?? path
        let place = error.line.map { "\(file), line \($0)" } ?? file
        switch error.code {
        case .syntax:
            self.init(
                .usage, "The schema cannot be read: \(place) is not valid.",
                hint: "See docs/schema.md for the syntax.")
        case .noProfile:
            self.init(.usage, "The schema cannot be read: \(file) has no profile.")
        case .tooLong:
            self.init(
                .usage,
                "The schema cannot be read: \(file) is longer than 1 MiB, or declares too many variables."
            )
        case .notText:
            self.init(.usage, "The schema cannot be read: \(place) is not UTF-8 text.")
        }
    }
}
