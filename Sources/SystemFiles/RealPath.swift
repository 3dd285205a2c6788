internal import Glibc

/// Paths without symbolic links.
package enum RealPath {
    /// Returns the absolute path of what exists at `path`; nil, with `errno`, if nothing does, and for
    /// a path that is not UTF-8.
    package static func of(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(validatingCString: real)
    }
}
