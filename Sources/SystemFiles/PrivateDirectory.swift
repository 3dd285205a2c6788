internal import Glibc

/// A new directory for temporary files, which only this user can access.
package struct PrivateDirectory {
    package let path: String

    /// - Parameters:
    ///   - parent: An existing directory.
    ///   - prefix: The beginning of the name; six random characters follow.
    package init(in parent: String, prefix: String) throws(SystemError) {
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        let created = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map {
                unsafe String(cString: $0)
            }
        }
        guard let created else { throw .last }
        path = created
    }

    /// Removes the directory with everything in it.
    package func remove() throws(SystemError) { try Self.remove(path) }

    /// Removes a file, or a directory with everything in it, if it is there. Does not follow symbolic
    /// links.
    package static func remove(_ path: String) throws(SystemError) {
        try remove(Array(path.utf8))
    }

    /// - Parameter path: Raw bytes: not every name is text.
    private static func remove(_ path: [UInt8]) throws(SystemError) {
        let characters = (path + [0]).map { CChar(bitPattern: $0) }
        guard unsafe unlink(characters) != 0, errno != ENOENT else { return }
        guard errno == EISDIR else { throw .last }
        // Its owner may have taken the permission to write away.
        _ = unsafe chmod(characters, 0o700)
        let directory = unsafe OpenFile(
            owning: open(characters, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        for name in Directory.names(in: directory).names { try remove(path + [0x2F] + name) }
        guard unsafe rmdir(characters) == 0 else { throw .last }
    }
}
