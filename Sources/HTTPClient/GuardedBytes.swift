package import Sealing

/// Bytes in guarded memory with shared ownership: the body of a request or response.
///
/// Neither its description nor a dump shows the bytes. Not thread-safe.
package final class GuardedBytes: CustomStringConvertible, CustomReflectable {
    private var buffer: SecretBuffer

    /// Creates an empty body that holds `capacity` bytes before it grows.
    package init(capacity: Int = 4096) throws(SealingError) {
        buffer = try SecretBuffer(capacity: capacity)
    }

    package var count: Int { buffer.count }

    /// Appends a copy of `bytes`.
    package func append(_ bytes: RawSpan) throws(SealingError) {
        try buffer.append(bytes)
    }

    /// Reserves room for `additional` more bytes.
    package func reserve(_ additional: Int) throws(SealingError) {
        try buffer.reserve(additional)
    }

    /// Wipes and removes all bytes but keeps the memory.
    package func removeAll() {
        buffer.removeLast(buffer.count)
    }

    /// Calls `body` with the bytes. They must not outlive the call, and nothing may be appended
    /// during it.
    package func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try buffer.withBytes(body)
    }

    /// The number of bytes, without their content.
    package var description: String { "(\(buffer.count) guarded bytes)" }
    /// A mirror without children, so that `dump` shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
