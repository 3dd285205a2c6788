internal import Glibc
internal import SystemFiles

/// A symbolic link to a child's descriptor, with a name by which editors color the text.
///
/// It is in a private directory in memory (tmpfs) without write permission: an editor that saves by
/// renaming a new file over the old one fails, as it does in /proc. Root is not stopped by that; the
/// new file is then in memory too, and ``remove()`` wipes it.
struct MemoryFileLink {
    let path: String
    private let directory: String
    private let name: String

    /// Creates the link in the first usable of `places`.
    ///
    /// - Returns: Nil if none of them is in memory.
    init?(to target: String, named name: String, in places: [String]) {
        var created: String?
        for place in places where created == nil { created = Self.makeDirectory(in: place) }
        guard let directory = created else { return nil }
        (self.directory, self.name) = (directory, name)
        path = "\(directory)/\(name)"
        guard unsafe symlink(target, path) == 0, unsafe chmod(directory, 0o500) == 0 else {
            _ = remove()
            return nil
        }
    }

    private static func makeDirectory(in place: String) -> String? {
        guard place.hasPrefix("/"), isInMemory(place) else { return nil }
        return try? PrivateDirectory(in: place, prefix: "zg-env-").path
    }

    /// Returns whether a directory is on a tmpfs, according to the kernel's list of mounts.
    private static func isInMemory(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return false }
        let device = UInt64(facts.st_dev)
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        let mounts = String(decoding: SmallFile.bytes("/proc/self/mountinfo") ?? [], as: UTF8.self)
        return mounts.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == "\(major):\(minor)",
                let end = fields.firstIndex(of: "-"), end + 1 < fields.count
            else { return false }
            return fields[end + 1] == "tmpfs"
        }
    }

    /// Removes the directory, and wipes what an editor wrote there.
    ///
    /// - Returns: False if a file was in place of the link.
    func remove() -> Bool {
        _ = unsafe chmod(directory, 0o700)
        var isClean = true
        if let folder = try? OpenFile(directory, O_RDONLY | O_DIRECTORY) {
            for bytes in Directory.names(in: folder).names {
                let entry = (bytes + [0]).map { CChar(bitPattern: $0) }
                var status = stat()
                if unsafe fstatat(folder.descriptor, entry, &status, AT_SYMLINK_NOFOLLOW) == 0,
                    status.st_mode & S_IFMT == S_IFREG
                {
                    if bytes.elementsEqual(name.utf8) { isClean = false }
                    let descriptor = unsafe openat(
                        folder.descriptor, entry, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
                    if descriptor >= 0 { MemoryFile(owning: descriptor).wipe() }
                }
                unsafe unlinkat(folder.descriptor, entry, 0)
            }
        }
        unsafe rmdir(directory)
        return isClean
    }
}
