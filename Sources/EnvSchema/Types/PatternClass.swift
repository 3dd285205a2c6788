/// A set of characters, as ranges of scalar values.
struct PatternClass: Equatable {
    /// In order, without overlaps.
    private(set) var ranges: [ClosedRange<UInt32>] = []

    init(_ ranges: [ClosedRange<UInt32>] = []) { add(ranges) }

    static let everything = PatternClass([0...0x10FFFF])
    static let digits = PatternClass([0x30...0x39])
    static let wordCharacters = PatternClass([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let lineEnds = PatternClass([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])
    /// Whitespace and line ends of JavaScript, which trims and matches the same ones.
    static let blanks = PatternClass([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])

    mutating func add(_ more: [ClosedRange<UInt32>]) {
        var merged: [ClosedRange<UInt32>] = []
        for range in (ranges + more).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] =
                    last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        ranges = merged
    }

    var inverted: PatternClass {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { gaps.append(next...0x10FFFF) }
        return PatternClass(gaps)
    }

    /// With the other case of each ASCII letter. Without the flag `u`, JavaScript gives an ASCII
    /// letter no other equal.
    var withBothCases: PatternClass {
        var both = self
        var others: [ClosedRange<UInt32>] = []
        for range in ranges {
            let upper = range.clamped(to: 0x41...0x5A)
            if range.overlaps(0x41...0x5A) {
                others.append((upper.lowerBound + 32)...(upper.upperBound + 32))
            }
            let lower = range.clamped(to: 0x61...0x7A)
            if range.overlaps(0x61...0x7A) {
                others.append((lower.lowerBound - 32)...(lower.upperBound - 32))
            }
        }
        both.add(others)
        return both
    }

    func contains(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }

    /// The set as PCRE2 reads it.
    var source: String {
        if ranges.isEmpty { return "[^\(Self.source(0...0x10FFFF))]" }
        if ranges == Self.everything.ranges { return "." }
        if ranges.count == 1, let range = ranges.first, range.count == 1 {
            return Self.source(range)
        }
        return "[\(ranges.map(Self.source).joined())]"
    }

    private static func source(_ range: ClosedRange<UInt32>) -> String {
        range.count == 1
            ? escape(range.lowerBound)
            : "\(escape(range.lowerBound))-\(escape(range.upperBound))"
    }

    private static func escape(_ value: UInt32) -> String {
        "\\x{\(String(value, radix: 16))}"
    }
}
