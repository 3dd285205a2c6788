internal import CommandLineKit
internal import Glibc
internal import Sealing
internal import SystemFiles

/// Reads secret bytes from descriptors and files straight into guarded memory.
enum SecretInput {
    /// Reads a descriptor to its end.
    ///
    /// - Parameters:
    ///   - limit: The most bytes to read; one more is an error.
    ///   - what: The subject of error messages.
    ///   - end: The time limit.
    static func read(
        descriptor: Int32, limit: Int, what: String, until end: ContinuousClock.Instant? = nil
    ) throws -> SecretBuffer {
        var buffer = try SecretBuffer(capacity: min(limit + 1, capacity(for: descriptor)))
        while true {
            guard buffer.count <= limit else { throw tooLong(what, limit) }
            if buffer.room == 0 {
                try buffer.reserve(min(max(buffer.count, 4096), limit + 1 - buffer.count))
            }
            let room = min(buffer.room, limit + 1 - buffer.count)
            if let end { try waitForInput(descriptor, what, until: end) }
            var failure: Int32 = 0
            let got = buffer.appendWritten(limit: room) { target in
                unsafe target.withUnsafeMutableBytes { bytes in
                    let count = unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                    failure = count < 0 ? errno : 0
                    return max(count, 0)
                }
            }
            switch failure {
            case 0 where got == 0: return buffer
            case 0, EINTR: continue
            // A non-blocking descriptor without input yet, which is not the end.
            case EAGAIN: try waitForInput(descriptor, what)
            default: throw unreadable(what, failure)
            }
        }
    }

    /// Returns room for a whole file and the byte that would be too many: growing a buffer copies and
    /// wipes it each time.
    private static func capacity(for descriptor: Int32) -> Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return 64 << 10
        }
        return min(max(Int(clamping: status.st_size), 4095), Int.max - 1) + 1
    }

    private static func waitForInput(_ descriptor: Int32, _ what: String) throws {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, -1) >= 0 || errno == EINTR else {
            throw unreadable(what, errno)
        }
    }

    /// Waits for input or its end.
    private static func waitForInput(
        _ descriptor: Int32, _ what: String, until end: ContinuousClock.Instant
    ) throws {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            guard ContinuousClock.now < end else {
                throw CommandError(
                    .failed, "\(what) could not be read in time.",
                    hint: "Allow more time with --timeout.")
            }
            // A signal is pending only where the caller must clean up before the process ends.
            guard Interrupts.pending == nil else {
                throw CommandError(.failed, "\(what) was not read completely.")
            }
            let found = unsafe poll(&entry, 1, 100)
            if found > 0 { return }
            if found < 0, errno != EINTR { throw unreadable(what, errno) }
        }
    }

    /// Reads a whole file.
    ///
    /// - Parameter check: Called with the open file and its path before reading.
    static func read(
        path: String, limit: Int, what: String,
        check: (OpenFile, String) throws -> Void = { _, _ in }
    ) throws -> SecretBuffer {
        let file = try SystemError.mapped(try OpenFile(path, O_RDONLY | O_NOCTTY)) { error in
            CommandError(.usage, "\(what) \(path) cannot be opened: \(error.reason).")
        }
        defer { withExtendedLifetime(file) {} }
        try check(file, path)
        return try read(descriptor: file.descriptor, limit: limit, what: "\(what) \(path)")
    }

    private static func unreadable(_ what: String, _ number: Int32) -> CommandError {
        CommandError(.usage, "\(what) cannot be read: \(SystemError(number).reason).")
    }

    private static func tooLong(_ what: String, _ limit: Int) -> CommandError {
        let size = limit >= 1 << 20 ? "\(limit >> 20) MiB" : "\(limit) bytes"
        return CommandError(.usage, "\(what) is longer than \(size).")
    }
}
