internal import CLinux
internal import Glibc
internal import Sealing
internal import SystemFiles

/// A file that is in memory alone and has no name: what an editor works on. It is wiped when it goes.
///
/// The kernel may swap it out as it may any program's memory, and the editor holds the text too.
final class MemoryFile {
    /// SEEK_DATA and SEEK_HOLE of lseek(2), which the headers show to GNU programs alone.
    private static let (seekData, seekHole): (Int32, Int32) = (3, 4)

    /// Goes to the editor under the same number; this process itself is closed to all others.
    let descriptor: Int32

    /// - Throws: ``ExitCode/failed`` where the kernel makes none: a file on disk is no substitute.
    init() throws {
        descriptor = unsafe zg_memory_file("zg-env")
        guard descriptor >= 0 else {
            throw Self.failure("The kernel gives no file in memory", errno)
        }
    }

    deinit {
        wipe()
        close(descriptor)
    }

    /// Puts `text` in place of what is there.
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
            guard count > 0 else { throw Self.failure("The file in memory takes no more", errno) }
            written += count
        }
    }

    /// What is there now.
    func text(limit: Int) throws -> SecretBuffer {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Self.failure("The file in memory cannot be read", errno)
        }
        return try SecretInput.read(descriptor: descriptor, limit: limit, what: "The edited text")
    }

    /// Overwrites what the file holds and gives its memory back. The kernel frees pages as they are, so
    /// that without this the text would stay in memory until somebody else gets them.
    ///
    /// Holes hold nothing and are passed over: overwriting one would take the memory that it does not
    /// have, as much as an editor's slip makes the file long.
    ///
    /// - Returns: Bytes that were overwritten.
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
            hint: "Nothing was changed. Change one variable with: zg-env set KEY")
    }
}
