internal import Glibc
internal import SystemFiles

/// Finds programs as the shell does.
struct ExecutableSearch {
    private let directories: [String]

    init(path: String?) {
        directories = (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(
            String.init)
    }

    /// Returns the path of an executable program; nil if it does not exist.
    func find(_ name: String) -> String? {
        let candidates =
            name.contains("/") ? [name] : directories.map { "\($0)/\(name)" }
        return candidates.first {
            unsafe access($0, X_OK) == 0 && FileKind.isFile($0)
        }
    }

    /// Returns the file name of a program after following links.
    func realName(_ name: String) -> String? {
        find(name).flatMap(RealPath.of)?.split(separator: "/").last.map(String.init)
    }
}
