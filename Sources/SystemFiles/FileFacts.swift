internal import Glibc

/// File metadata (stat(2)). Two equal values mean that the file has not been replaced or changed.
package struct FileFacts: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case regular, directory, other
    }

    /// The type of the file, or of a symbolic link's target.
    package let kind: Kind
    /// The mode bits of chmod(2).
    package let permissions: UInt32
    package let owner: UInt32
    package let group: UInt32
    /// The number of hard links; 0 for an open file that was removed.
    package let hardLinkCount: Int
    package let byteCount: UInt64
    /// The modification time, in milliseconds since 1970.
    package var changedAt: UInt64 {
        UInt64(max(seconds, 0)) &* 1_000 &+ UInt64(max(nanoseconds, 0)) / 1_000_000
    }

    private let device: UInt64
    private let number: UInt64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Reads the metadata of a path.
    ///
    /// - Parameter followsLinks: Whether to follow a symbolic link.
    package init(_ path: String, followsLinks: Bool = true) throws(SystemError) {
        var status = stat()
        let found = followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
        guard found == 0 else { throw .last }
        self.init(status)
    }

    /// Reads the metadata of a regular file. Returns nil for anything else, including symbolic
    /// links.
    package init?(regularFile path: String) {
        guard let facts = try? FileFacts(path, followsLinks: false), facts.kind == .regular else {
            return nil
        }
        self = facts
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            default: .other
            }
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        hardLinkCount = Int(status.st_nlink)
        byteCount = UInt64(max(status.st_size, 0))
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }

    /// Whether the file is owned by the effective user.
    package var isOwn: Bool { owner == geteuid() }

    /// Whether the mode grants anything to group or others.
    package var isAccessibleToOthers: Bool { permissions & 0o077 != 0 }

    /// Returns whether both describe the same file (device and inode), even if it has changed.
    package func isOfSameFile(as other: FileFacts) -> Bool {
        device == other.device && number == other.number
    }
}
