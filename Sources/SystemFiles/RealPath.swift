internal import Glibc

/// Paths without symbolic links.
package enum RealPath {
    /// Returns the absolute path of what exists at `path`. Otherwise nil, with the reason in `errno`:
    /// `EILSEQ` for a path that is not UTF-8.
    package static func of(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        let text = unsafe String(validatingCString: real)
        if text == nil { errno = EILSEQ }
        return text
    }
}
