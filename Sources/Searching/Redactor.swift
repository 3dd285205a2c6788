package import Sealing

/// Masks values in a stream, delaying only what may be the start of one.
///
/// Input goes to ``take(at:by:)``, output comes from ``release(at:to:)``. Bytes that were delayed
/// for too long are released; if the rest of the value follows, it is still masked.
package struct Redactor: ~Copyable {
    /// The replacement for a value.
    package static let mask = Array("[redacted]".utf8)
    /// How long a potential start of a value is delayed, in milliseconds.
    package static let patience: UInt64 = 900
    /// How long a few bytes are delayed on a terminal, where a person waits for the echo.
    package static let impatience: UInt64 = 30
    /// The maximum for a few bytes.
    private static let few = 3
    /// The most bytes read at once.
    private static let pieceByteCount = 32 << 10

    private var buffer: SecretBytes
    private var count = 0
    private var searches: [PatternSearch]
    private let isInteractive: Bool
    /// The ranges of values, in the order of discovery.
    private var found: [Range<Int>] = []
    /// Whether the mask for a value at the start of the buffer was already written.
    private var isMaskWritten = false
    /// The buffer's length at the time of each read.
    private var arrivals: [(end: Int, time: UInt64)] = []

    /// - Parameter isInteractive: Whether a person may be waiting for each byte.
    package init(_ patterns: ValuePatterns, isInteractive: Bool) throws(SealingError) {
        // Twice as large, because wrapped base64 is longer than its pattern.
        buffer = try SecretBytes(count: 2 * patterns.longest + 2 * Self.pieceByteCount)
        searches = patterns.searches
        self.isInteractive = isInteractive
    }

    /// Reads more of the text.
    ///
    /// - Parameters:
    ///   - time: Milliseconds of a monotonic clock.
    ///   - body: Writes to the start of the given memory, and returns the number of bytes.
    /// - Returns: The result of `body`.
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

    /// When ``release(at:to:)`` would release more without further input; nil if nothing is
    /// delayed.
    package var deadline: UInt64? {
        arrivals.first.map { $0.time + patience }
    }

    private var patience: UInt64 {
        isInteractive && searches.allSatisfy { $0.partialCount <= Self.few }
            ? Self.impatience : Self.patience
    }

    /// Releases, masked, what cannot be the start of a value or was delayed long enough.
    ///
    /// - Parameter sink: Receives the text in pieces.
    package mutating func release(at time: UInt64, to sink: (RawSpan) -> Void) {
        var end = searches.compactMap(\.partialStart).min() ?? count
        let old = arrivals.last { $0.time + patience <= time }
        end = max(end, old?.end ?? 0)
        // Endlessly wrapped base64 must not fill the memory.
        if count - end > buffer.count - Self.pieceByteCount { end = count }
        release(upTo: end, to: sink)
    }

    /// Releases everything at the end of the text.
    package mutating func finish(to sink: (RawSpan) -> Void) {
        release(upTo: count, to: sink)
    }

    private mutating func release(upTo end: Int, to sink: (RawSpan) -> Void) {
        guard end > 0 else { return }
        // A value that was partly released already has its mask.
        var isOpen = isMaskWritten
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
        isMaskWritten = ranges.contains { $0.lowerBound < end && $0.upperBound > end }
        buffer.withMutableBytes { memory in
            unsafe memory.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe base.copyMemory(from: base + end, byteCount: count - end)
                // Wipe what was released.
                unsafe (base + (count - end)).initializeMemory(
                    as: UInt8.self, repeating: 0, count: end)
            }
        }
        count -= end
        for number in searches.indices { searches[number].moveBack(by: end) }
        arrivals = arrivals.filter { $0.end > end }.map { ($0.end - end, $0.time) }
    }

    /// Returns the sorted ranges, merging those that touch.
    private func merged() -> [Range<Int>] {
        found.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            guard let last = merged.last, range.lowerBound <= last.upperBound else {
                return merged.append(range)
            }
            merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        }
    }
}
