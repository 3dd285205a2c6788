package import Sealing

/// Bytes in guarded memory that several owners may hold: the body of a request or of an answer.
///
/// Neither its description nor a dump of it shows the bytes. Not for use from several threads at
/// once.
package final class GuardedBytes: CustomStringConvertible, CustomReflectable {
    private var buffer: SecretBuffer

    /// Makes an empty body that holds `capacity` bytes before it grows.
    package init(capacity: Int = 4096) throws(SealingError) {
        buffer = try SecretBuffer(capacity: capacity)
    }

    /// Takes over what was written to `buffer`.
    package init(_ buffer: consuming SecretBuffer) {
        self.buffer = buffer
    }

    /// Number of bytes.
    package var count: Int { buffer.count }

    /// Appends a copy of `bytes`.
    package func append(_ bytes: RawSpan) throws(SealingError) {
        try buffer.append(bytes)
    }

    /// Makes room for `additional` bytes more.
    package func reserve(_ additional: Int) throws(SealingError) {
        try buffer.reserve(additional)
    }

    /// Wipes and drops all bytes; the memory stays for the next ones.
    package func removeAll() {
        buffer.removeLast(buffer.count)
    }

    /// Lends the bytes to `body`. They must not outlive the call, and nothing may be appended
    /// during it.
    package func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try buffer.withBytes(body)
    }

    /// Says how many bytes there are, and nothing of them.
    package var description: String { "(\(buffer.count) guarded bytes)" }
    /// Has no children, so that `dump` shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
