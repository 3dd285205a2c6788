extension [UInt8] {
    /// Passes the bytes to `body`, like secret memory does. They must not outlive the call.
    package func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        let bytes = span
        return unsafe try body(bytes.bytes)
    }
}
