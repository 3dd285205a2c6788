internal import CommandLineKit
internal import DotEnv
internal import Glibc
internal import Sealing
internal import SystemFiles

/// A `.env` file with new values merged in; comments, order and other variables are kept.
struct MergedFile: ~Copyable {
    /// The path with symbolic links resolved.
    let path: String
    let names: Names
    /// Names whose new value some parser reads differently from motdotla/dotenv.
    let unportable: [String]
    private let stamp: FileFacts
    private let text: SecretBytes
    private let count: Int

    /// Reads the file and prepares the merged text; nil if the file does not exist.
    ///
    /// The file is parsed like motdotla/dotenv, because that is what programs see.
    ///
    /// - Throws: ``DotEnvError`` for a file that cannot be parsed, or a value that it cannot hold.
    init?(_ named: String, values: [RevealedValue]) throws {
        guard let path = RealPath.of(named) else {
            guard errno == ENOENT else {
                let reason = SystemError.last.reason
                throw CommandError(.usage, "Cannot open \(named): \(reason).")
            }
            return nil
        }
        guard let stamp = FileFacts(regularFile: path) else {
            throw CommandError(.usage, "\(named) is not a regular file.")
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
        self.names = names
    }

    struct Names {
        /// New in the file.
        fileprivate(set) var added: [String] = []
        /// Those whose value changes.
        fileprivate(set) var changed: [String] = []
        /// Those that have the value already.
        fileprivate(set) var unchanged: [String] = []
        /// Those that only the file sets.
        fileprivate(set) var kept: [String] = []
    }

    /// Whether every user can read the file, which keeps its mode.
    var isReadableByAll: Bool { stamp.permissions & 0o004 != 0 }

    /// The number of the file's other names, which keep the old content: a file is replaced, not
    /// written over.
    var otherNameCount: Int { max(stamp.hardLinkCount, 1) - 1 }

    /// Locks the directory of a file that is about to be merged, so that of two merges at once the
    /// second one reads what the first one wrote. Keep it until the file is written.
    ///
    /// - Returns: nil where directories cannot be locked; then the check before the rename is all.
    static func lock(_ named: String, _ workspace: Workspace) throws -> FileLock? {
        let directory = FileReplacement.directory(of: RealPath.of(named) ?? named)
        do throws(SystemError) {
            let lock = try FileLock(directory: directory)
            if try lock.tryLock() { return lock }
            workspace.note("Waiting for another program to finish with \(directory).")
            if try lock.lock(within: ProjectLock.limit, pauses: 20_000...20_000) { return lock }
        } catch {
            return nil
        }
        throw CommandError(
            .conflict,
            "Another program has locked \(directory) for \(DurationText.text(ProjectLock.limit)).",
            hint: "\(named) was not changed. Run the command again.")
    }

    /// Replaces the file and keeps its owner, mode and access control list.
    ///
    /// - Throws: ``ExitCode/conflict`` if the file changed since it was read.
    func write() throws {
        try text.withBytes { bytes in
            try PrivateFile.write(
                bytes.extracting(first: count), to: path, keeping: stamp, replaces: true
            ) {
                guard FileFacts(regularFile: path) == stamp else {
                    throw CommandError(
                        .conflict, "\(path) was changed by another program.",
                        hint: "The file was not overwritten. Run the command again.")
                }
            }
        }
    }
}
