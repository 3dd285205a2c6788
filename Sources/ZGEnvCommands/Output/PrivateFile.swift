internal import Glibc
internal import Vault

/// A file with values, for its owner alone, written whole or not at all.
enum PrivateFile {
    /// Writes `bytes` to `path` with mode 0600.
    ///
    /// - Parameters:
    ///   - replaces: Whether a file that is there may be replaced.
    ///   - durably: Whether it must be on the disk before this returns.
    ///   - check: Called when the new file is written, right before it takes the path.
    /// - Throws: ``ExitCode/conflict`` when there is one and it may not.
    static func write(
        _ bytes: RawSpan, to path: String, replaces: Bool, durably: Bool = true,
        check: () throws -> Void = {}
    ) throws {
        let temporary = "\(path).tmp-\(getpid())"
        let descriptor = unsafe open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("\(path) cannot be written") }
        do {
            defer { close(descriptor) }
            guard DescriptorWriting.writeAll(bytes, to: descriptor),
                !durably || fsync(descriptor) == 0
            else { throw failure("\(path) cannot be written") }
            try check()
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        // A link instead of a rename fails where something is at the path already.
        let done = replaces ? unsafe rename(temporary, path) : unsafe link(temporary, path)
        let error = failure("\(path) cannot be written")
        let exists = done != 0 && errno == EEXIST
        if !replaces || done != 0 { unsafe unlink(temporary) }
        guard !exists else {
            throw CommandError(
                .conflict, "\(path) is there already.",
                hint: "It was left as it is. Say --force to replace it, or name another file.")
        }
        guard done == 0 else { throw error }
        if durably { try confirmDirectory(of: path) }
    }

    /// Brings the file's name to the disk.
    private static func confirmDirectory(of path: String) throws {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        // Some file systems have no such call for directories; those that do report what failed.
        guard descriptor >= 0, fsync(descriptor) == 0 || errno == EINVAL else {
            throw failure("\(path) was written, but the disk did not confirm it")
        }
    }

    private static func failure(_ what: String) -> CommandError {
        let number = errno
        let error = CommandError(.failed, "\(what): \(unsafe String(cString: strerror(number))).")
        errno = number
        return error
    }
}
