/// A part of a value, as a view of the caller's memory: it must not outlive the call that got it.
///
/// Slices share the indices of the whole, as collections do.
@safe
struct ValueSlice: RandomAccessCollection {
    private let base: UnsafeRawBufferPointer
    let startIndex: Int
    let endIndex: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe base = unsafe bytes
        startIndex = 0
        endIndex = bytes.count
    }

    private init(_ base: UnsafeRawBufferPointer, _ range: Range<Int>) {
        unsafe self.base = unsafe base
        startIndex = range.lowerBound
        endIndex = range.upperBound
    }

    subscript(index: Int) -> UInt8 {
        precondition(index >= startIndex && index < endIndex)
        return unsafe base[index]
    }

    subscript(range: Range<Int>) -> ValueSlice {
        precondition(range.lowerBound >= startIndex && range.upperBound <= endIndex)
        return unsafe ValueSlice(base, range)
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeRawBufferPointer(rebasing: base[startIndex..<endIndex]))
    }

    func equals(_ text: String) -> Bool { elementsEqual(text.utf8) }

    /// Compares letters without regard to case. `text` is in lower case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return unsafe zip(self, UnsafeBufferPointer(start: text.utf8Start, count: count))
            .allSatisfy { $0.lowerCase == $1 }
    }

    func ends(with text: some BidirectionalCollection<UInt8>) -> Bool {
        count >= text.count && suffix(text.count).elementsEqual(text)
    }

    /// The length in UTF-16 units, as JavaScript counts.
    var utf16Count: Int {
        reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : $1 >= 0xF0 ? 2 : 1) }
    }

    /// Without the blanks at the ends.
    var trimmed: ValueSlice {
        var rest = trimmedStart
        while let length = rest.blankLengthAtEnd { rest = rest.dropLast(length) }
        return rest
    }

    var trimmedStart: ValueSlice {
        var rest = self
        while let length = rest.blankLength { rest = rest.dropFirst(length) }
        return rest
    }

    /// The length of the blank at the start, or nil without one. Blanks are those that JavaScript
    /// trims and matches with `\s`.
    var blankLength: Int? {
        guard let first else { return nil }
        if first < 0x80 { return Self.isBlank(first) ? 1 : nil }
        for blank in Self.wideBlanks where starts(with: blank) { return blank.count }
        return nil
    }

    private var blankLengthAtEnd: Int? {
        guard let last else { return nil }
        if last < 0x80 { return Self.isBlank(last) ? 1 : nil }
        for blank in Self.wideBlanks where ends(with: blank) { return blank.count }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// The blanks beyond ASCII.
    private static let wideBlanks: [[UInt8]] = PatternClass.blanks.ranges
        .flatMap { $0.filter { $0 >= 0x80 } }
        .compactMap(Unicode.Scalar.init).map { Array($0.utf8) }
}
