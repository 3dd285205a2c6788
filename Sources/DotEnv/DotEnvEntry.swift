/// One variable of a text: its name, its place, and where and how its value is written.
///
/// The value itself is only ever given to a sink, by decoding it again from the source.
package struct DotEnvEntry: Sendable, Equatable {
    /// The name as the dialect gives it. It may be no name that a program or a platform takes.
    package let key: String
    /// Where the name starts.
    package let position: DotEnvPosition
    /// The bytes of the source that the value is decoded from. Offsets are from 0, in the bytes as
    /// given, and a byte order mark counts.
    package let valueRange: Range<Int>
    /// How those bytes are written.
    package let encoding: DotEnvEncoding
    /// The bytes of the whole assignment, from `export` or the name to the end of the line, without
    /// the line break.
    package let extent: Range<Int>
    /// The bytes of the name.
    package let keyRange: Range<Int>
    /// The bytes of the value with the quotes around it; empty at 0 in dialects other than `dotenv`
    /// and `vercel-pull`.
    let literalRange: Range<Int>

    /// Whether the name is one that every shell and platform takes: a letter or underscore, then
    /// letters, digits and underscores of ASCII.
    package var hasPortableName: Bool { key.isPortableName }

    /// The number of bytes of the value, by decoding it into nothing.
    ///
    /// - Parameter source: The bytes the entry was read from. With other bytes the result means
    ///   nothing, but it is never wrong to ask.
    package func decodedLength(in source: RawSpan) -> Int {
        var counter = ByteCounter()
        decodeValue(in: source, into: &counter)
        return counter.count
    }

    /// Gives the bytes of the value to `sink`, in order.
    ///
    /// - Parameter source: The bytes the entry was read from.
    package func decodeValue(in source: RawSpan, into sink: inout some ByteSink & ~Copyable) {
        source.withText { text in
            text.decode(valueRange, encoding, into: &sink)
        }
    }

    /// Tells whether the value is exactly `expected`. The time depends on where they differ.
    package func decodes(in source: RawSpan, to expected: RawSpan) -> Bool {
        source.withText { text in
            expected.withText { text.decodes(valueRange, encoding, to: $0) }
        }
    }

    /// Writes the value to the front of `target`.
    ///
    /// - Returns: The number of bytes, or nil if `target` is too short; it may then be partly written.
    package func decodeValue(in source: RawSpan, into target: inout MutableRawSpan) -> Int? {
        unsafe target.withUnsafeMutableBytes { memory in
            var sink = unsafe FixedSink(memory)
            decodeValue(in: source, into: &sink)
            return sink.overflowed ? nil : sink.count
        }
    }
}

extension SourceText {
    /// Decodes a stretch into `sink`.
    func decode(
        _ range: Range<Int>, _ encoding: DotEnvEncoding, into sink: inout some ByteSink & ~Copyable
    ) {
        var runs = ValueRuns(self, range, encoding)
        while let run = runs.next() {
            switch run {
            case .source(let range): copy(range, into: &sink)
            case .literal(let byte): sink.append(byte)
            }
        }
    }
}

extension String {
    /// Whether this is `[A-Za-z_][A-Za-z0-9_]*`.
    package var isPortableName: Bool {
        guard let first = utf8.first, first.isWord, !(first &- 0x30 < 10) else { return false }
        return utf8.allSatisfy(\.isWord)
    }
}
