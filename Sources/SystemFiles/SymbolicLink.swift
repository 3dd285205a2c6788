internal import Glibc

/// Symbolic links (readlink(2)).
package enum SymbolicLink {
    /// Returns the path that the link at `path` names, resolved against the link's directory; nil if
    /// `path` is no link or its target is longer than a path can be. The target may be a link too.
    package static func target(of path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count,
            let target = String(validating: bytes[..<count], as: UTF8.self)
        else { return nil }
        if target.hasPrefix("/") { return target }
        return "\(FileReplacement.directory(of: path))/\(target)"
    }
}
