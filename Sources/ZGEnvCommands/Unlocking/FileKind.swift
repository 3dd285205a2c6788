internal import Glibc

/// What is at a path, following links.
enum FileKind {
    /// Tells whether there is a regular file.
    static func isFile(_ path: String) -> Bool { kind(path) == S_IFREG }

    /// Tells whether there is a directory.
    static func isDirectory(_ path: String) -> Bool { kind(path) == S_IFDIR }

    /// The user id of the owner; nil when there is nothing.
    static func owner(_ path: String) -> UInt32? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_uid : nil
    }

    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
