internal import Glibc

/// What is at a path, following links where nothing else is said.
enum FileKind {
    /// Tells whether there is a regular file.
    static func isFile(_ path: String) -> Bool { kind(path) == S_IFREG }

    /// Tells whether the path itself is a regular file, and no link to one.
    static func isRegularItself(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Tells whether there is anything at the path, a link that leads nowhere included.
    static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Tells whether there is a directory.
    static func isDirectory(_ path: String) -> Bool { kind(path) == S_IFDIR }

    /// The user id of the owner; nil when there is nothing.
    static func owner(_ path: String) -> UInt32? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Tells whether both paths lead to one file.
    static func areSame(_ left: String, _ right: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe stat(left, &first) == 0, unsafe stat(right, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
