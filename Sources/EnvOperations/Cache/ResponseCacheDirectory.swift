internal import Glibc
internal import SystemFiles
internal import Vault

/// The directory of the response cache, accessible only to the user.
struct ResponseCacheDirectory {
    /// The suffix of table names. Lock files and leftovers of killed writers append to it.
    static let ending = ".answers"

    let path: String

    /// Creates the directory if necessary, and removes other users' access.
    func prepare() throws(VaultError) {
        try PosixFileStore().prepareDirectory(of: path + "/" + Self.ending)
        guard let facts = try? FileFacts(path, followsLinks: false), facts.kind == .directory else {
            throw VaultError(.insecure, "\(path) is not a directory, or is a symbolic link")
        }
        guard facts.isOwn else {
            throw VaultError(.insecure, "\(path) belongs to another user")
        }
        guard unsafe !facts.isAccessibleToOthers || chmod(path, 0o700) == 0 else {
            throw VaultError(.insecure, "\(path) is accessible to other users")
        }
    }

    /// Removes the files of all other tables that were last written before `time`, in milliseconds
    /// since 1970.
    func removeOthers(than table: String, before time: UInt64) {
        for name in Directory.names(in: path)
        where name.contains(Self.ending) && !name.contains(table) {
            let file = "\(path)/\(name)"
            guard let facts = try? FileFacts(file, followsLinks: false), facts.changedAt < time
            else {
                continue
            }
            unsafe unlink(file)
        }
    }
}
