internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Searching
internal import SystemFiles
internal import Vault

/// The content of `.env` files: keys in order, values in guarded memory, comments and diagnostics.
struct PlaintextSource {
    struct Options {
        /// nil detects the dialect of each file.
        var dialect: DotEnvDialect?
        /// Whether `$NAME` is replaced by its value in the same file.
        var expands = false
        /// Whether comments above keys are kept.
        var takesComments = false
        /// Whether names and values must fit the limits of a vault, and the rest of a value that a
        /// line break cuts is left out.
        var isForVault = true
        /// The custom environments that a file's name may name.
        var environments: Set<String> = []

        static let dialect = OptionSpec(
            "dialect", value: "D", "Parse as dialect D",
            form: .oneOf(DotEnvDialect.allCases.map(\.rawValue)))
        static let expand = OptionSpec(
            flag: "expand", "Replace $NAME and ${NAME:-default} with values from the file")
    }

    /// A diagnostic and the file it is about.
    struct Finding {
        let file: String
        let diagnostic: DotEnvDiagnostic

        /// The line on stderr: `FILE:LINE:COL: CODE KEY: text`.
        var line: String {
            let key = diagnostic.key.map { " \($0)" } ?? ""
            let place = "\(file):\(diagnostic.position.line):\(diagnostic.position.column)"
            return "\(place): \(diagnostic.code.rawValue)\(key): \(diagnostic.message)"
        }

        static let fields =
            "file: string; line, column: number; key: string | null; code, message: string"

        var json: JSONValue {
            [
                "file": .string(file), "line": .integer(Int64(diagnostic.position.line)),
                "column": .integer(Int64(diagnostic.position.column)),
                "key": .string(orNull: diagnostic.key), "code": .string(diagnostic.code.rawValue),
                "message": .string(diagnostic.message),
            ]
        }
    }

    /// A file that was read.
    struct File {
        /// As messages call it.
        let name: String
        let origin: FileOrigin
    }

    /// A variable of one file.
    struct Assignment {
        let key: String
        /// The index of the file.
        let file: Int
        let value: SecretSlice
        /// The comment above it.
        fileprivate(set) var comment: PlaintextComment?
    }

    /// A value that refers to another variable of its file, and stays as it is written.
    struct Reference {
        let file: String
        let key: String
        let name: String
    }

    private(set) var keys: [String] = []
    /// In the order in which they were read.
    private(set) var sources: [File] = []
    /// The variables of all files, each once for a file.
    private(set) var assignments: [Assignment] = []
    private(set) var references: [Reference] = []
    /// References to other variables of the same file that were replaced by their values.
    private(set) var insertions: [Reference] = []
    /// The state of each file before it was read, by path.
    private(set) var files: [String: FileFacts] = [:]
    private(set) var findings: [Finding] = []
    /// Number of comment lines that are not imported, by file.
    private(set) var droppedComments: [String: Int] = [:]
    private var values: [String: SecretSlice] = [:]
    /// The values that a later line of the same file replaces, which may be equal to that.
    private(set) var replaced: [(file: String, key: String, value: SecretSlice)] = []
    /// What no comment may contain: every value read, including those that a later line replaces.
    private var forbidden: [SecretSlice] = []
    private let arena = SecretArena()
    private let options: Options

    init(_ options: Options) {
        self.options = options
    }

    func value(of key: String) -> SecretSlice? { values[key] }

    /// Reads one more file, whose values win over those of earlier files.
    ///
    /// - Parameters:
    ///   - path: A file, or `-` for stdin.
    ///   - progress: Called every 1,024 keys with the number of keys so far.
    mutating func read(_ path: String, progress: (Int) -> Void = { _ in }) throws {
        let limit = DotEnvReader.maximumSize
        // Taken before reading, so that a write during the read counts as a change.
        if path != "-" { files[path] = FileFacts(regularFile: path) }
        let text =
            path == "-"
            ? try SecretInput.read(descriptor: 0, limit: limit, what: "stdin")
            : try SecretInput.read(path: path, limit: limit, what: "The file")
        let name = path == "-" ? "stdin" : path
        try text.withBytes {
            try read($0, named: name, path: path == "-" ? nil : path, progress: progress)
        }
    }

    /// Parses a text, which messages call `name`; see ``read(_:progress:)``.
    mutating func read(
        _ source: RawSpan, named name: String, path: String? = nil,
        progress: (Int) -> Void = { _ in }
    ) throws {
        let chosen =
            options.dialect ?? path.flatMap { DotEnvDialect(ofFile: $0) }
            ?? DotEnvReader.detectedDialect(of: source) ?? .dotenv
        guard !options.expands || !chosen.isDataFormat else {
            throw CommandError(
                .usage, "\(name): --expand does not apply to \(chosen.rawValue) files.",
                hint: "Leave out --expand.")
        }
        sources.append(
            File(
                name: name,
                origin: FileOrigin(
                    path: path, source, isVercelDialect: chosen == .vercelPull,
                    environments: options.environments)))
        do {
            try keep(DotEnvReader.read(source, as: chosen), from: source, name, progress)
        } catch let error as DotEnvError {
            throw CommandError(.usage, "\(name): \(error.description).")
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
        let indices = options.isForVault ? file.indicesWithoutPieces : file.effectiveIndices
        let found = file.references(in: source).map {
            Reference(file: name, key: $0.key, name: $0.name)
        }
        if expansion != nil {
            insertions += found
        } else if [.dotenv, .node, .compose].contains(file.dialect) {
            references += found
        }
        if options.takesComments { try keepForbidden(file, from: source) }
        droppedComments[name] = droppedCommentLines(of: file, in: source)
        values.reserveCapacity(values.count + indices.count)
        for (number, index) in indices.enumerated() {
            if number.isMultiple(of: 1_024) { progress(keys.count) }
            let entry = file.entries[index]
            try keep(
                entry, from: source, name, length: expansion?.expandedLength(of: index),
                comment: options.takesComments
                    ? file.comment(above: index, in: source).flatMap {
                        PlaintextComment(cleaning: $0)
                    } : nil
            ) { target in
                guard let expansion else { return entry.decodeValue(in: source, into: &target) }
                return expansion.expandValue(of: index, in: source, into: &target)
            }
            if options.takesComments, let value = values[entry.key] { forbidden.append(value) }
        }
        try keepReplaced(file, expansion, from: source, name, besides: indices)
    }

    /// Remembers values as they are written, before escapes and references are resolved.
    private mutating func keepForbidden(_ file: DotEnvFile, from source: RawSpan) throws {
        for entry in file.entries {
            let raw = source.extracting(entry.valueRange)
            if raw.byteCount >= ValuePatterns.shortest {
                forbidden.append(try arena.copy(raw))
            }
        }
    }

    /// Remembers values that a later line of the same file replaces.
    private mutating func keepReplaced(
        _ file: DotEnvFile, _ expansion: DotEnvExpansion?, from source: RawSpan, _ name: String,
        besides effective: [Int]
    ) throws {
        guard effective.count < file.entries.count else { return }
        let effective = Set(effective)
        for (index, entry) in file.entries.enumerated() where !effective.contains(index) {
            var slice = try arena.allocate(count: entry.decodedLength(in: source))
            _ = slice.withMutableBytes { entry.decodeValue(in: source, into: &$0) }
            if options.takesComments { forbidden.append(slice) }
            if let expansion {
                slice = try arena.allocate(count: expansion.expandedLength(of: index))
                _ = slice.withMutableBytes {
                    expansion.expandValue(of: index, in: source, into: &$0)
                }
            }
            replaced.append((name, entry.key, slice))
        }
    }

    /// Counts the comment lines that are not imported.
    private func droppedCommentLines(of file: DotEnvFile, in source: RawSpan) -> Int {
        let hasMark =
            source.byteCount >= 3 && source.byte(at: 0) == 0xEF && source.byte(at: 1) == 0xBB
            && source.byte(at: 2) == 0xBF
        let hasSemicolons = file.dialect == .systemd
        var (count, start, isAtStart) = (0, hasMark ? 3 : 0, true)
        func look(until end: Int) {
            while start < end {
                let byte = source.byte(at: start)
                if isAtStart, byte == 0x23 || (hasSemicolons && byte == 0x3B) { count += 1 }
                isAtStart =
                    byte == 0x0A || byte == 0x0D || (isAtStart && (byte == 0x20 || byte == 0x09))
                start += 1
            }
        }
        for entry in file.entries {
            look(until: entry.extent.lowerBound)
            (start, isAtStart) = (max(start, entry.extent.upperBound), false)
        }
        look(until: source.byteCount)
        guard options.takesComments else { return count }
        return file.effectiveIndices.reduce(count) { count, index in
            let comment = file.comment(above: index, in: source)
            return count
                - (comment.map { $0.split(separator: "\n", omittingEmptySubsequences: false).count }
                    ?? 0)
        }
    }

    /// Removes lines that contain a value from the comments; call it after the last read.
    mutating func removeValuesFromComments() throws {
        var rest = assignments.contains { $0.comment != nil } ? forbidden[...] : []
        while !rest.isEmpty {
            // A search needs many times the memory of its patterns.
            var byteCount = 0
            let portion = rest.prefix { value in
                defer { byteCount += value.count }
                return byteCount < 1 << 20
            }
            rest = rest.dropFirst(portion.count)
            let search = try ValuePatterns(
                Array(portion), shortestLine: ValuePatterns.shortest)
            for index in assignments.indices {
                assignments[index].comment = assignments[index].comment?.removingLines(search)
            }
        }
    }

    private mutating func keep(
        _ entry: DotEnvEntry, from source: RawSpan, _ file: String, length expanded: Int?,
        comment: PlaintextComment?, decode: (inout MutableRawSpan) -> Int?
    ) throws {
        let length = expanded ?? entry.decodedLength(in: source)
        let place = "\(file):\(entry.position.line):\(entry.position.column)"
        if options.isForVault {
            guard length <= VaultFormat.valueLimit else {
                throw CommandError(
                    .usage, "\(place): the value of \(entry.key) is longer than 1 MiB.")
            }
            guard !entry.key.isEmpty, entry.key.utf8.count <= VaultFormat.nameLimit else {
                throw CommandError(.usage, "\(place): a name is empty or longer than 1 KiB.")
            }
        }
        let slice = try arena.allocate(count: length)
        let written = slice.withMutableBytes { decode(&$0) }
        guard written == length else {
            throw CommandError(.failed, "\(place): the value could not be read.")
        }
        assignments.append(
            Assignment(key: entry.key, file: sources.count - 1, value: slice, comment: comment))
        if values.updateValue(slice, forKey: entry.key) == nil { keys.append(entry.key) }
    }
}
