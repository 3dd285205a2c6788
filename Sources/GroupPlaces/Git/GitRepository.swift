internal import Glibc
internal import Groups
internal import SystemFiles

/// Our own bare repository with a copy of a place. It may be deleted or damaged at any time.
final class GitRepository {
    private let directory: String
    private let name: String
    /// A symbolic link to the repository.
    private let path: String
    private let environment: GitEnvironment
    /// Above this number of packs, they are combined.
    private static let mostPacks = 40

    /// - Parameters:
    ///   - directory: An existing directory of our own.
    ///   - name: The name of the repository in it.
    init(in directory: String, _ name: String, _ environment: GitEnvironment) {
        (self.directory, self.name, path) = (directory, name, "\(directory)/\(name).git")
        self.environment = environment
    }

    /// Runs git for the place.
    func program(for address: PlaceAddress? = nil) -> GitProgram {
        GitProgram(in: path, address, environment)
    }

    /// Calls `body` while no other process uses the repository, and it is there.
    func locked<R>(_ body: (FileLock) throws(PlaceError) -> R) throws(PlaceError) -> R {
        let lock: FileLock
        let isLocked: Bool
        do throws(SystemError) {
            lock = try FileLock("\(path).lock")
            // Longer than a publish of another process takes.
            isLocked = try lock.lock(within: environment.limits.total, pauses: 1_000...50_000)
        } catch {
            throw PlaceError(error, "lock the copy of the place")
        }
        guard isLocked else {
            throw PlaceError(
                .busy, "Another process is using the copy of this place. Retry when it has ended.")
        }
        defer { withExtendedLifetime(lock) {} }
        try prepare()
        return try body(lock)
    }

    // MARK: - Files

    /// Creates the repository if it is missing, and removes what killed processes left.
    private func prepare() throws(PlaceError) {
        do throws(SystemError) {
            func has(_ name: String) -> Bool {
                (try? FileFacts("\(path)/\(name)", followsLinks: false)) != nil
            }
            if !has("HEAD") || has(Self.unfinished) { try create() }
        } catch {
            throw PlaceError(error, "create a copy of the place")
        }
        for folder in ["", "/refs", "/refs/\(Self.fetched)", "/refs/\(Self.next)"] {
            for name in Directory.names(in: path + folder)
            where name.hasSuffix(".lock") || name.hasPrefix("fast_import_crash_") {
                unsafe unlink("\(path)\(folder)/\(name)")
            }
        }
        for folder in ["/objects/pack", "/objects"] {
            for name in Directory.names(in: path + folder) where name.hasPrefix("tmp_") {
                unsafe unlink("\(path)\(folder)/\(name)")
            }
        }
    }

    /// Writes what `git init --bare` would, in place of what is there.
    private func create() throws(SystemError) {
        // A git that outlives its parent goes on in the old one, whose name does not come back. What it
        // still writes there, the next call removes.
        for old in Directory.names(in: directory) where old.hasPrefix("\(name)-") {
            try? PrivateDirectory.remove("\(directory)/\(old)")
        }
        try PrivateDirectory.remove(path)
        let new = try PrivateDirectory(in: directory, prefix: "\(name)-").path
        for folder in ["/objects", "/objects/pack", "/refs"] {
            guard unsafe mkdir(new + folder, 0o700) == 0 else { throw .last }
        }
        for (name, text) in [
            ("HEAD", "ref: refs/heads/none\n"),
            ("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"),
        ] {
            let file = try OpenFile("\(new)/\(name)", O_WRONLY | O_CREAT | O_EXCL)
            unsafe try file.write(Array(text.utf8).span.bytes)
            try file.close()
        }
        // Relative, as the directory may be moved or copied.
        let target = String(new.dropFirst(directory.count + 1))
        guard unsafe symlink(target, path) == 0 else { throw .last }
    }

    /// The file that is there during a fetch.
    private static let unfinished = "unfinished-fetch"

    /// Calls `body`, which fetches. Unless git ended by itself, the next ``locked(_:)`` recreates the
    /// copy: after a kill, a git may still write to this one.
    func fetching(
        _ body: () throws(PlaceError) -> GitProgram.Result
    ) throws(PlaceError) -> GitProgram.Result {
        let mark = "\(path)/\(Self.unfinished)"
        do throws(SystemError) {
            try OpenFile(mark, O_WRONLY | O_CREAT).close()
        } catch {
            throw PlaceError(error, "write to the copy of the place")
        }
        let result = try body()
        if !result.isKilled { unsafe unlink(mark) }
        return result
    }

    /// Deletes the repository and creates an empty one.
    func recreate() throws(PlaceError) {
        do throws(SystemError) {
            try create()
        } catch {
            throw PlaceError(error, "recreate the local copy of the group's repository")
        }
    }

    // MARK: - Refs

    /// Below refs: the commit of each group that was last fetched or published.
    private static let fetched = "zg-env"
    /// Below refs: the commit that is being published.
    private static let next = "zg-env-next"

    static func fetchedRef(of group: GroupHash) -> String { "refs/\(fetched)/\(group.hexadecimal)" }
    private static func nextRef(of group: GroupHash) -> String {
        "refs/\(next)/\(group.hexadecimal)"
    }

    /// The commit that was last fetched or published, in hexadecimal digits, or nil.
    func fetchedCommit(of group: GroupHash) -> String? {
        // Packed refs are never written here.
        guard
            let bytes = OpenFile.wholeBytes(
                of: "\(path)/\(Self.fetchedRef(of: group))", limit: 100)
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).prefix { $0 != "\n" }
        return Self.isName(text) ? String(text) : nil
    }

    /// Whether a text is git's name of an object.
    static func isName(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 40 && Hexadecimal.bytes(of: text) != nil
    }

    /// Stores the commit that the place was seen to have.
    func store(_ commit: String, of group: GroupHash, _ lock: FileLock) throws(PlaceError) {
        _ = try run(["update-ref", Self.fetchedRef(of: group), commit], holding: lock)
    }

    // MARK: - Objects

    /// Runs git on the repository alone.
    ///
    /// - Throws: ``PlaceError/Code/localCopy``, too.
    private func run(
        _ arguments: [String], input: [UInt8]? = nil, holding lock: FileLock,
        longestOutput: Int = GitProgram.longestOutput
    ) throws(PlaceError) -> [UInt8] {
        let result = try program().run(
            arguments, input: input, holding: lock, longestOutput: longestOutput)
        guard result.isDone else {
            if result.error.lowercased().contains("no space left") {
                throw PlaceError(.noSpace, "The disk is full. Free some space and retry.")
            }
            throw Self.damage(GitFailure.lastLine(result.error))
        }
        return result.output
    }

    private static func damage(_ detail: String?) -> PlaceError {
        PlaceError(
            .localCopy,
            "The copy of the place is damaged, and recreating it did not help."
                + (detail.map { " git says: \($0)" } ?? ""))
    }

    func listing(of commit: String, _ lock: FileLock) throws(PlaceError) -> GitListing {
        GitListing(
            try run(
                ["ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--"] + ObjectPath.folders,
                holding: lock))
    }

    /// Reads blobs.
    ///
    /// - Parameter sizes: The expected sizes, which limit the memory.
    /// - Returns: The bytes, in the order of `names`.
    func read(
        _ names: [String], sizes: [Int], _ lock: FileLock
    ) throws(PlaceError) -> [[UInt8]] {
        guard !names.isEmpty else { return [] }
        let output = try run(
            ["cat-file", "--batch"], input: Array((names.joined(separator: "\n") + "\n").utf8),
            holding: lock, longestOutput: sizes.reduce(0, +) + 100 * names.count)
        var (blobs, place) = ([[UInt8]](), 0)
        for (name, size) in zip(names, sizes) {
            let header = Array("\(name) blob \(size)\n".utf8)
            let end = place + header.count + size
            guard end < output.count, output[place...].starts(with: header) else {
                throw Self.damage(nil)
            }
            blobs.append(Array(output[(place + header.count)..<end]))
            place = end + 1
        }
        return blobs
    }

    /// Creates a commit with the tree of another one and further files.
    ///
    /// - Returns: Its name.
    func commit(
        _ files: [(path: String, bytes: [UInt8])], to group: GroupHash, after parent: String?,
        _ lock: FileLock
    ) throws(PlaceError) -> String {
        // A fixed author and date: a place learns neither the machine nor its user and clock.
        let identity = "zg-env <zg-env@localhost> 946684800 +0000"
        var stream = Array(
            """
            feature done
            commit \(Self.nextRef(of: group))
            mark :1
            author \(identity)
            committer \(identity)
            data 6
            zg-env

            """.utf8)
        // Without a parent, the commit has no past, whatever the ref has.
        if let parent { stream += Array("from \(parent)\n".utf8) }
        for file in files {
            stream += Array("M 100644 inline \(file.path)\ndata \(file.bytes.count)\n".utf8)
            stream += file.bytes
            stream.append(0x0A)
        }
        stream += Array("\nget-mark :1\ndone\n".utf8)
        let output = try run(
            ["fast-import", "--quiet", "--force", "--date-format=raw"], input: stream,
            holding: lock)
        let name = String(decoding: output, as: UTF8.self).prefix { $0 != "\n" }
        guard Self.isName(name) else { throw Self.damage(nil) }
        return String(name)
    }

    /// Combines packs, since each fetch and each publish adds one.
    func tidy(_ lock: FileLock) {
        let packs = Directory.names(in: "\(path)/objects/pack").filter { $0.hasSuffix(".pack") }
        guard packs.count > Self.mostPacks else { return }
        // Drops what attempts to publish left. A failure is met by the next call.
        _ = try? run(
            ["repack", "-a", "-d", "-q", "-n", "--window=0", "--no-write-bitmap-index"],
            holding: lock)
    }
}
