internal import JSON

/// A string in double quotes that means the same in JSON and in YAML.
enum QuotedString {
    /// - Parameter value: Must be UTF-8.
    static func write(_ value: SourceText, into sink: inout some ByteSink & ~Copyable) {
        unsafe value.withBytes(0..<value.count) { bytes in
            // YAML has no surrogate pairs.
            unsafe JSONText.write(bytes.bytes, usesPairs: false) { sink.append(contentsOf: $0) }
        }
    }

    /// Compares the quoted string at `index` with `expected`. Returns the index after the closing
    /// quote, or nil.
    static func end(
        _ text: SourceText, at index: Int, ifEqualTo expected: SourceText
    ) -> Int? {
        guard text[index] == Byte.doubleQuote else { return nil }
        var close = index + 1
        while close < text.count, text[close] != Byte.doubleQuote {
            close += text[close] == Byte.backslash ? 2 : 1
        }
        guard close < text.count else { return nil }
        let isEqual = unsafe text.withBytes(index + 1..<close) { written in
            unsafe expected.withBytes(0..<expected.count) { value in
                unsafe JSONText.isEqual(written.bytes, to: value.bytes)
            }
        }
        return isEqual ? close + 1 : nil
    }
}
