internal import Glibc
internal import SystemFiles
internal import Vault

/// Where the tables of answers are: a directory that is the user's alone.
struct AnswerDirectory {
    /// How the name of a table ends; those of its lock and of what a killed writer left go on after it.
    static let ending = ".answers"

    let path: String

    /// Makes the directory where it is missing, and closes it to others.
    func prepare() throws(VaultError) {
        try PosixFileStore().prepareDirectory(of: path + "/" + Self.ending)
        guard let facts = try? FileFacts(path, followsLinks: false), facts.kind == .directory else {
            throw VaultError(.insecure, "\(path) is no directory of its own")
        }
        guard facts.isOwn else {
            throw VaultError(.insecure, "\(path) belongs to another user")
        }
        guard unsafe !facts.isOpenToOthers || chmod(path, 0o700) == 0 else {
            throw VaultError(.insecure, "\(path) can be opened by other users")
        }
    }

    /// Removes what was not written since a moment (in milliseconds since 1970), of all tables but one.
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
