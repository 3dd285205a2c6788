internal import SystemFiles

/// Checks the kind of file at a path without reading it.
enum FileKind {
    static func isFile(_ path: String) -> Bool { facts(path)?.kind == .regular }

    /// Whether the path is a regular file, not a link to one.
    static func isRegularItself(_ path: String) -> Bool { FileFacts(regularFile: path) != nil }

    /// Whether anything exists at the path, including a dangling link.
    static func isTaken(_ path: String) -> Bool {
        (try? FileFacts(path, followsLinks: false)) != nil
    }

    static func isDirectory(_ path: String) -> Bool { facts(path)?.kind == .directory }

    /// Returns the user id of the owner; nil if there is nothing.
    static func owner(_ path: String) -> UInt32? { facts(path)?.owner }

    /// Whether both paths lead to the same file.
    static func areSame(_ left: String, _ right: String) -> Bool {
        guard let left = facts(left), let right = facts(right) else { return false }
        return left.isOfSameFile(as: right)
    }

    private static func facts(_ path: String) -> FileFacts? { try? FileFacts(path) }
}
