internal import CommandLineKit
internal import DotEnv
internal import Sealing
internal import Vault

/// What files for `import` hold: keys in order, values in guarded memory, and what readers of
/// `.env` files would disagree about.
struct ImportSource {
    /// A diagnostic and the file it is about.
    struct Finding {
        let file: String
        let diagnostic: DotEnvDiagnostic

        /// As on stderr: `FILE:LINE:COL: CODE KEY: text`.
        var line: String {
            let key = diagnostic.key.map { " \($0)" } ?? ""
            let place = "\(file):\(diagnostic.position.line):\(diagnostic.position.column)"
            return "\(place): \(diagnostic.code.rawValue)\(key): \(diagnostic.message)"
        }

        var json: JSONValue {
            [
                "file": .string(file), "line": .integer(Int64(diagnostic.position.line)),
                "column": .integer(Int64(diagnostic.position.column)),
                "key": .string(orNull: diagnostic.key), "code": .string(diagnostic.code.rawValue),
                "message": .string(diagnostic.message),
            ]
        }
    }

    private(set) var keys: [String] = []
    /// The files as they were when they were read, by path.
    private(set) var files: [String: FileStamp] = [:]
    private(set) var findings: [Finding] = []
    private var values: [String: SecretSlice] = [:]
    private let arena = SecretArena()

    /// The value of a key.
    func value(of key: String) -> SecretSlice? { values[key] }

    /// Reads one more file; its values win over those of earlier ones.
    ///
    /// - Parameters:
    ///   - path: A file, or `-` for stdin.
    ///   - dialect: nil for the default, or what the file says it is.
    mutating func read(_ path: String, dialect: DotEnvDialect?) throws {
        let limit = DotEnvReader.maximumSize
        // Taken before reading: what is written meanwhile then shows as a change.
        if path != "-" { files[path] = FileStamp(path) }
        let text =
            path == "-"
            ? try SecretInput.read(descriptor: 0, limit: limit, what: "stdin")
            : try SecretInput.read(path: path, limit: limit, what: "The file")
        let name = path == "-" ? "stdin" : path
        try text.withBytes { try read($0, named: name, dialect: dialect) }
    }

    /// Reads a text that is at hand; see ``read(_:dialect:)``.
    mutating func read(_ source: RawSpan, named name: String, dialect: DotEnvDialect?) throws {
        let chosen = dialect ?? DotEnvReader.detectedDialect(of: source) ?? .dotenv
        let file: DotEnvFile
        do throws(DotEnvError) {
            file = try DotEnvReader.read(source, as: chosen)
        } catch {
            throw CommandError(
                .usage, "\(DisplayText.safe(name)): \(error.description).",
                hint: "Nothing was imported.")
        }
        findings += file.diagnostics.map { Finding(file: name, diagnostic: $0) }
        for entry in file.effectiveEntries { try keep(entry, from: source, name) }
    }

    private mutating func keep(_ entry: DotEnvEntry, from source: RawSpan, _ file: String) throws {
        let length = entry.decodedLength(in: source)
        let place = "\(DisplayText.safe(file)):\(entry.position.line):\(entry.position.column)"
        guard length <= VaultFormat.valueLimit else {
            throw CommandError(
                .usage,
                "\(place): the value of \(DisplayText.safe(entry.key)) is longer than 1 MiB.",
                hint: "Nothing was imported.")
        }
        guard !entry.key.isEmpty, entry.key.utf8.count <= VaultFormat.nameLimit else {
            throw CommandError(
                .usage, "\(place): a name is empty or longer than 1 KiB.",
                hint: "Nothing was imported.")
        }
        let slice = try arena.allocate(count: length)
        let written = slice.withMutableBytes { entry.decodeValue(in: source, into: &$0) }
        guard written == length else {
            throw CommandError(.failed, "\(place): the value could not be read.")
        }
        if values.updateValue(slice, forKey: entry.key) == nil { keys.append(entry.key) }
    }
}
