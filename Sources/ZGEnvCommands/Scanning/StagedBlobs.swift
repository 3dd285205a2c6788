internal import Glibc
internal import SystemFiles

/// The staged content: the entries of git's index that differ from the last commit.
struct StagedBlobs {
    /// An entry of the index.
    struct Entry {
        /// The object ID in hexadecimal.
        let object: [UInt8]
        /// Relative to the top of the work tree.
        let path: [UInt8]
    }

    let entries: [Entry]
    private let git: GitProgram

    /// - Throws: ``ExitCode/usage`` outside a work tree, ``ExitCode/failed`` if git fails.
    init(_ context: Context) throws {
        git = GitProgram(context, asHook: true)
        try git.checkRepository(
            hint: "Run the command inside a repository, or name a directory to scan.")
        // Before the first commit, everything is new.
        let hasCommit = try git.output(["rev-parse", "-q", "--verify", "HEAD^{commit}"]) != nil
        let old =
            hasCommit ? try git.list(["ls-tree", "-r", "-z", "--full-tree", "HEAD"]) : []
        // The pathspec ":/" means the top of the work tree.
        guard let old, let staged = try git.list(["ls-files", "-s", "-z", "--full-name", ":/"])
        else {
            throw CommandError(
                .failed, "Git cannot list the staged content, so nothing was scanned.",
                hint: "See what git reports: git status")
        }
        // Lines of a tree are "mode type object TAB path", of the index "mode object stage TAB path".
        let known = Set(
            old.compactMap { line -> [UInt8]? in
                guard let entry = Self.entry(line, object: 2) else { return nil }
                return entry.object + [0x20] + entry.path
            })
        var seen: Set<[UInt8]> = []
        entries = staged.compactMap { line in
            guard let entry = Self.entry(line, object: 1) else { return nil }
            let name = entry.object + [0x20] + entry.path
            return !known.contains(name) && seen.insert(name).inserted ? entry : nil
        }
    }

    /// Parses a line; nil for a submodule, whose files are in another repository.
    private static func entry(_ line: ArraySlice<UInt8>, object place: Int) -> Entry? {
        guard let tab = line.firstIndex(of: 0x09) else { return nil }
        let words = line[..<tab].split(separator: 0x20)
        guard words.count >= 3, !words[0].elementsEqual("160000".utf8) else { return nil }
        return Entry(object: Array(words[place]), path: Array(line[(tab + 1)...]))
    }

    /// Reads the content of all entries, one after another.
    ///
    /// - Parameters:
    ///   - begin: Called before an entry.
    ///   - piece: Reads at most so many bytes from a descriptor and returns their number.
    ///   - end: Called after an entry, with the reason if it could not be read.
    func readAll(
        begin: (Entry) -> Void, piece: (Int32, Int) throws -> Int,
        end: (Entry, String?) throws -> Void
    ) throws {
        guard !entries.isEmpty else { return }
        let process = try git.start(["cat-file", "--batch"], input: .pipe)
        do {
            for entry in entries {
                begin(entry)
                // One request at a time, so that neither side blocks on a full pipe.
                let request = entry.object + [0x0A]
                let sent = unsafe request.withUnsafeBytes { bytes in
                    unsafe write(process.inputDescriptor, bytes.baseAddress, bytes.count)
                }
                guard sent == request.count else { throw Self.broken }
                let words = try line(process.outputDescriptor).split(separator: 0x20)
                guard words.count == 3, let text = String(validating: words[2], as: UTF8.self),
                    var left = Int(text), left >= 0
                else {
                    try end(entry, "git does not have the content of this file")
                    continue
                }
                while left > 0 {
                    let got = try piece(process.outputDescriptor, left)
                    guard got > 0 else { throw Self.broken }
                    left -= got
                }
                guard try line(process.outputDescriptor).isEmpty else { throw Self.broken }
                try end(entry, nil)
            }
        } catch {
            process.terminate()
            throw error
        }
        guard process.wait() == 0 else { throw Self.broken }
    }

    private static let broken = CommandError(
        .failed, "Git did not return all staged content, so the scan is incomplete.",
        hint: "See what git reports: git fsck")

    /// Reads a line of at most 4,095 bytes, without its line feed.
    private func line(_ descriptor: Int32) throws -> [UInt8] {
        var line: [UInt8] = []
        var byte: [UInt8] = [0]
        while line.count < 4_096 {
            let got = unsafe byte.withUnsafeMutableBytes {
                unsafe DescriptorReading.read(descriptor, into: $0)
            }
            guard got == 1 else { throw Self.broken }
            if byte[0] == 0x0A { return line }
            line.append(byte[0])
        }
        throw Self.broken
    }
}
