internal import Glibc
internal import SystemFiles

/// What is staged: the entries of git's index that the last commit does not have like that, with the bytes
/// as git has them.
struct StagedBlobs {
    /// An entry of the index.
    struct Entry {
        /// The name of the bytes in git.
        let object: [UInt8]
        /// From the top of the work tree.
        let path: [UInt8]
    }

    let entries: [Entry]
    private let git: GitProgram

    /// - Throws: ``ExitCode/usage`` outside of a work tree, ``ExitCode/failed`` where git fails.
    init(_ context: Context) throws {
        git = GitProgram(context, asHook: true)
        try git.checkRepository(hint: "Go into one, or name a directory to look at.")
        // Before the first commit there is nothing to compare with, and all is new.
        let hasCommit = try git.output(["rev-parse", "-q", "--verify", "HEAD^{commit}"]) != nil
        let old =
            hasCommit ? try git.list(["ls-tree", "-r", "-z", "--full-tree", "HEAD"]) : []
        // The magic path stands for the top of the work tree, wherever this runs.
        guard let old, let staged = try git.list(["ls-files", "-s", "-z", "--full-name", ":/"])
        else {
            throw CommandError(
                .failed, "Git cannot list what is staged, so nothing was looked at.",
                hint: "See what it says to: git status")
        }
        // A line is "mode type object TAB path" of a tree, "mode object stage TAB path" of the index.
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

    /// - Returns: nil for a submodule, whose files are in a repository of their own.
    private static func entry(_ line: ArraySlice<UInt8>, object place: Int) -> Entry? {
        guard let tab = line.firstIndex(of: 0x09) else { return nil }
        let words = line[..<tab].split(separator: 0x20)
        guard words.count >= 3, !words[0].elementsEqual("160000".utf8) else { return nil }
        return Entry(object: Array(words[place]), path: Array(line[(tab + 1)...]))
    }

    /// Hands over the bytes of each entry in turn.
    ///
    /// - Parameters:
    ///   - begin: An entry comes.
    ///   - piece: Reads a part of it from a descriptor: at most so many bytes; returns how many.
    ///   - end: It has ended; with what went wrong.
    func readAll(
        begin: (Entry) -> Void, piece: (Int32, Int) throws -> Int,
        end: (Entry, String?) throws -> Void
    ) throws {
        guard !entries.isEmpty else { return }
        let process = try git.start(["cat-file", "--batch"], input: .pipe)
        do {
            for entry in entries {
                begin(entry)
                // One at a time: neither side waits for a pipe that the other one fills.
                let request = entry.object + [0x0A]
                let sent = unsafe request.withUnsafeBytes { bytes in
                    unsafe write(process.inputDescriptor, bytes.baseAddress, bytes.count)
                }
                guard sent == request.count else { throw Self.broken }
                let words = try line(process.outputDescriptor).split(separator: 0x20)
                guard words.count == 3, let text = String(validating: words[2], as: UTF8.self),
                    var left = Int(text), left >= 0
                else {
                    try end(entry, "git does not have its bytes here")
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
            process.abandon()
            throw error
        }
        guard process.wait() == 0 else { throw Self.broken }
    }

    private static let broken = CommandError(
        .failed, "Git did not hand over all that is staged, so not all of it was looked at.",
        hint: "See what it says to: git fsck")

    /// What comes before the next line feed; a line of git's is short.
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
