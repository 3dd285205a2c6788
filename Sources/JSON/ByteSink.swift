/// Takes bytes in order: a stream, or memory of the caller's choice.
package protocol ByteSink: ~Copyable {
    /// Takes all of the bytes or throws. It must not keep the span.
    mutating func write(_ bytes: RawSpan) throws(OutputError)
}

extension ByteSink where Self: ~Copyable {
    /// Writes a text as UTF-8.
    package mutating func write(_ text: String) throws(OutputError) {
        unsafe try write(text.utf8Span.span.bytes)
    }
}

/// Gathers bytes that are no secret in an array.
package struct ByteBuffer: ByteSink, Sendable {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []

    /// Makes an empty buffer.
    package init() {}

    /// Appends the bytes.
    package mutating func write(_ bytes: RawSpan) throws(OutputError) {
        unsafe bytes.withUnsafeBytes { unsafe self.bytes.append(contentsOf: $0) }
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
