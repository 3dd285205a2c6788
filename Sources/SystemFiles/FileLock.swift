internal import CLinux
internal import Glibc

/// A lock that belongs to an open file (fcntl(2), F_OFD_SETLK): the kernel ends it with the last process
/// that has the file open.
package final class FileLock {
    /// The file, made where it is missing.
    package let file: OpenFile
    private let byte: Int64?

    /// Opens the file of a lock, and takes nothing yet.
    ///
    /// - Parameter byte: The one byte of the file that stands for the lock, so that one file serves for many;
    ///   nil for the whole file.
    package convenience init(_ path: String, byte: Int64? = nil) throws(SystemError) {
        self.init(
            on: try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK), byte: byte)
    }

    /// A lock on a file that is open for writing.
    package init(on file: OpenFile, byte: Int64? = nil) {
        (self.file, self.byte) = (file, byte)
    }

    /// Takes the lock, if nobody else has it.
    package func tryLock() throws(SystemError) -> Bool {
        let status =
            byte.map { zg_try_lock_byte(file.descriptor, $0) } ?? zg_try_lock(file.descriptor)
        guard status != 0 else { return true }
        guard [EAGAIN, EACCES, EINTR].contains(errno) else { throw .last }
        return false
    }

    /// Takes the lock, and asks for it again and again, because a waiting call could not be given up.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most.
    ///   - pauses: In microseconds: the first one, and the longest one after it was doubled some times.
    ///   - sleep: Waits for that long.
    /// - Returns: False where somebody else has it still.
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

    /// Gives the byte back for every process that has the file open: closing it would leave the lock to the
    /// others.
    package func unlock() {
        if let byte { zg_unlock_byte(file.descriptor, byte) }
    }

    /// Writes the number of this process into the file, for the messages of those who wait. A failure changes
    /// nothing.
    package func nameHolder() {
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(file.descriptor, 0)
        _ = unsafe pwrite(file.descriptor, text, text.count, 0)
    }

    /// The process that has named itself; nil where none did.
    package var holder: Int32? {
        let digits = (try? file.bytes(at: 0, upTo: 16))?.prefix { (0x30...0x39).contains($0) }
        return digits.flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
}
