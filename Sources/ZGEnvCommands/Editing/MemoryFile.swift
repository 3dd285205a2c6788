internal import CLinux
internal import Glibc
internal import Sealing
internal import SystemFiles

/// An unnamed file in memory for an editor, wiped when it is released.
///
/// The kernel may swap it out like any memory, and the editor has a copy of the text.
final class MemoryFile {
    /// SEEK_DATA and SEEK_HOLE of lseek(2), which the headers define only with _GNU_SOURCE.
    private static let (seekData, seekHole): (Int32, Int32) = (3, 4)

    /// Inherited by the editor under the same number.
    let descriptor: Int32

    /// - Throws: ``ExitCode/failed``. There is no fallback to a file on disk.
    init() throws {
        descriptor = unsafe zg_memory_file("zg-env")
        guard descriptor >= 0 else {
            throw Self.failure("Cannot create an in-memory file", errno)
        }
    }

    /// Takes ownership of an open file, which is wiped like one in memory.
    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        wipe()
        close(descriptor)
    }

    /// Replaces the content with `text`.
    func write(_ text: RawSpan) throws {
        wipe()
        var written = 0
        while written < text.byteCount {
            let count = unsafe text.withUnsafeBytes { bytes in
                unsafe pwrite(
                    descriptor, bytes.baseAddress.map { unsafe $0 + written },
                    bytes.count - written, off_t(written))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("Cannot write the in-memory file", errno) }
            written += count
        }
    }

    func text(limit: Int) throws -> SecretBuffer {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Self.failure("Cannot read the in-memory file", errno)
        }
        return try SecretInput.read(descriptor: descriptor, limit: limit, what: "The edited text")
    }

    /// Overwrites the content and frees its memory. The kernel does not clear pages when it frees
    /// them, so that the text would stay in memory until they are reused.
    ///
    /// Skips holes, because overwriting them would allocate memory, and an editor may make the file
    /// arbitrarily long.
    ///
    /// - Returns: The number of bytes overwritten.
    @discardableResult
    func wipe() -> Int {
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        var (offset, overwritten) = (off_t(0), 0)
        while true {
            let start = lseek(descriptor, offset, Self.seekData)
            let end = start < 0 ? start : lseek(descriptor, start, Self.seekHole)
            guard end > start else { break }
            offset = start
            while offset < end {
                let count = unsafe pwrite(
                    descriptor, zeros, min(zeros.count, Int(end - offset)), offset)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                offset += off_t(count)
                overwritten += count
            }
            guard offset == end else { break }
        }
        _ = ftruncate(descriptor, 0)
        return overwritten
    }

    private static func failure(_ what: String, _ number: Int32) -> CommandError {
        CommandError(
            .failed, "\(what): \(SystemError(number).reason).",
            hint: "Change one variable with: zg-env set KEY")
    }
}
