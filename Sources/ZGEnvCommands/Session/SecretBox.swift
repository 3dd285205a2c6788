internal import Sealing

/// A buffer in guarded memory that closures can append to.
final class SecretBox {
    private var buffer: SecretBuffer

    init(_ buffer: consuming SecretBuffer) { self.buffer = buffer }

    func append(_ byte: UInt8) throws(SealingError) { try buffer.append(byte) }
    func append(_ text: String) throws(SealingError) {
        for byte in text.utf8 { try buffer.append(byte) }
    }
    func withBytes<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try buffer.withBytes(body)
    }
}
