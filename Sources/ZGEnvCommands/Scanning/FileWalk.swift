internal import Glibc
internal import SystemFiles

/// Lists the regular files below a directory, without `.git` and without following links.
struct FileWalk {
    /// A file, or a path that could not be read.
    struct Entry {
        /// The path to show, relative to the root.
        let path: [UInt8]
        /// Why the path could not be read; nil for a file.
        let problem: String?
        /// Whether the user named this path. Then a link is followed, and the file must exist.
        var isNamed = false
    }

    private(set) var entries: [Entry] = []
    private let ignored: IgnoredPaths?

    /// - Parameter ignored: The paths to leave out; nil for none.
    init(_ root: String, ignoring ignored: IgnoredPaths?) throws {
        self.ignored = ignored
        try Self.check(root)
        guard FileKind.isDirectory(root) else {
            entries = [Entry(path: Array(root.utf8), problem: nil, isNamed: true)]
            return
        }
        var rules = ignored.map { $0.paths(in: root) } ?? []
        if rules.contains(Array(".".utf8)) || rules.contains([]) { rules = [] }
        walk(Array(root.utf8), shown: root == "." ? [] : Array(root.utf8), rules)
    }

    /// Throws ``ExitCode/usage`` unless the path is a file or a directory.
    static func check(_ root: String) throws {
        guard !FileKind.isDirectory(root), !FileKind.isFile(root) else { return }
        throw CommandError(
            .usage, "\(root) is not a file or directory that can be scanned.")
    }

    private mutating func walk(_ root: [UInt8], shown: [UInt8], _ rules: Set<[UInt8]>) {
        struct Place {
            let path: [UInt8]
            let shown: [UInt8]
            /// Relative to the directory of the rules.
            let relative: [UInt8]
            let rules: Set<[UInt8]>
        }
        func joined(_ directory: [UInt8], _ name: [UInt8]) -> [UInt8] {
            directory.isEmpty || directory.last == 0x2F
                ? directory + name : directory + [0x2F] + name
        }
        var open = [Place(path: root, shown: shown, relative: [], rules: rules)]
        while let place = open.popLast() {
            var rules = place.rules
            var relative = place.relative
            let isRoot = place.path == root
            let (names, error) = Self.names(place.path, isRoot: isRoot)
            if error != 0, isRoot || error != ENOENT {
                entries.append(
                    Entry(
                        path: place.shown.isEmpty ? [0x2E] : place.shown,
                        problem: SystemError(error).reason))
            }
            // A nested repository has rules of its own.
            if let ignored, !relative.isEmpty, names.contains(where: { $0.name == Self.git }),
                let path = String(validating: place.path, as: UTF8.self)
            {
                (rules, relative) = (ignored.paths(in: path), [])
            }
            var below: [Place] = []
            for (name, kind, error) in names where name != Self.git {
                let within = joined(relative, name)
                if rules.contains(within) { continue }
                let (path, shown) = (joined(place.path, name), joined(place.shown, name))
                if kind == S_IFDIR {
                    below.append(Place(path: path, shown: shown, relative: within, rules: rules))
                } else if kind == S_IFREG {
                    entries.append(Entry(path: shown, problem: nil))
                } else if kind == 0 {
                    entries.append(Entry(path: shown, problem: SystemError(error).reason))
                }
            }
            open += below.reversed()
        }
    }

    private static let git = Array(".git".utf8)

    /// Returns the sorted names in a directory with their types, or type 0 and an error, and the
    /// error that ended the listing.
    ///
    /// - Parameter isRoot: Whether the directory may be a link.
    private static func names(
        _ path: [UInt8], isRoot: Bool
    ) -> (names: [(name: [UInt8], kind: mode_t, error: Int32)], error: Int32) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (isRoot ? 0 : O_NOFOLLOW)
        let descriptor = unsafe CPath.with(path) { unsafe open($0, flags) }
        guard descriptor >= 0 else { return ([], errno) }
        let directory = OpenFile(owning: descriptor)
        defer { withExtendedLifetime(directory) {} }
        let found = Directory.names(in: directory)
        var names: [(name: [UInt8], kind: mode_t, error: Int32)] = []
        for name in found.names {
            var status = stat()
            let isFound = unsafe CPath.with(name) {
                unsafe fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW)
            }
            let error = isFound == 0 ? 0 : errno
            // Deleted in the meantime.
            if error == ENOENT { continue }
            names.append((name, isFound == 0 ? status.st_mode & S_IFMT : 0, error))
        }
        return (
            names.sorted { $0.name.lexicographicallyPrecedes($1.name) }, found.error?.number ?? 0
        )
    }
}

/// Passes paths of arbitrary bytes to system calls.
enum CPath {
    static func with<R>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> R) -> R {
        unsafe (path + [0]).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { preconditionFailure("never empty") }
            return unsafe body(start.assumingMemoryBound(to: CChar.self))
        }
    }
}
