/// Receives bytes, in order, into memory that the caller owns.
///
/// Neither call can fail: a sink with a limit records that it was reached and lets the caller ask.
package protocol ByteSink: ~Copyable {
    /// Takes one byte.
    mutating func append(_ byte: UInt8)

    /// Takes all of `bytes`, which are only lent for the call.
    mutating func append(contentsOf bytes: RawSpan)
}

/// A sink that keeps nothing but the number of bytes, so that a caller can allocate exactly.
package struct ByteCounter: ByteSink {
    /// How many bytes came.
    package private(set) var count = 0

    /// Makes a counter at zero.
    package init() {}

    package mutating func append(_ byte: UInt8) {
        count += 1
    }

    package mutating func append(contentsOf bytes: RawSpan) {
        count += bytes.byteCount
    }
}

/// A sink over borrowed memory of a fixed size. What does not fit is dropped and remembered.
@safe
struct FixedSink: ByteSink {
    private let target: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    private(set) var overflowed = false

    /// Makes a sink that fills `target` from its front. It must not outlive the memory.
    init(_ target: UnsafeMutableRawBufferPointer) {
        unsafe self.target = target
    }

    mutating func append(_ byte: UInt8) {
        guard unsafe count < target.count else {
            overflowed = true
            return
        }
        unsafe target[count] = byte
        count += 1
    }

    mutating func append(contentsOf bytes: RawSpan) {
        guard unsafe bytes.byteCount <= target.count - count else {
            overflowed = true
            return
        }
        let start = count
        unsafe bytes.withUnsafeBytes { source in
            guard unsafe !source.isEmpty else { return }
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(
                from: source)
        }
        count += bytes.byteCount
    }
}

extension ByteSink where Self: ~Copyable {
    /// Takes the bytes of a literal that is not secret.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { buffer in
            for index in 0..<buffer.count {
                unsafe append(buffer[index])
            }
        }
    }

    /// Takes the bytes of a name.
    mutating func append(name: String) {
        for byte in name.utf8 {
            append(byte)
        }
    }
}
