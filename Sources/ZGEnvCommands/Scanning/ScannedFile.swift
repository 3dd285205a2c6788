internal import Glibc
internal import Searching
internal import SystemFiles

/// Scans a regular file.
struct ScannedFile {
    private let descriptor: Int32
    /// The size when the file was opened.
    private let size: UInt64
    /// Whether the file has holes, which are skipped however large they are.
    private var hasHoles: Bool
    /// The number of bytes read or skipped.
    private(set) var bytes: UInt64 = 0

    /// How far a file is read beyond its size if it grows.
    private static let furtherByteCount: UInt64 = 64 << 20

    /// SEEK_DATA of lseek(2), which the headers define only with _GNU_SOURCE.
    private static let seekData: Int32 = 3

    init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        size = UInt64(max(status.st_size, 0))
        hasHoles = UInt64(max(status.st_blocks, 0)) * 512 < size
    }

    /// Scans the file; returns why the rest of it was not scanned, or nil.
    mutating func read(_ scanner: ValueScanner) throws -> String? {
        while !scanner.isFull {
            if hasHoles, bytes < size { try skipHole(scanner) }
            var problem: Int32 = 0
            let got = unsafe try scanner.read { buffer in
                let got = unsafe DescriptorReading.read(descriptor, into: buffer)
                if got < 0 { problem = errno }
                return max(got, 0)
            }
            if problem != 0 { return SystemError(problem).reason }
            if got == 0 { break }
            bytes += UInt64(got)
            // Files of size 0, as in /proc, have no known end.
            if bytes >= size + Self.furtherByteCount { return "it keeps growing" }
        }
        return nil
    }

    /// Skips a hole. It consists of zeros, which no value contains, so one zero is enough to
    /// separate the data before and after it.
    private mutating func skipHole(_ scanner: ValueScanner) throws {
        let next = lseek(descriptor, off_t(bytes), Self.seekData)
        let place: UInt64
        if next >= 0 {
            place = UInt64(next)
        } else if errno == ENXIO {
            // Only a hole is left.
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
