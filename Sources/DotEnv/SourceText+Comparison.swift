extension SourceText {
    /// Returns whether two stretches decode to the same bytes, without storing either.
    func decodesEqually(
        _ left: Range<Int>, _ leftEncoding: DotEnvEncoding,
        _ right: Range<Int>, _ rightEncoding: DotEnvEncoding
    ) -> Bool {
        if leftEncoding == rightEncoding {
            if left == right { return true }
            if leftEncoding == .verbatim { return isEqual(left, right) }
        }
        return DecodedBytes(self, left, leftEncoding)
            .elementsEqual(DecodedBytes(self, right, rightEncoding))
    }

    /// Returns whether a stretch decodes to exactly `expected`.
    func decodes(
        _ range: Range<Int>, _ encoding: DotEnvEncoding, to expected: SourceText
    ) -> Bool {
        var bytes = DecodedBytes(self, range, encoding)
        for index in 0..<expected.count where bytes.next() != expected[index] { return false }
        return bytes.next() == nil
    }

    /// Returns a hash of the decoded bytes of a name, with a seed per process.
    func hash(_ range: Range<Int>, _ encoding: DotEnvEncoding) -> Int {
        var hasher = Hasher()
        var word: UInt64 = 0
        var count = 0
        // Eight bytes at a time, independent of their encoding.
        func add(_ byte: UInt8) {
            word = word << 8 | UInt64(byte)
            count += 1
            if count & 7 == 0 { hasher.combine(word) }
        }
        if encoding == .verbatim {
            for index in range { add(self[index]) }
        } else {
            for byte in DecodedBytes(self, range, encoding) { add(byte) }
        }
        hasher.combine(word)
        hasher.combine(count)
        return hasher.finalize()
    }
}

/// Decodes a stretch byte by byte.
struct DecodedBytes: Sequence, IteratorProtocol {
    private var runs: ValueRuns
    private var range = 0..<0
    private var literal: UInt8?

    init(_ text: SourceText, _ range: Range<Int>, _ encoding: DotEnvEncoding) {
        runs = ValueRuns(text, range, encoding)
    }

    /// Returns the next byte without consuming it; nil at the end.
    @inline(__always)
    mutating func peek() -> UInt8? {
        if let literal { return literal }
        if range.isEmpty, !advance() { return literal }
        return runs.text[range.lowerBound]
    }

    /// Consumes the next byte; nil at the end.
    @inline(__always)
    mutating func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        if literal != nil {
            literal = nil
        } else {
            range = range.lowerBound + 1..<range.upperBound
        }
        return byte
    }

    /// Moves to the next run; returns true if it is one of the source.
    private mutating func advance() -> Bool {
        switch runs.next() {
        case .source(let source):
            range = source
            return true
        case .literal(let byte):
            literal = byte
            return false
        case nil:
            return false
        }
    }
}
