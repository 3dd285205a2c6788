import Foundation
import TestSupport

/// The lock of a vault, held as by another writer.
final class HeldLock: @unchecked Sendable {
    /// F_OFD_SETLK, which glibc declares for _GNU_SOURCE only: 37 on every Linux architecture.
    private static let openFileSetLock: Int32 = 37

    private let descriptor: Int32

    init(of home: CommandHome) throws {
        descriptor = unsafe open("\(home.vaultPath).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, Self.apply(F_WRLCK, to: descriptor) == 0 else {
            throw SystemCallError("lock")
        }
        // The process id, which waiting writers report.
        let text = "\(getpid())\n"
        ftruncate(descriptor, 0)
        _ = unsafe pwrite(descriptor, text, text.utf8.count, 0)
    }

    /// Locks a file that is its own lock, such as the audit log.
    init(ofFile path: String) throws {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, Self.apply(F_WRLCK, to: descriptor) == 0 else {
            throw SystemCallError("lock")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Blocks until `process` has opened the lock file, and 5 ms longer.
    func awaitWaiter(_ process: Int32) {
        let directory = "/proc/\(process)/fd"
        for _ in 0..<2_000 {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            let isWaiting = names.contains { name in
                let path = "\(directory)/\(name)"
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                return target?.hasSuffix(".lock") == true
            }
            if isWaiting { break }
            usleep(2_000)
        }
        usleep(5_000)
    }

    func release() {
        _ = Self.apply(F_UNLCK, to: descriptor)
    }

    private static func apply(_ kind: Int32, to descriptor: Int32) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        return unsafe fcntl(descriptor, openFileSetLock, &lock)
    }
}
