import Glibc
package import JSON

/// A buffered output stream on a file descriptor.
///
/// The buffer is wiped after each write, since values pass through it. Call `flush()` at the end and
/// handle its error: `deinit` drops unwritten bytes and does not close the descriptor. SIGPIPE must
/// be ignored for a closed output to be an error.
@safe package final class OutputStream: ByteSink {
    static let capacity = 8192

    /// The descriptor, owned by the caller.
    package let descriptor: Int32
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        unsafe buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.capacity, alignment: 1)
    }

    deinit {
        wipe()
        unsafe buffer.deallocate()
    }

    /// Buffers bytes, and writes when the buffer is full.
    package func write(_ bytes: RawSpan) throws(OutputError) {
        if bytes.byteCount > Self.capacity - count { try flush() }
        if bytes.byteCount > Self.capacity {
            try writeAll(bytes)
            return
        }
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(
                from: source)
        }
        count += bytes.byteCount
    }

    /// Buffers a text as UTF-8.
    package func write(_ text: String) throws(OutputError) {
        unsafe try write(text.utf8Span.span.bytes)
    }

    /// Writes bytes at once, after what is buffered, without a copy in the buffer.
    package func writeDirectly(_ bytes: RawSpan) throws(OutputError) {
        try flush()
        try writeAll(bytes)
    }

    /// Writes the buffered bytes. Bytes that cannot be written are dropped: after an error the output
    /// is incomplete.
    package func flush() throws(OutputError) {
        guard count > 0 else { return }
        defer { wipe() }
        try unsafe writeAll(
            RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
    }

    /// Writes a text to a descriptor at once.
    package static func write(_ text: String, to descriptor: Int32) throws(OutputError) {
        try unsafe OutputStream(descriptor: descriptor).writeDirectly(text.utf8Span.span.bytes)
    }

    /// Drops the buffered bytes.
    package func discard() {
        wipe()
    }

    private func wipe() {
        if let base = unsafe buffer.baseAddress, count > 0 { unsafe explicit_bzero(base, count) }
        count = 0
    }

    private func writeAll(_ bytes: RawSpan) throws(OutputError) {
        let failure = unsafe bytes.withUnsafeBytes { unsafe writeAll($0) }
        if let failure { throw failure }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
        var rest = unsafe bytes
        while let base = rest.baseAddress, rest.count > 0 {
            let written = unsafe Glibc.write(descriptor, base, rest.count)
            if written >= 0 {
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[written...])
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: if let failure = waitUntilWritable() { return failure }
            case EPIPE, EBADF: return .closed
            case let code: return .system(errno: code)
            }
        }
        return nil
    }

    /// Waits for a descriptor that another process made non-blocking.
    private func waitUntilWritable() -> OutputError? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&entry, 1, -1) < 0, errno != EINTR else { return nil }
        return .system(errno: errno)
    }
}
