/// Receives bytes, in order, into memory that the caller owns.
///
/// No call fails: a sink with a limit records that it was reached.
package protocol ByteSink: ~Copyable {
    mutating func append(_ byte: UInt8)

    /// Appends `bytes`, which are only borrowed for the call.
    mutating func append(contentsOf bytes: RawSpan)
}

/// Counts bytes, so that a caller can allocate exactly.
package struct ByteCounter: ByteSink {
    package private(set) var count = 0

    package init() {}

    package mutating func append(_ byte: UInt8) {
        count += 1
    }

    package mutating func append(contentsOf bytes: RawSpan) {
        count += bytes.byteCount
    }
}

/// A sink over borrowed memory of a fixed size, which records whether something did not fit.
@safe
struct FixedSink: ByteSink {
    private let target: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    private(set) var overflowed = false

    /// - Parameter target: Filled from its front. The sink must not outlive it.
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

    /// Passes a sink over `target` to `body`. Returns the number of bytes, or nil if `target` is
    /// too short; it may then be partly written.
    static func fill<E>(
        _ target: inout MutableRawSpan, _ body: (inout FixedSink) throws(E) -> Void
    ) throws(E) -> Int? {
        try unsafe target.withUnsafeMutableBytes { (memory) throws(E) -> Int? in
            var sink = unsafe FixedSink(memory)
            try body(&sink)
            return sink.overflowed ? nil : sink.count
        }
    }
}

extension ByteSink where Self: ~Copyable {
    /// Appends a literal that is not secret.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { buffer in
            for index in 0..<buffer.count {
                unsafe append(buffer[index])
            }
        }
    }

    mutating func append(name: String) {
        for byte in name.utf8 {
            append(byte)
        }
    }
}
