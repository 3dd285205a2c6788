internal import Glibc
internal import SystemFiles
internal import Vault

/// A folder of a directory place. Neither it nor its files are opened through symbolic links, which
/// others could plant, except for the place itself.
struct GroupFolder {
    private let file: OpenFile
    /// The prefix of temporary files, which are in the folder of the file that they become.
    static let temporaryPrefix = ".zg-env-"
    /// A write takes milliseconds; this is a day.
    private static let oldestTemporary: UInt64 = 86_400_000

    private init(_ file: OpenFile) {
        self.file = file
    }

    /// Opens the place itself, through symbolic links.
    init(place path: String) throws(SystemError) {
        file = try OpenFile(path, O_RDONLY | O_DIRECTORY)
    }

    /// A path of a file in the folder that stays valid if the folder is moved or replaced.
    private func path(_ name: String) -> String { "/proc/self/fd/\(file.descriptor)/\(name)" }

    /// Opens a folder in the folder. Returns nil if it does not exist, or is not a directory.
    func folder(_ name: String) throws(SystemError) -> GroupFolder? {
        do throws(SystemError) {
            return GroupFolder(
                try OpenFile(path(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK))
        } catch {
            // ELOOP: a symbolic link.
            guard error.isNotFound || error.number == ELOOP else { throw error }
            return nil
        }
    }

    /// Opens or creates a folder in the folder.
    ///
    /// - Parameters:
    ///   - permissions: Those of the place, which a new folder gets regardless of the umask.
    ///   - durably: Whether to sync its name to disk.
    func makeFolder(
        _ name: String, permissions: UInt32, durably: Bool
    ) throws(SystemError) -> GroupFolder {
        if let folder = try folder(name) { return folder }
        let isNew = unsafe mkdir(path(name), permissions & 0o777) == 0
        guard isNew || errno == EEXIST else { throw .last }
        guard let folder = try folder(name) else { throw SystemError(ENOTDIR) }
        if isNew {
            // Keeps the bit of directories whose files get the directory's group.
            let special = try folder.permissions & 0o7000
            if fchmod(folder.file.descriptor, permissions & 0o777 | special) != 0,
                errno != EPERM, errno != ENOTSUP
            {
                throw .last
            }
            if durably { try synchronize() }
        }
        return folder
    }

    var permissions: UInt32 {
        get throws(SystemError) { try file.facts().permissions }
    }

    /// The names of everything in the folder that is text.
    func names() throws(SystemError) -> [String] {
        let (names, error) = Directory.names(in: file)
        if let error { throw error }
        return names.compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// What is under a name.
    enum Content: Equatable {
        case bytes([UInt8])
        /// Not a regular file, empty, or longer than the limit.
        case unusable
    }

    /// Reads a file. Returns nil if the name does not exist.
    func read(_ name: String, limit: Int) throws(SystemError) -> Content? {
        let opened: OpenFile
        do throws(SystemError) {
            // Does not wait for the writer of a pipe.
            opened = try OpenFile(
                path(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        } catch {
            if error.isNotFound { return nil }
            // A symbolic link, a socket, or a file that only others may read.
            guard [ELOOP, ENXIO, ENODEV, EACCES].contains(error.number) else { throw error }
            return .unusable
        }
        let facts = try opened.facts()
        guard facts.kind == .regular, facts.byteCount > 0, facts.byteCount <= UInt64(limit) else {
            return .unusable
        }
        // One byte more, in case the file grows.
        let bytes = try opened.bytes(upTo: Int(facts.byteCount) + 1)
        return bytes.count <= limit ? .bytes(bytes) : .unusable
    }

    /// Writes a file as a whole.
    ///
    /// - Returns: False if the name exists and must not be replaced.
    func write(
        _ bytes: [UInt8], to name: String, permissions: UInt32, replaces: Bool, durably: Bool
    ) throws(SystemError) -> Bool {
        let temporary = Self.temporaryPrefix + Identifier.random().hexadecimal
        do {
            try FileReplacement.write(
                to: path(name), by: temporary, permissions: permissions & 0o666,
                replaces: replaces, durably: durably
            ) { file in
                unsafe try file.write(bytes.span.bytes)
            }
            return true
        } catch FileReplacement.Failure.exists {
            return false
        } catch let failure as FileReplacement.Failure {
            throw failure.cause
        } catch {
            throw (error as? SystemError) ?? SystemError(EIO)
        }
    }

    /// Removes a file. Ignores errors.
    func remove(_ name: String) {
        unsafe unlink(path(name))
    }

    /// Removes temporary files that killed processes left.
    func removeLeftovers() {
        guard let names = try? names() else { return }
        // By the clock of the file system, which may be another machine's.
        guard let now = (try? file.facts())?.changedAt else { return }
        for name in names where name.hasPrefix(Self.temporaryPrefix) {
            guard let facts = try? FileFacts(path(name), followsLinks: false), facts.isOwn,
                facts.kind == .regular, facts.changedAt < now,
                now - facts.changedAt > Self.oldestTemporary
            else { continue }
            remove(name)
        }
    }

    private func synchronize() throws(SystemError) {
        do throws(SystemError) {
            try file.synchronize()
        } catch  where error.number == EINVAL {
            // Some file systems do not support fsync on directories.
        }
    }
}
