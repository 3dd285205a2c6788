internal import Glibc
internal import SystemFiles

/// The database's file: made for its owner alone, and taken by one relay at a time.
enum SQLiteFile {
    /// Makes the file where there is none, if that is meant, and refuses one that others can read.
    static func prepare(_ path: String, creates: Bool) throws(StoreError) {
        if creates {
            // Before SQLite opens it: closing a descriptor later would drop SQLite's locks.
            do throws(SystemError) {
                _ = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
                return
            } catch {
                guard error.number == EEXIST else {
                    throw StoreError(
                        .unavailable, "The database cannot be made (\(error.reason)).")
                }
            }
        }
        let facts = try SystemError.mapped(try FileFacts(path)) { error in
            error.number == ENOENT
                ? StoreError(.missing, "There is no database at that place.")
                : StoreError(.unavailable, "The database cannot be reached (\(error.reason)).")
        }
        guard facts.kind == .regular else {
            throw StoreError(.damaged, "The database is no ordinary file.")
        }
        guard !facts.isOpenToOthers else {
            throw StoreError(.insecure, "The database's file is open to others than its owner.")
        }
    }

    /// Takes the one place of a relay, in a file beside the database.
    ///
    /// - Returns: What holds it as long as it is there.
    static func takePlace(at path: String) throws(StoreError) -> FileLock {
        func failure(_ error: SystemError) -> StoreError {
            StoreError(
                .unavailable, "The database's folder cannot be written (\(error.reason)).")
        }
        let lock = try SystemError.mapped(try FileLock("\(path)-relay"), failure)
        guard try SystemError.mapped(try lock.tryLock(), failure) else {
            throw StoreError(.inUse, "Another relay serves from this database.")
        }
        return lock
    }

    /// Bytes of the database and what lies beside it.
    static func byteCount(_ path: String) -> Int64 {
        [path, "\(path)-wal"].reduce(0) {
            $0 + Int64(clamping: (try? FileFacts($1))?.byteCount ?? 0)
        }
    }
}
