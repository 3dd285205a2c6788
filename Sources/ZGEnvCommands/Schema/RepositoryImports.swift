internal import EnvSchema
internal import SystemFiles

/// Gives a schema the files that it imports: only those inside its repository, none through a link that
/// leads out of it.
struct RepositoryImports: SchemaImports {
    /// The repository's root without links; the schema's directory outside of a repository.
    private let root: String
    private let directory: String

    /// - Parameter path: Of the schema.
    init(of path: String) {
        let real = RealPath.of(path) ?? path
        directory = RealPath.above(real) ?? "/"
        root = RepositoryRoot.nearest(to: directory)?.path ?? directory
    }

    /// Whether a file of this name holds values by the conventions of other tools: those must not become
    /// defaults of a schema, which end up in generated files.
    private static func holdsValues(_ path: String) -> Bool {
        let name = ProjectSchema.fileName(of: path)
        let parts = name.lowercased().split(separator: ".")
        if let last = parts.last, ["schema", "example", "sample", "template"].contains(last) {
            return false
        }
        let places: Set<Substring> = [
            "local", "production", "prod", "live", "preview", "staging", "stage", "development",
            "dev", "test",
        ]
        return name == ".env" || !places.isDisjoint(with: parts)
    }

    /// The identity of a file is its path without links.
    func file(at path: String, importedFrom importer: String?) -> SchemaImport? {
        let from = importer.flatMap(RealPath.above) ?? directory
        guard !Self.holdsValues(path), !path.hasPrefix("/"), !path.hasPrefix("~"),
            !path.hasSuffix("/"),
            let real = RealPath.of("\(from)/\(path)"), RealPath.isWithin(real, root),
            !Self.holdsValues(real),
            FileKind.isRegularItself(real),
            let bytes = OpenFile.wholeBytes(of: real, limit: SchemaReader.maximumSize)
        else { return nil }
        return SchemaImport(text: bytes, identity: real)
    }
}
