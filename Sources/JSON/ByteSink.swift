/// A destination for bytes: a stream, or memory that the caller chooses.
package protocol ByteSink: ~Copyable {
    /// Writes all bytes or throws. Implementations must not keep the span.
    mutating func write(_ bytes: RawSpan) throws(OutputError)
}

extension ByteSink where Self: ~Copyable {
    package mutating func write(_ text: String) throws(OutputError) {
        unsafe try write(text.utf8Span.span.bytes)
    }
}

/// A sink that collects non-secret bytes in an array.
package struct ByteBuffer: ByteSink, Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func write(_ bytes: RawSpan) throws(OutputError) {
        unsafe bytes.withUnsafeBytes { unsafe self.bytes.append(contentsOf: $0) }
    }

    /// The bytes as text, with invalid UTF-8 replaced.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
