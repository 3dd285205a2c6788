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
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        guard errno == EISDIR else { throw .last }
        // Its owner may have taken the permission to write away.
        _ = unsafe chmod(path, 0o700)
        for name in Directory.names(in: path) { try remove("\(path)/\(name)") }
        guard unsafe rmdir(path) == 0 else { throw .last }
    }
}
