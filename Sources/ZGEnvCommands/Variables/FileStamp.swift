internal import Glibc

/// What tells that a file is still the one that was read: a regular file, not a link to one, of the
/// same number, size and times.
struct FileStamp: Equatable {
    /// Whether no other hard link leads to the file.
    let hasOneName: Bool
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// nil for anything but a regular file.
    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        hasOneName = status.st_nlink == 1
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}
