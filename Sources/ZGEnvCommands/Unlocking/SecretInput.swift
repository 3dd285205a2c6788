internal import Glibc
internal import Sealing

/// Reads secret bytes from descriptors and files straight into guarded memory.
enum SecretInput {
    /// Reads a descriptor to its end.
    ///
    /// - Parameters:
    ///   - limit: Most bytes taken; one more is an error.
    ///   - what: What is read, for messages.
    static func read(
        descriptor: Int32, limit: Int, what: String
    ) throws -> SecretBuffer {
        var buffer = try SecretBuffer(capacity: min(limit + 1, 64 << 10))
        while true {
            let room = min(max(buffer.count, 4096), limit + 1 - buffer.count)
            guard room > 0 else { throw tooLong(what, limit) }
            try buffer.reserve(room)
            let got = buffer.appendWritten(limit: room) { target in
                unsafe target.withUnsafeMutableBytes { bytes in
                    var count = unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                    while count < 0 && errno == EINTR {
                        count = unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                    }
                    return max(count, 0)
                }
            }
            if got == 0 {
                // A failed read and the end both give no bytes; the kernel tells them apart.
                guard isReadable(descriptor) else { throw unreadable(what) }
                return buffer
            }
        }
    }

    /// Reads a whole file.
    static func read(path: String, limit: Int, what: String) throws -> SecretBuffer {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw CommandError(.usage, "\(what) \(path) cannot be opened: \(reason).")
        }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, limit: limit, what: "\(what) \(path)")
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        var byte: UInt8 = 0
        if status.st_mode & S_IFMT == S_IFDIR { return false }
        return unsafe Glibc.read(descriptor, &byte, 0) >= 0
    }

    private static func unreadable(_ what: String) -> CommandError {
        CommandError(.usage, "\(what) cannot be read.", hint: "Nothing was changed.")
    }

    private static func tooLong(_ what: String, _ limit: Int) -> CommandError {
        let size = limit >= 1 << 20 ? "\(limit >> 20) MiB" : "\(limit) bytes"
        return CommandError(.usage, "\(what) is longer than \(size).", hint: "Nothing was changed.")
    }
}
