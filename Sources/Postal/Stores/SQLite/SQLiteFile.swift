internal import CLinux
internal import Glibc

/// The database's file: made for its owner alone, and taken by one relay at a time.
enum SQLiteFile {
    /// Makes the file where there is none, if that is meant, and refuses one that others can read.
    static func prepare(_ path: String, creates: Bool) throws(StoreError) {
        if creates {
            // Before SQLite opens it: closing a descriptor later would drop SQLite's locks.
            let made = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if made >= 0 {
                Glibc.close(made)
                return
            }
            guard errno == EEXIST else {
                throw StoreError(.unavailable, "The database cannot be made (\(reason)).")
            }
        }
        var information = stat()
        guard unsafe stat(path, &information) == 0 else {
            if errno == ENOENT { throw StoreError(.missing, "There is no database at that place.") }
            throw StoreError(.unavailable, "The database cannot be reached (\(reason)).")
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.damaged, "The database is no ordinary file.")
        }
        guard information.st_mode & 0o077 == 0 else {
            throw StoreError(.insecure, "The database's file is open to others than its owner.")
        }
    }

    /// Takes the one place of a relay, in a file beside the database.
    ///
    /// - Returns: A descriptor that holds it until it is closed.
    static func takePlace(at path: String) throws(StoreError) -> Int32 {
        let lock = unsafe open("\(path)-relay", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            throw StoreError(.unavailable, "The database's folder cannot be written (\(reason)).")
        }
        guard zg_try_lock(lock) == 0 else {
            Glibc.close(lock)
            throw StoreError(.inUse, "Another relay serves from this database.")
        }
        return lock
    }

    /// Lets go of the place.
    static func leavePlace(_ lock: Int32) {
        Glibc.close(lock)
    }

    /// Bytes of the database and what lies beside it.
    static func byteCount(_ path: String) -> Int64 {
        var sum: Int64 = 0
        for name in [path, "\(path)-wal"] {
            var information = stat()
            if unsafe stat(name, &information) == 0 { sum += Int64(information.st_size) }
        }
        return sum
    }

    private static var reason: String { unsafe String(cString: strerror(errno)) }
}
