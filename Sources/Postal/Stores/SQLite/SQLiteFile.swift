internal import Glibc
internal import SystemFiles

/// The database file: private to its owner, and used by one relay at a time.
enum SQLiteFile {
    /// Creates a missing file if `creates`, and refuses one that others can read.
    static func prepare(_ path: String, creates: Bool) throws(StoreError) {
        if creates {
            // Before SQLite opens it: closing a descriptor later would drop SQLite's locks.
            do throws(SystemError) {
                _ = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
                return
            } catch {
                guard error.number == EEXIST else {
                    throw StoreError(
                        .unavailable, "Cannot create the database (\(error.reason)).")
                }
            }
        }
        let facts = try SystemError.mapped(try FileFacts(path)) { error in
            error.number == ENOENT
                ? StoreError(.missing, "The database does not exist.")
                : StoreError(.unavailable, "Cannot access the database (\(error.reason)).")
        }
        guard facts.kind == .regular else {
            throw StoreError(.damaged, "The database is not a regular file.")
        }
        guard !facts.isAccessibleToOthers else {
            throw StoreError(.insecure, "Other users have access to the database file.")
        }
    }

    /// Locks the database for one relay, with a file beside it. The lock lasts as long as the
    /// result.
    static func lockForRelay(at path: String) throws(StoreError) -> FileLock {
        func failure(_ error: SystemError) -> StoreError {
            StoreError(
                .unavailable, "Cannot write to the database's directory (\(error.reason)).")
        }
        let lock = try SystemError.mapped(try FileLock("\(path)-relay"), failure)
        guard try SystemError.mapped(try lock.tryLock(), failure) else {
            throw StoreError(.inUse, "Another relay is using this database.")
        }
        return lock
    }

    /// Returns the size of the database and the files beside it.
    static func byteCount(_ path: String) -> Int64 {
        [path, "\(path)-wal"].reduce(0) {
            $0 + Int64(clamping: (try? FileFacts($1))?.byteCount ?? 0)
        }
    }
}
