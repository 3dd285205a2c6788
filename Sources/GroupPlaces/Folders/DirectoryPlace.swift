internal import Glibc
package import Groups
internal import SystemFiles
internal import Vault

/// A directory of a local disk, a network file system or a USB stick. Each group is a folder, named
/// by the group's id, with the paths of `ObjectPath`.
///
/// New files and folders get the permissions of the directory, without executing for files: a
/// directory of mode 2770 is for a Unix group, one of mode 0700 for one person. The umask does not
/// matter, since zg-env runs with its own.
package final class DirectoryPlace: GroupPlace {
    private let path: String
    private let isDurable: Bool

    /// - Parameters:
    ///   - path: The absolute path of an existing directory.
    ///   - isDurable: Whether what was published must outlast a power failure. Takes milliseconds for
    ///     each object.
    package init(_ path: String, isDurable: Bool = true) {
        (self.path, self.isDurable) = (path, isDurable)
    }

    package func groups() throws(PlaceError) -> [GroupHash] {
        try reading { () throws(SystemError) in
            let root = try GroupFolder(place: path)
            return try root.names().compactMap { name in
                guard let group = GroupHash(hexadecimal: name), (try? root.folder(name)) != nil
                else { return nil }
                return group
            }.sorted()
        }
    }

    package func refresh(
        _ group: GroupHash, since token: String?
    ) throws(PlaceError) -> PlaceRefresh {
        // Objects do not change, so that their paths stand for the content.
        let names = try paths(of: group).map(\.text).sorted().joined(separator: "\n")
        let now = GroupHash(of: Array(names.utf8)).hexadecimal
        return PlaceRefresh(hasChanged: now != token, token: now)
    }

    package func paths(of group: GroupHash) throws(PlaceError) -> Set<ObjectPath> {
        try reading { () throws(SystemError) in
            guard let folder = try GroupFolder(place: path).folder(group.hexadecimal) else {
                return []
            }
            var paths: Set<ObjectPath> = []
            for name in ObjectPath.folders {
                guard let objects = try folder.folder(name) else { continue }
                for below in try objects.names() {
                    if let path = ObjectPath("\(name)/\(below)") { paths.insert(path) }
                    // Changes and joins are one level deeper.
                    guard
                        name == "changes" && below.utf8.count == 2
                            || name == "joins" && below.utf8.count == 32,
                        let inner = try objects.folder(below)
                    else { continue }
                    for last in try inner.names() {
                        if let path = ObjectPath("\(name)/\(below)/\(last)") { paths.insert(path) }
                    }
                }
            }
            return paths
        }
    }

    package func read(
        _ paths: [ObjectPath], of group: GroupHash, upTo limit: Int
    ) throws(PlaceError) -> PlaceReading {
        try reading { () throws(SystemError) in
            var reading = PlaceReading()
            guard let folder = try GroupFolder(place: path).folder(group.hexadecimal) else {
                return reading
            }
            var total = 0
            // Neighbouring paths are often in one folder.
            var last: (folders: [String], folder: GroupFolder)?
            for (index, path) in paths.enumerated() {
                guard total < limit else {
                    reading.remaining = Array(paths[index...])
                    break
                }
                let (folders, name) = Self.parts(of: path)
                if last?.folders != folders {
                    last = try Self.open(folders, in: folder).map { (folders, $0) }
                }
                guard let inner = last?.folder else { continue }
                switch try inner.read(name, limit: path.limit) {
                case nil: continue
                case .unusable?: reading.refused.insert(path)
                case .bytes(let bytes)?:
                    total += bytes.count
                    reading.add(bytes, at: path)
                }
            }
            return reading
        }
    }

    package func publish(
        _ objects: [PlaceObject], to group: GroupHash
    ) throws(PlaceError) -> Set<ObjectPath> {
        guard !objects.isEmpty else { return [] }
        do throws(SystemError) {
            let root = try GroupFolder(place: path)
            let permissions = try root.permissions
            let folder = try root.makeFolder(
                group.hexadecimal, permissions: permissions, durably: isDurable)
            var taken: Set<ObjectPath> = []
            var cleaned: Set<[String]> = []
            var last: (folders: [String], folder: GroupFolder)?
            for object in objects {
                let (folders, name) = Self.parts(of: object.path)
                if last?.folders != folders {
                    var inner = folder
                    for name in folders {
                        inner = try inner.makeFolder(
                            name, permissions: permissions, durably: isDurable)
                    }
                    last = (folders, inner)
                }
                guard let inner = last?.folder else { continue }
                if cleaned.insert(folders).inserted { inner.removeLeftovers() }
                if try !publish(object, as: name, in: inner, permissions) {
                    taken.insert(object.path)
                }
            }
            return taken
        } catch {
            throw PlaceError(error, "write to the place")
        }
    }

    /// Returns false if the path has other bytes.
    private func publish(
        _ object: PlaceObject, as name: String, in folder: GroupFolder, _ permissions: UInt32
    ) throws(SystemError) -> Bool {
        if try folder.write(
            object.bytes, to: name, permissions: permissions, replaces: false,
            durably: isDurable)
        {
            return true
        }
        let content = try folder.read(name, limit: object.path.limit)
        if content == .bytes(object.bytes) { return true }
        // Only these bytes fit the path, so whatever is there is of no use to anybody.
        guard object.path.hash != nil else { return false }
        do throws(SystemError) {
            return try folder.write(
                object.bytes, to: name, permissions: permissions, replaces: true,
                durably: isDurable)
        } catch  where [EEXIST, EISDIR, ENOTEMPTY].contains(error.number) {
            // A directory cannot be replaced by a file.
            return false
        }
    }

    package func probe() throws(PlaceError) -> PlaceTraits {
        let name = "\(GroupFolder.temporaryPrefix)probe-\(Identifier.random().hexadecimal)"
        let (first, second) = (Array("first".utf8), Array("second".utf8))
        let isExclusive: Bool
        do throws(SystemError) {
            let root = try GroupFolder(place: path)
            let permissions = try root.permissions
            defer { root.remove(name) }
            func create(_ bytes: [UInt8]) throws(SystemError) -> Bool {
                try root.write(
                    bytes, to: name, permissions: permissions, replaces: false,
                    durably: isDurable)
            }
            let isNew = try create(first)
            let isReplaced = try create(second)
            let content = try root.read(name, limit: 100)
            isExclusive = isNew && !isReplaced && content == .bytes(first)
        } catch {
            throw PlaceError(error, "create a file in the place exactly once")
        }
        guard isExclusive else {
            throw PlaceError(
                .notExclusive,
                "The place replaces existing files, so entries of a group could be lost."
                    + " Use another directory or a git repository.")
        }
        return PlaceTraits(synchronizer: SynchronizedFolder.program(for: path))
    }

    private static func parts(of path: ObjectPath) -> (folders: [String], name: String) {
        var parts = path.text.split(separator: "/").map(String.init)
        let name = parts.removeLast()
        return (parts, name)
    }

    private static func open(
        _ folders: [String], in folder: GroupFolder
    ) throws(SystemError) -> GroupFolder? {
        var inner = folder
        for name in folders {
            guard let next = try inner.folder(name) else { return nil }
            inner = next
        }
        return inner
    }

    private func reading<R>(_ body: () throws(SystemError) -> R) throws(PlaceError) -> R {
        do throws(SystemError) {
            return try body()
        } catch {
            throw PlaceError(error, "read the place")
        }
    }
}
