internal import SystemFiles

/// What is at a path. Nothing else is read of it.
enum FileKind {
    /// Tells whether there is a regular file.
    static func isFile(_ path: String) -> Bool { facts(path)?.kind == .regular }

    /// Tells whether the path itself is a regular file, and no link to one.
    static func isRegularItself(_ path: String) -> Bool { FileFacts(regularFile: path) != nil }

    /// Tells whether there is anything at the path, a link that leads nowhere included.
    static func isTaken(_ path: String) -> Bool {
        (try? FileFacts(path, followsLinks: false)) != nil
    }

    /// Tells whether there is a directory.
    static func isDirectory(_ path: String) -> Bool { facts(path)?.kind == .directory }

    /// The user id of the owner; nil when there is nothing.
    static func owner(_ path: String) -> UInt32? { facts(path)?.owner }

    /// Tells whether both paths lead to one file.
    static func areSame(_ left: String, _ right: String) -> Bool {
        guard let left = facts(left), let right = facts(right) else { return false }
        return left.isOfSameFile(as: right)
    }

    private static func facts(_ path: String) -> FileFacts? { try? FileFacts(path) }
}
