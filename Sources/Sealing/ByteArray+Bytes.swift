extension [UInt8] {
    /// Lends the bytes to `body`, as secret memory lends its own. They must not outlive the call.
    package func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        let bytes = span
        return unsafe try body(bytes.bytes)
    }
}
