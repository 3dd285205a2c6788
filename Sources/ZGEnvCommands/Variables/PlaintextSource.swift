internal import DotEnv
internal import JSON
internal import Sealing
internal import Searching
internal import SystemFiles
internal import Vault

/// What plain files hold: keys in order, values in guarded memory, comments, and what readers of
/// `.env` files would disagree about.
struct PlaintextSource {
    /// How files are read.
    struct Options {
        /// nil for the default, or what a file says it is.
        var dialect: DotEnvDialect?
        /// Whether `$NAME` is replaced by what the same file sets.
        var expands = false
        /// Whether comments above keys are kept.
        var takesComments = false
        /// Whether names and values must be such that a vault takes them.
        var isForVault = true
        /// What a failure left undone, for messages.
        var consequence = "Nothing was imported."
    }

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
    private(set) var files: [String: FileFacts] = [:]
    private(set) var findings: [Finding] = []
    /// What stands in comments above keys.
    private(set) var comments: [String: PlaintextComment] = [:]
    private var values: [String: SecretSlice] = [:]
    /// What no comment may hold: every value that was read, also one that a later one replaced.
    private var unspeakable: [SecretSlice] = []
    private let arena = SecretArena()
    private let options: Options

    init(_ options: Options = Options()) {
        self.options = options
    }

    /// The value of a key.
    func value(of key: String) -> SecretSlice? { values[key] }

    /// Reads one more file; its values win over those of earlier ones.
    ///
    /// - Parameters:
    ///   - path: A file, or `-` for stdin.
    ///   - progress: Told now and then how many keys there are so far.
    mutating func read(_ path: String, progress: (Int) -> Void = { _ in }) throws {
        let limit = DotEnvReader.maximumSize
        // Taken before reading: what is written meanwhile then shows as a change.
        if path != "-" { files[path] = FileFacts(regularFile: path) }
        let text: SecretBuffer
        do {
            text =
                path == "-"
                ? try SecretInput.read(descriptor: 0, limit: limit, what: "stdin")
                : try SecretInput.read(path: path, limit: limit, what: "The file")
        } catch var error as CommandError {
            error.hint = options.consequence
            throw error
        }
        let name = path == "-" ? "stdin" : path
        try text.withBytes { try read($0, named: name, progress: progress) }
    }

    /// Reads a text that is at hand, of `name` in messages; see ``read(_:progress:)``.
    mutating func read(
        _ source: RawSpan, named name: String, progress: (Int) -> Void = { _ in }
    ) throws {
        let chosen = options.dialect ?? DotEnvReader.detectedDialect(of: source) ?? .dotenv
        do {
            try keep(DotEnvReader.read(source, as: chosen), from: source, name, progress)
        } catch let error as DotEnvError {
            throw CommandError(
                .usage, "\(name): \(error.description).",
                hint: options.consequence)
        }
    }

    private mutating func keep(
        _ file: DotEnvFile, from source: RawSpan, _ name: String, _ progress: (Int) -> Void
    ) throws {
        let expansion =
            options.expands || file.dialect.expands
            ? try DotEnvExpansion(file, in: source) : nil
        findings += (file.diagnostics + (expansion?.diagnostics ?? []))
            .sorted { $0.position < $1.position }
            .map { Finding(file: name, diagnostic: $0) }
        let indices = file.effectiveIndices
        if options.takesComments { try keepUnspeakable(file, from: source, besides: indices) }
        values.reserveCapacity(values.count + indices.count)
        for (number, index) in indices.enumerated() {
            if number.isMultiple(of: 1_024) { progress(keys.count) }
            let entry = file.entries[index]
            try keep(
                entry, from: source, name, length: expansion?.expandedLength(of: index)
            ) { target in
                guard let expansion else { return entry.decodeValue(in: source, into: &target) }
                return expansion.expandValue(of: index, in: source, into: &target)
            }
            if options.takesComments {
                if let value = values[entry.key] { unspeakable.append(value) }
                comments[entry.key] = file.comment(above: index, in: source).flatMap {
                    PlaintextComment(cleaning: $0)
                }
            }
        }
    }

    /// Values as they are written, before escapes and references mean something, and those that a later
    /// line replaces.
    private mutating func keepUnspeakable(
        _ file: DotEnvFile, from source: RawSpan, besides effective: [Int]
    ) throws {
        let effective = Set(effective)
        for (index, entry) in file.entries.enumerated() {
            let raw = source.extracting(entry.valueRange)
            if raw.byteCount >= ValuePatterns.shortest {
                unspeakable.append(try arena.copy(raw))
            }
            if effective.contains(index) { continue }
            let slice = try arena.allocate(count: entry.decodedLength(in: source))
            _ = slice.withMutableBytes { entry.decodeValue(in: source, into: &$0) }
            unspeakable.append(slice)
        }
    }

    /// Leaves out of the comments what is a value of any of the files: once all were read.
    mutating func takeValuesOutOfComments() throws {
        var rest = comments.isEmpty ? [] : unspeakable[...]
        while !rest.isEmpty {
            // A search takes many times the memory of what it looks for.
            var byteCount = 0
            let portion = rest.prefix { value in
                defer { byteCount += value.count }
                return byteCount < 1 << 20
            }
            rest = rest.dropFirst(portion.count)
            let search = try ValuePatterns(Array(portion), hasLines: true)
            comments = comments.mapValues { $0.leavingOut(search) }
        }
    }

    private mutating func keep(
        _ entry: DotEnvEntry, from source: RawSpan, _ file: String, length expanded: Int?,
        decode: (inout MutableRawSpan) -> Int?
    ) throws {
        let length = expanded ?? entry.decodedLength(in: source)
        let place = "\(file):\(entry.position.line):\(entry.position.column)"
        if options.isForVault {
            guard length <= VaultFormat.valueLimit else {
                throw CommandError(
                    .usage,
                    "\(place): the value of \(entry.key) is longer than 1 MiB.",
                    hint: options.consequence)
            }
            guard !entry.key.isEmpty, entry.key.utf8.count <= VaultFormat.nameLimit else {
                throw CommandError(
                    .usage, "\(place): a name is empty or longer than 1 KiB.",
                    hint: options.consequence)
            }
        }
        let slice = try arena.allocate(count: length)
        let written = slice.withMutableBytes { decode(&$0) }
        guard written == length else {
            throw CommandError(.failed, "\(place): the value could not be read.")
        }
        if values.updateValue(slice, forKey: entry.key) == nil { keys.append(entry.key) }
    }

    /// How many findings are shown; `--json` has all.
    private static let shownFindings = 5

    /// Shows what readers disagree about.
    ///
    /// - Parameter strict: Whether there must be none.
    func report(_ workspace: Workspace, strict: Bool = false) throws {
        // One line in place of one more would say nothing that the line does not.
        let isCut = findings.count > Self.shownFindings + 1
        for finding in findings.prefix(isCut ? Self.shownFindings : findings.count) {
            workspace.note(finding.line)
        }
        if isCut {
            workspace.note("and \(findings.count - Self.shownFindings) more (all with --json)")
        }
        if strict, let first = findings.first {
            throw CommandError(
                .usage,
                "\(findings.count) \(findings.count == 1 ? "place is" : "places are") read differently by other readers; the first is \(first.line).",
                hint: options.consequence.dropLast() + ", because of --strict.")
        }
    }
}
