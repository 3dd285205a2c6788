internal import Glibc

/// The root of a git work tree, as `.git` says that stands there. Git is not started for it.
struct RepositoryRoot {
    /// The directory that has `.git`.
    let path: String
    /// Where git keeps the repository, which all its work trees share; nil where that cannot be found.
    let repository: String?
    /// Whether this is a further work tree, and the repository knows of it.
    let isFurtherWorkTree: Bool

    /// The root at exactly `directory`; nil where there is none.
    static func at(_ directory: String) -> RepositoryRoot? {
        let entry = directory == "/" ? "/.git" : directory + "/.git"
        guard FileKind.isTaken(entry) else { return nil }
        if FileKind.isDirectory(entry) {
            return RepositoryRoot(
                path: directory, repository: RealPath.of(entry), isFurtherWorkTree: false)
        }
        let own = linkedDirectory(entry, in: directory)
        let shared = own.flatMap { repository(ofWorkTree: $0, entry) }
        return RepositoryRoot(
            path: directory, repository: shared ?? own, isFurtherWorkTree: shared != nil)
    }

    /// The nearest root at `directory`, a path without symbolic links, or above.
    static func nearest(to directory: String) -> RepositoryRoot? {
        var current = directory
        while true {
            if let root = at(current) { return root }
            guard let above = RealPath.above(current) else { return nil }
            current = above
        }
    }

    /// The directory that the `.git` of a submodule or a further work tree names, which is a file.
    private static func linkedDirectory(_ entry: String, in directory: String) -> String? {
        guard FileKind.isRegularItself(entry) else { return nil }
        return path(in: entry, after: "gitdir: ", from: directory).flatMap(RealPath.of)
    }

    /// The repository whose further work tree `entry` makes, where `own` is its directory in there. Anybody
    /// can write `entry`, so the repository must name it too.
    private static func repository(ofWorkTree own: String, _ entry: String) -> String? {
        guard let trees = RealPath.above(own), trees.hasSuffix("/worktrees"),
            let named = path(in: "\(own)/gitdir", after: "", from: own),
            FileKind.areSame(named, entry)
        else { return nil }
        return RealPath.above(trees)
    }

    /// The path that a file holds as its one line, behind `start`.
    private static func path(in file: String, after start: String, from base: String) -> String? {
        guard let text = SmallFile.text(file), text.hasPrefix(start) else { return nil }
        let rest = text.dropFirst(start.count)
        let path = rest.last == "\n" ? rest.dropLast() : rest
        return path.hasPrefix("/") ? String(path) : "\(base)/\(path)"
    }
}
