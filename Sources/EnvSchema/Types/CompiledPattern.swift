internal import CPCRE2

/// A pattern ready for PCRE2, whose matcher without backtracking reads a text once.
@safe
final class CompiledPattern {
    enum Outcome {
        case found, notFound, tooLong, unsupported, libraryMissing, notText
    }

    /// Comparisons in one value; with some nanoseconds each, well below a tenth of a second.
    private static let budget = 100_000_000.0

    private let pattern: OpaquePointer?
    private let source: PatternSource?
    private let failure: Outcome

    init(_ text: String) {
        var compiled: OpaquePointer?
        var failure = Outcome.unsupported
        let source = PatternSource(text)
        if let source {
            let expression = Array(source.expression.utf8)
            let status = unsafe expression.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return ZG_PATTERN_REFUSED }
                return unsafe zg_pattern_compile(start, bytes.count, &compiled)
            }
            if status == ZG_PATTERN_LIBRARY_MISSING { failure = .libraryMissing }
        }
        unsafe pattern = compiled
        self.source = source
        self.failure = failure
    }

    deinit {
        if let pattern = unsafe pattern { unsafe zg_pattern_free(pattern) }
    }

    /// Matches a part of a value that is `length` bytes long: all parts share the budget.
    func match(_ text: ValueSlice, of length: Int) -> Outcome {
        guard let pattern = unsafe pattern, let source else { return failure }
        // JavaScript matches UTF-16 units without the flag `u`: it may find half a character.
        guard source.isUnicode || !text.contains(where: { $0 >= 0xF0 }) else {
            return .unsupported
        }
        let states = Self.states(length: max(length, text.count), class: source.longestClass)
        let status = unsafe text.withBytes { bytes in
            unsafe zg_pattern_match(
                pattern, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                states)
        }
        switch status {
        case ZG_PATTERN_DONE: return .found
        case ZG_PATTERN_NOT_FOUND: return .notFound
        case ZG_PATTERN_NOT_TEXT: return .notText
        default: return .tooLong
        }
    }

    /// The number of states s for which length · s · (s / 2 + class) comparisons are within the
    /// budget: the matcher compares every new state with those it has, and a character with every
    /// range of a class.
    private static func states(length: Int, class longestClass: Int) -> UInt32 {
        let ranges = Double(longestClass)
        let share = 2 * budget / Double(max(length, 1))
        let states = (ranges * ranges + share).squareRoot() - ranges
        return UInt32(min(max(states, 4), 4096))
    }
}
