internal import CLinux
internal import Glibc

/// A lock of an open file description (fcntl(2), F_OFD_SETLK; flock(2) for a directory). The kernel
/// releases it with the last process that has the file open.
package final class FileLock {
    private enum Extent {
        case file
        case byte(Int64)
        case directory
    }

    /// The lock file, created if missing, or the directory.
    package let file: OpenFile
    private let extent: Extent

    /// Opens the lock file without locking it.
    ///
    /// - Parameter byte: The byte of the file to lock, so that one file serves for many locks; nil
    ///   for the whole file.
    package convenience init(_ path: String, byte: Int64? = nil) throws(SystemError) {
        self.init(
            on: try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK), byte: byte)
    }

    /// Creates a lock on a file that is open for writing.
    package init(on file: OpenFile, byte: Int64? = nil) {
        self.file = file
        extent = byte.map { .byte($0) } ?? .file
    }

    /// Creates a lock on a directory, which needs no file of its own.
    package init(directory path: String) throws(SystemError) {
        file = try OpenFile(path, O_RDONLY | O_DIRECTORY)
        extent = .directory
    }

    /// Takes the lock if it is free.
    package func tryLock() throws(SystemError) -> Bool {
        let status =
            switch extent {
            case .file: zg_try_lock(file.descriptor)
            case .byte(let byte): zg_try_lock_byte(file.descriptor, byte)
            case .directory: flock(file.descriptor, LOCK_EX | LOCK_NB)
            }
        guard status != 0 else { return true }
        guard [EAGAIN, EACCES, EINTR].contains(errno) else { throw .last }
        return false
    }

    /// Takes the lock, polling, because a blocking call could not be canceled.
    ///
    /// - Parameters:
    ///   - limit: The longest wait.
    ///   - pauses: The first and the longest pause in microseconds; each pause doubles the last.
    ///   - sleep: Waits for that many microseconds.
    /// - Returns: False if another process still has the lock.
    package func lock(
        within limit: Duration, pauses: ClosedRange<UInt32>,
        sleep: (UInt32) -> Void = { usleep($0) }
    ) throws(SystemError) -> Bool {
        let end = ContinuousClock.now + limit
        var pause = pauses.lowerBound
        while try !tryLock() {
            guard ContinuousClock.now < end else { return false }
            sleep(pause)
            pause = min(pause * 2, pauses.upperBound)
        }
        return true
    }

    /// Unlocks the byte for every process that shares this open file, which closing would not do.
    package func unlock() {
        if case .byte(let byte) = extent { zg_unlock_byte(file.descriptor, byte) }
    }

    /// Writes this process's id into the file, for the messages of waiting processes. Ignores
    /// errors.
    package func writeHolder() {
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(file.descriptor, 0)
        _ = unsafe pwrite(file.descriptor, text, text.count, 0)
    }

    /// The process id in the file, or nil.
    package var holder: Int32? {
        let digits = (try? file.bytes(at: 0, upTo: 16))?.prefix { (0x30...0x39).contains($0) }
        return digits.flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
}
