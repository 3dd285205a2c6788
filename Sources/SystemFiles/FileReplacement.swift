internal import CLinux
internal import Glibc

/// Replaces files atomically: writes a temporary file in the same directory, then renames it.
package enum FileReplacement {
    /// Why a file could not be written. The path is unchanged, except for ``notConfirmed(_:)``.
    package enum Failure: Error, Equatable {
        /// The temporary file could not be created.
        case cannotCreate(SystemError)
        /// The temporary file could not be written or synced.
        case notWritten(SystemError)
        /// The new file cannot get the owner, group, permissions and access control list of the old one.
        case notKept(SystemError)
        /// The path exists and must not be replaced.
        case exists
        /// The rename failed.
        case cannotRename(SystemError)
        /// The file is in place, but syncing its directory failed.
        case notConfirmed(SystemError)

        package var cause: SystemError {
            switch self {
            case .cannotCreate(let error), .notWritten(let error), .notKept(let error),
                .cannotRename(let error), .notConfirmed(let error):
                error
            case .exists: SystemError(EEXIST)
            }
        }

        /// The cause in words.
        package var reason: String {
            if case .cannotRename(let error) = self, error.number == EBUSY {
                return
                    "it is mounted as a single file, which cannot be replaced; mount its directory"
            }
            return cause.reason
        }
    }

    /// Writes a file.
    ///
    /// - Parameters:
    ///   - temporary: The name of the temporary file in the same directory. An existing file with
    ///     this name is left alone.
    ///   - permissions: Applied regardless of the umask, if the file system supports permissions.
    ///   - old: The file to replace, whose owner, group, permissions and access control list the new
    ///     one gets.
    ///   - replaces: Whether an existing file may be replaced.
    ///   - durably: Whether to sync the file and its name to disk before returning.
    ///   - unnamed: Whether the temporary file gets its name only when it is complete, where the file
    ///     system can do that. A process that is killed before leaves nothing behind.
    ///   - fill: Writes the temporary file, and makes any checks that must precede the rename.
    /// - Throws: ``Failure``, and what `fill` throws. The temporary file is removed.
    package static func write(
        to path: String, by temporary: String, permissions: UInt32 = 0o600,
        keeping old: FileFacts? = nil, replaces: Bool, durably: Bool = true,
        unnamed: Bool = false, _ fill: (OpenFile) throws -> Void
    ) throws {
        let temporary = "\(directory(of: path))/\(temporary)"
        let complete = { (file: OpenFile) in
            try Self.complete(file, permissions, keeping: old.map { ($0, path) }, durably, fill)
        }
        let isWritten =
            unnamed ? try writeUnnamed(path, temporary, permissions, replaces, complete) : false
        if !isWritten { try writeNamed(path, temporary, permissions, replaces, complete) }
        if durably { try syncDirectory(of: path) }
    }

    private static func writeNamed(
        _ path: String, _ temporary: String, _ permissions: UInt32, _ replaces: Bool,
        _ complete: (OpenFile) throws -> Void
    ) throws {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try SystemError.mapped(
            try OpenFile(temporary, flags, permissions: permissions), Failure.cannotCreate)
        do {
            try complete(file)
            try SystemError.mapped(try file.close(), Failure.notWritten)
            let status =
                replaces ? unsafe rename(temporary, path) : unsafe zg_rename_new(temporary, path)
            guard status == 0 else {
                throw !replaces && errno == EEXIST ? Failure.exists : Failure.cannotRename(.last)
            }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// - Returns: Whether this is possible here; otherwise the path is unchanged.
    private static func writeUnnamed(
        _ path: String, _ temporary: String, _ permissions: UInt32, _ replaces: Bool,
        _ complete: (OpenFile) throws -> Void
    ) throws -> Bool {
        let descriptor = unsafe zg_unnamed_file(directory(of: path), permissions)
        guard descriptor >= 0 else { return false }
        let file = OpenFile(owning: descriptor)
        try complete(file)
        guard unsafe zg_name_file(file.descriptor, replaces ? temporary : path) == 0 else {
            guard errno == EEXIST else { return false }
            throw replaces ? Failure.cannotCreate(.last) : Failure.exists
        }
        guard unsafe !replaces || rename(temporary, path) == 0 else {
            let error = SystemError.last
            unsafe unlink(temporary)
            throw Failure.cannotRename(error)
        }
        return true
    }

    private static func complete(
        _ file: OpenFile, _ permissions: UInt32, keeping old: (facts: FileFacts, path: String)?,
        _ durably: Bool, _ fill: (OpenFile) throws -> Void
    ) throws {
        do {
            try fill(file)
            if let old {
                try keep(old.facts, old.path, for: file)
            } else if try file.facts().permissions != permissions,
                // The umask may have removed some. File systems without permissions reject fchmod.
                fchmod(file.descriptor, permissions) != 0, errno != EPERM, errno != ENOTSUP
            {
                throw SystemError.last
            }
            if durably { try file.synchronize() }
        } catch let error as SystemError {
            throw Failure.notWritten(error)
        }
    }

    private static func keep(_ old: FileFacts, _ path: String, for file: OpenFile) throws {
        let new = try file.facts()
        if new.owner != old.owner || new.group != old.group,
            fchown(file.descriptor, old.owner, old.group) != 0
        {
            throw Failure.notKept(.last)
        }
        // With a list, the group's bits of the mode are its mask: without it, they would be the
        // group's permissions. A list inherited from the directory goes.
        guard unsafe zg_copy_access_list(path, file.descriptor) == 0 else {
            throw Failure.notKept(.last)
        }
        if try file.facts().permissions != old.permissions,
            fchmod(file.descriptor, old.permissions) != 0
        {
            throw Failure.notKept(.last)
        }
    }

    /// Syncs the directory entry of a file to disk.
    ///
    /// - Throws: ``Failure/notConfirmed(_:)``.
    package static func syncDirectory(of path: String) throws(Failure) {
        do throws(SystemError) {
            let directory = try OpenFile(directory(of: path), O_RDONLY | O_DIRECTORY)
            do throws(SystemError) {
                try directory.synchronize()
            } catch  where error.number == EINVAL {
                // Some file systems do not support fsync on directories.
            }
        } catch {
            throw .notConfirmed(error)
        }
    }

    /// Returns the directory part of a path, or `.` for a bare name.
    package static func directory(of path: String) -> String {
        // Searches bytes, because a combining mark after a slash makes it a different Character.
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the part of a path after the last slash.
    package static func name(of path: String) -> Substring {
        path.utf8.lastIndex(of: 0x2F).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    }
}
