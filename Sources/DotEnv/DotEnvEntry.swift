internal import JSON

/// One variable of a text: its name, and where and how its value is written.
///
/// The value itself is only ever decoded from the source into a sink.
package struct DotEnvEntry: Sendable, Equatable {
    /// The name in the dialect, which need not be portable.
    package let key: String
    package let position: DotEnvPosition
    /// The source bytes of the value. Offsets start at 0 in the bytes as given, including a byte
    /// order mark.
    package let valueRange: Range<Int>
    package let encoding: DotEnvEncoding
    /// The bytes of the whole assignment, from `export` or the name to the end of the line, without
    /// the line break.
    package let extent: Range<Int>
    package let keyRange: Range<Int>
    /// The bytes of the value with its quotes; empty at 0 in dialects other than `dotenv` and
    /// `vercel-pull`.
    let literalRange: Range<Int>

    /// Whether every shell and platform accepts the name: ASCII letters, digits and underscores,
    /// not starting with a digit.
    package var hasPortableName: Bool { key.isPortableName }

    /// Returns the number of bytes of the value.
    ///
    /// - Parameter source: The bytes the entry was read from; the result is meaningless, but safe,
    ///   for others.
    package func decodedLength(in source: RawSpan) -> Int {
        var counter = ByteCounter()
        decodeValue(in: source, into: &counter)
        return counter.count
    }

    /// Decodes the value into `sink`.
    ///
    /// - Parameter source: The bytes the entry was read from.
    package func decodeValue(in source: RawSpan, into sink: inout some ByteSink & ~Copyable) {
        source.withText { text in
            text.decode(valueRange, encoding, into: &sink)
        }
    }

    /// Returns whether the value equals `expected`. Not in constant time.
    package func decodes(in source: RawSpan, to expected: RawSpan) -> Bool {
        source.withText { text in
            expected.withText { text.decodes(valueRange, encoding, to: $0) }
        }
    }

    /// Decodes the value into `target`. Returns the number of bytes, or nil if `target` is too
    /// short; it may then be partly written.
    package func decodeValue(in source: RawSpan, into target: inout MutableRawSpan) -> Int? {
        FixedSink.fill(&target) { decodeValue(in: source, into: &$0) }
    }
}

extension SourceText {
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
    /// Whether a variable can have this name: it is not empty, and has no `=`, space or control
    /// character.
    var isVariableName: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy { $0 != "=" && $0 != " " && !JSONText.isUnsafe($0) }
    }

    /// Whether this is `[A-Za-z_][A-Za-z0-9_]*`.
    package var isPortableName: Bool {
        guard let first = utf8.first, first.isWord, !(first &- 0x30 < 10) else { return false }
        return utf8.allSatisfy(\.isWord)
    }
}
