internal import Glibc

/// What the kernel says of a file (stat(2)). Equal facts tell that it is still the one that was read.
package struct FileFacts: Equatable, Sendable {
    /// What it is.
    package enum Kind: Equatable, Sendable {
        case regular, directory, other
    }

    /// What stands at the path, or what a link there leads to.
    package let kind: Kind
    /// The bits of chmod(2).
    package let permissions: UInt32
    /// The user that it belongs to.
    package let owner: UInt32
    /// How many names lead to it; none for one that was removed while it is open.
    package let nameCount: Int
    /// Its length.
    package let byteCount: UInt64
    /// When its content was last changed, in milliseconds since 1970.
    package var changedAt: UInt64 {
        UInt64(max(seconds, 0)) &* 1_000 &+ UInt64(max(nanoseconds, 0)) / 1_000_000
    }

    private let device: UInt64
    private let number: UInt64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Facts of what is at a path.
    ///
    /// - Parameter followsLinks: Whether a symbolic link counts as what it leads to.
    package init(_ path: String, followsLinks: Bool = true) throws(SystemError) {
        var status = stat()
        let found = followsLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
        guard found == 0 else { throw .last }
        self.init(status)
    }

    /// Facts of a regular file, links not followed; nil for anything else.
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
        nameCount = Int(status.st_nlink)
        byteCount = UInt64(max(status.st_size, 0))
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }

    /// Whether it belongs to the user that this process runs as.
    package var isOwn: Bool { owner == geteuid() }

    /// Whether others than the owner may open it.
    package var isOpenToOthers: Bool { permissions & 0o077 != 0 }

    /// Whether both are of one file, whatever became of it in between.
    package func isOfSameFile(as other: FileFacts) -> Bool {
        device == other.device && number == other.number
    }
}
