internal import Glibc
internal import Searching

/// A regular file that is searched from its front to its end.
struct ScannedFile {
    private let descriptor: Int32
    /// What it had when it was opened.
    private let size: UInt64
    /// Whether parts of it were never written: they take no time then, however large they are.
    private var hasHoles: Bool
    /// How far it was read.
    private(set) var bytes: UInt64 = 0

    /// A file that grows while it is read is read so much further, and not for ever.
    private static let furtherByteCount: UInt64 = 64 << 20

    /// SEEK_DATA, which the headers show to GNU programs alone.
    private static let seekData: Int32 = 3

    init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        size = UInt64(max(status.st_size, 0))
        hasHoles = UInt64(max(status.st_blocks, 0)) * 512 < size
    }

    /// Searches it.
    ///
    /// - Returns: What kept the rest of it from being looked at.
    mutating func read(_ scanner: ValueScanner) throws -> String? {
        while !scanner.isFull {
            if hasHoles, bytes < size { try passHole(scanner) }
            var problem: Int32 = 0
            let got = unsafe try scanner.read { buffer in
                let got = unsafe DescriptorReading.read(descriptor, into: buffer)
                if got < 0 { problem = errno }
                return max(got, 0)
            }
            if problem != 0 { return FileWalk.reason(problem) }
            if got == 0 { break }
            bytes += UInt64(got)
            // Without a size, as of a file that the system makes up, it has no end that is known.
            if bytes >= size + Self.furtherByteCount { return "it goes on growing" }
        }
        return nil
    }

    /// Goes to what was written next. What was not is zeros, of which no value has any: one of them keeps
    /// apart what stands before and behind.
    private mutating func passHole(_ scanner: ValueScanner) throws {
        let next = lseek(descriptor, off_t(bytes), Self.seekData)
        let place: UInt64
        if next >= 0 {
            place = UInt64(next)
        } else if errno == ENXIO {
            // Nothing but a hole is left.
            place = size
        } else {
            hasHoles = false
            return
        }
        guard lseek(descriptor, off_t(place), SEEK_SET) >= 0 else {
            hasHoles = false
            return
        }
        guard place > bytes else { return }
        _ = unsafe try scanner.read { buffer in
            unsafe buffer.storeBytes(of: 0, as: UInt8.self)
            return 1
        }
        bytes = place
    }
}
