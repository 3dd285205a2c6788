package import Sealing

/// Masks values in a text that comes in pieces, and holds back only what may be the beginning of one.
///
/// Bytes go in with ``take(at:by:)`` and come out with ``release(at:to:)``. What was held back
/// too long is let go; should the rest of the value come after all, that is masked still.
package struct Redactor: ~Copyable {
    /// What stands in place of a value.
    package static let mask = Array("[redacted]".utf8)
    /// How long what may be the beginning of a value is held back, in milliseconds.
    package static let patience: UInt64 = 900
    /// How long a few bytes are held back on a terminal, where somebody waits for an echo.
    package static let impatience: UInt64 = 30
    /// What counts as a few bytes.
    private static let few = 3
    /// The most bytes that come in at once.
    private static let pieceByteCount = 32 << 10

    private var buffer: SecretBytes
    private var count = 0
    private var searches: [PatternSearch]
    private let isInteractive: Bool
    /// Where values are, in the order in which they were found.
    private var found: [Range<Int>] = []
    /// Whether the value at the front was masked before, as far as it was let out.
    private var isMaskOut = false
    /// How many bytes were there at which time.
    private var arrivals: [(end: Int, time: UInt64)] = []

    /// Makes an empty text.
    ///
    /// - Parameter isInteractive: Whether a person may wait for each byte.
    package init(_ patterns: ValuePatterns, isInteractive: Bool) throws(SealingError) {
        // Twice, since wrapped base64 is longer than what it is found by.
        buffer = try SecretBytes(count: 2 * patterns.longest + 2 * Self.pieceByteCount)
        searches = patterns.searches
        self.isInteractive = isInteractive
    }

    /// Takes more of the text.
    ///
    /// - Parameters:
    ///   - time: Milliseconds of a clock that never goes back.
    ///   - body: Writes to the front of the memory it is lent, and returns how many bytes.
    /// - Returns: What `body` returned.
    package mutating func take(at time: UInt64, by body: (inout MutableRawSpan) -> Int) -> Int {
        let start = count
        let taken = buffer.withMutableBytes { memory in
            var window = memory._mutatingExtracting(start..<start + Self.pieceByteCount)
            return body(&window)
        }
        guard taken > 0 else { return taken }
        precondition(taken <= Self.pieceByteCount)
        count += taken
        arrivals.append((count, time))
        buffer.withBytes { memory in
            for number in searches.indices {
                searches[number].search(memory.extracting(first: count), start..<count) {
                    found.append(max(0, $0.lowerBound)..<$0.upperBound)
                }
            }
        }
        return taken
    }

    /// When ``release(at:to:)`` would let more go, should nothing come; nil when nothing is held back.
    package var deadline: UInt64? {
        arrivals.first.map { $0.time + patience }
    }

    private var patience: UInt64 {
        isInteractive && searches.allSatisfy { $0.partialCount <= Self.few }
            ? Self.impatience : Self.patience
    }

    /// Lets go what is no beginning of a value, or was held back long enough, masked.
    ///
    /// - Parameter sink: Given the text piece by piece.
    package mutating func release(at time: UInt64, to sink: (RawSpan) -> Void) {
        var end = searches.compactMap(\.partialStart).min() ?? count
        let old = arrivals.last { $0.time + patience <= time }
        end = max(end, old?.end ?? 0)
        // A pattern that is wrapped without end must not fill the memory.
        if count - end > buffer.count - Self.pieceByteCount { end = count }
        release(upTo: end, to: sink)
    }

    /// Lets everything go: there is no more.
    package mutating func finish(to sink: (RawSpan) -> Void) {
        release(upTo: count, to: sink)
    }

    private mutating func release(upTo end: Int, to sink: (RawSpan) -> Void) {
        guard end > 0 else { return }
        // What was let out of a value took its mask along.
        var isOpen = isMaskOut
        var position = 0
        let ranges = merged()
        buffer.withBytes { memory in
            for range in ranges where range.lowerBound < end {
                if range.lowerBound > position {
                    sink(memory.extracting(position..<range.lowerBound))
                }
                if !isOpen { Self.mask.withBytes { sink($0) } }
                isOpen = false
                position = min(range.upperBound, end)
            }
            if position < end { sink(memory.extracting(position..<end)) }
        }
        found = ranges.filter { $0.upperBound > end }
            .map { max(0, $0.lowerBound - end)..<$0.upperBound - end }
        isMaskOut = ranges.contains { $0.lowerBound < end && $0.upperBound > end }
        buffer.withMutableBytes { memory in
            unsafe memory.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe base.copyMemory(from: base + end, byteCount: count - end)
                // What was let go is not kept.
                unsafe (base + (count - end)).initializeMemory(
                    as: UInt8.self, repeating: 0, count: end)
            }
        }
        count -= end
        for number in searches.indices { searches[number].moveBack(by: end) }
        arrivals = arrivals.filter { $0.end > end }.map { ($0.end - end, $0.time) }
    }

    /// The ranges in order, those that touch as one.
    private func merged() -> [Range<Int>] {
        found.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            guard let last = merged.last, range.lowerBound <= last.upperBound else {
                return merged.append(range)
            }
            merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        }
    }
}
