internal import Glibc
internal import Vault

/// Where the tables of answers are: a directory that is the user's alone.
struct AnswerDirectory {
    /// How the name of a table ends; those of its lock and of what a killed writer left go on after it.
    static let ending = ".answers"

    let path: String

    /// Makes the directory where it is missing, and closes it to others.
    func prepare() throws(VaultError) {
        try PosixFileStore().prepareDirectory(of: path + "/" + Self.ending)
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw VaultError(.insecure, "\(path) is no directory of its own")
        }
        guard status.st_uid == geteuid() else {
            throw VaultError(.insecure, "\(path) belongs to another user")
        }
        guard unsafe status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw VaultError(.insecure, "\(path) can be opened by other users")
        }
    }

    /// Removes what was not written since a moment (in milliseconds since 1970), of all tables but one.
    func removeOthers(than table: String, before time: UInt64) {
        guard let stream = unsafe opendir(path) else { return }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.contains(Self.ending), !name.contains(table) else { continue }
            var status = stat()
            guard unsafe fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                UInt64(max(status.st_mtim.tv_sec, 0)) < time / 1_000
            else { continue }
            unsafe unlinkat(dirfd(stream), name, 0)
        }
    }
}
