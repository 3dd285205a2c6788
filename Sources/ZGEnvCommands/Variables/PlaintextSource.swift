internal import CommandLineKit
internal import DotEnv
internal import Sealing
internal import Vault

/// What plain files hold: keys in order, values in guarded memory, comments, and what readers of
/// `.env` files would disagree about.
struct PlaintextSource {
    /// How files are read.
    struct Options {
        /// nil for the default, or what a file says it is.
        var dialect: DotEnvDialect?
        /// Whether `${NAME}` is replaced by what the same file sets.
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
    private(set) var files: [String: FileStamp] = [:]
    private(set) var findings: [Finding] = []
    /// What stands in comments above keys.
    private(set) var comments: [String: PlaintextComment] = [:]
    private var values: [String: SecretSlice] = [:]
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
        if path != "-" { files[path] = FileStamp(path) }
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
        try text.withBytes { source in
            let chosen = options.dialect ?? DotEnvReader.detectedDialect(of: source) ?? .dotenv
            do {
                try keep(DotEnvReader.read(source, as: chosen), from: source, name, progress)
            } catch let error as DotEnvError {
                throw CommandError(
                    .usage, "\(DisplayText.safe(name)): \(error.description).",
                    hint: options.consequence)
            }
        }
    }

    private mutating func keep(
        _ file: DotEnvFile, from source: RawSpan, _ name: String, _ progress: (Int) -> Void
    ) throws {
        let expansion = options.expands ? try DotEnvExpansion(file, in: source) : nil
        findings += (file.diagnostics + (expansion?.diagnostics ?? []))
            .sorted { $0.position < $1.position }
            .map { Finding(file: name, diagnostic: $0) }
        for (number, index) in file.effectiveIndices.enumerated() {
            if number.isMultiple(of: 1_024) { progress(keys.count) }
            let entry = file.entries[index]
            try keep(
                entry, from: source, name, length: expansion?.expandedLength(of: index)
            ) { target in
                guard let expansion else { return entry.decodeValue(in: source, into: &target) }
                return expansion.expandValue(of: index, in: source, into: &target)
            }
            if options.takesComments {
                comments[entry.key] = file.comment(above: index, in: source).flatMap {
                    PlaintextComment(cleaning: $0)
                }
            }
        }
    }

    private mutating func keep(
        _ entry: DotEnvEntry, from source: RawSpan, _ file: String, length expanded: Int?,
        decode: (inout MutableRawSpan) -> Int?
    ) throws {
        let length = expanded ?? entry.decodedLength(in: source)
        let place = "\(DisplayText.safe(file)):\(entry.position.line):\(entry.position.column)"
        if options.isForVault {
            guard length <= VaultFormat.valueLimit else {
                throw CommandError(
                    .usage,
                    "\(place): the value of \(DisplayText.safe(entry.key)) is longer than 1 MiB.",
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

    /// Shows what readers disagree about.
    ///
    /// - Parameter strict: Whether there must be none.
    func report(_ invocation: Invocation, strict: Bool = false) throws {
        for finding in findings { try invocation.note(finding.line) }
        if strict, let first = findings.first {
            throw CommandError(
                .usage,
                "\(findings.count) \(findings.count == 1 ? "place is" : "places are") read differently by other readers; the first is \(DisplayText.safe(first.line)).",
                hint: options.consequence.dropLast() + ", because of --strict.")
        }
    }
}

/// A comment above a key, for people who list variables: names and comments open without the
/// passphrase and go to the platform, so what may be a value stays out.
struct PlaintextComment: Equatable {
    /// Lines joined by LF; empty where all were left out.
    let text: String
    /// How many lines were left out, since they look like settings that were switched off.
    let leftOut: Int

    /// nil for a comment without a word.
    init?(cleaning comment: String) {
        let lines = comment.split(separator: "\n", omittingEmptySubsequences: false)
        let kept = lines.filter { !Self.isAssignment($0) }
        leftOut = lines.count - kept.count
        // A rule of signs is decoration.
        let words = kept.filter { $0.contains { $0.isLetter || $0.isNumber } }
        text = words.joined(separator: "\n")
        if text.isEmpty && leftOut == 0 { return nil }
    }

    /// Whether a line would set a variable without its `#`.
    private static func isAssignment(_ line: Substring) -> Bool {
        var rest = line.drop { $0 == " " || $0 == "\t" || $0 == "#" }
        if rest.hasPrefix("export ") { rest = rest.dropFirst(7).drop { $0 == " " } }
        let name = rest.utf8.prefix { $0 != 0x3D && $0 != 0x3A && $0 != 0x20 && $0 != 0x09 }
        let sign = rest.utf8.dropFirst(name.count).drop { $0 == 0x20 || $0 == 0x09 }.first
        // A word and a colon is how sentences begin; only capitals are taken for a name there.
        let text = String(Substring(name))
        guard !text.isEmpty else { return false }
        if sign == 0x3D { return true }
        return sign == 0x3A && text.contains("_") && text == text.uppercased()
    }
}
