internal import DotEnv
internal import Glibc
internal import Sealing
internal import SystemFiles

/// A `.env` file with new values in it: comments, order and what only the file has stay as they are.
struct MergedFile: ~Copyable {
    /// The file itself, behind symbolic links.
    let path: String
    /// Names that the file did not set.
    let added: [String]
    /// Names that it set to other values.
    let changed: [String]
    /// Names that it set to these values.
    let unchanged: [String]
    /// Names that only the file has.
    let kept: [String]
    /// New values that some reader takes in another way than motdotla/dotenv.
    let unportable: [String]
    private let stamp: FileFacts
    private let text: SecretBytes
    private let count: Int

    /// Reads the file and puts the new text together.
    ///
    /// The file is taken as motdotla/dotenv reads it, whoever wrote it: that is what programs see.
    ///
    /// - Returns: nil where there is no file.
    /// - Throws: ``DotEnvError`` for a file that cannot be read, or a value that it cannot carry.
    init?(_ named: String, values: [RevealedValue]) throws {
        guard let resolved = unsafe realpath(named, nil) else {
            guard errno == ENOENT else {
                let reason = SystemError.last.reason
                throw CommandError(
                    .usage, "\(named) cannot be opened: \(reason).", hint: "Nothing was written.")
            }
            return nil
        }
        defer { unsafe free(resolved) }
        let path = unsafe String(cString: resolved)
        guard let stamp = FileFacts(regularFile: path) else {
            throw CommandError(
                .usage, "\(named) is no regular file.", hint: "Nothing was written.")
        }
        let source = try SecretInput.read(
            path: path, limit: DotEnvReader.maximumSize, what: "The file")
        let keys = values.map(\.name)
        let lender: DotEnvWriter.Lender = { index, body in values[index].value.withBytes(body) }
        var names = Names()
        let length = try source.withBytes { source in
            let document = try DotEnvDocument(source)
            for (index, key) in keys.enumerated() {
                guard let entry = document.effectiveEntry(of: key) else {
                    names.added.append(key)
                    continue
                }
                let isEqual = values[index].value.withBytes { entry.decodes(in: source, to: $0) }
                if isEqual { names.unchanged.append(key) } else { names.changed.append(key) }
            }
            let given = Set(keys)
            names.kept = document.file.effectiveEntries.map(\.key).filter { !given.contains($0) }
            return try document.mergedLength(keys, from: source, lending: lender)
        }
        var text = try SecretBytes(count: length)
        count = try text.withMutableBytes { target in
            try source.withBytes { source in
                try DotEnvDocument(source).mergeVerified(
                    keys, from: source, into: &target, lending: lender)
            }
        }
        let same = Set(names.unchanged)
        unportable = DotEnvWriter(.dotenv).unportableKeys(keys, lending: lender)
            .filter { !same.contains($0) }
        self.text = text
        self.path = path
        self.stamp = stamp
        (added, changed, unchanged, kept) = (
            names.added, names.changed, names.unchanged, names.kept
        )
    }

    private struct Names {
        var added: [String] = []
        var changed: [String] = []
        var unchanged: [String] = []
        var kept: [String] = []
    }

    /// Replaces the file, for its owner alone.
    ///
    /// - Throws: ``ExitCode/conflict`` where somebody wrote it meanwhile.
    func write() throws {
        try text.withBytes { bytes in
            try PrivateFile.write(bytes.extracting(first: count), to: path, replaces: true) {
                guard FileFacts(regularFile: path) == stamp else {
                    throw CommandError(
                        .conflict, "\(path) was changed meanwhile.",
                        hint: "It was left as it is. Run the command again.")
                }
            }
        }
    }
}
