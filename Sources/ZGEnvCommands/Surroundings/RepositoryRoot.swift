internal import Glibc
internal import SystemFiles

/// The root of a git work tree, found by its `.git` without running git.
struct RepositoryRoot {
    /// The directory that contains `.git`.
    let path: String
    /// The repository directory, which all work trees share; nil if it cannot be found.
    let repository: String?
    /// Whether this is a linked work tree that the repository knows.
    let isLinkedWorkTree: Bool

    /// Returns the root at exactly `directory`; nil if it does not exist.
    static func at(_ directory: String) -> RepositoryRoot? {
        let entry = RealPath.joined(directory, ".git")
        guard FileKind.isTaken(entry) else { return nil }
        if FileKind.isDirectory(entry) {
            return RepositoryRoot(
                path: directory, repository: RealPath.of(entry), isLinkedWorkTree: false)
        }
        let own = linkedDirectory(entry, in: directory)
        let shared = own.flatMap { repository(ofWorkTree: $0, entry) }
        return RepositoryRoot(
            path: directory, repository: shared ?? own, isLinkedWorkTree: shared != nil)
    }

    /// Returns the nearest root at or above `directory`, a path without symbolic links.
    static func nearest(to directory: String) -> RepositoryRoot? {
        sequence(first: directory, next: RealPath.above).lazy.compactMap { at($0) }.first
    }

    /// Returns the directory named in the `.git` file of a submodule or a linked work tree.
    private static func linkedDirectory(_ entry: String, in directory: String) -> String? {
        guard FileKind.isRegularItself(entry) else { return nil }
        return path(in: entry, after: "gitdir: ", from: directory).flatMap(RealPath.of)
    }

    /// Returns the repository of a linked work tree with the `.git` file `entry` and the directory `own` in
    /// the repository. Anyone can write `entry`, so the repository must name it, too.
    private static func repository(ofWorkTree own: String, _ entry: String) -> String? {
        guard let trees = RealPath.above(own), trees.hasSuffix("/worktrees"),
            let named = path(in: "\(own)/gitdir", after: "", from: own),
            FileKind.areSame(named, entry)
        else { return nil }
        return RealPath.above(trees)
    }

    /// Returns the path in a file of one line that begins with `start`.
    private static func path(in file: String, after start: String, from base: String) -> String? {
        guard let text = SmallFile.text(file), text.hasPrefix(start) else { return nil }
        let rest = text.dropFirst(start.count)
        let path = rest.last == "\n" ? rest.dropLast() : rest
        return path.hasPrefix("/") ? String(path) : "\(base)/\(path)"
    }
}
