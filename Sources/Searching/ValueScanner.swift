internal import CLinux
internal import Sealing

/// Searches one text at a time, which may arrive in pieces of any size: the result does not depend
/// on them. Needs memory for two of the longest forms and a piece, whatever the length of the text.
@safe
package final class ValueScanner {
    /// The most matches reported for one text, after which the search stops.
    package static let matchLimit = 1_000

    /// Owns the memory of the fingerprints.
    private let table: SearchTable
    private let forms: SearchForms
    private var fingerprints: zg_search_table
    private let buffer: UnsafeMutableRawPointer
    private let capacity: Int
    /// The number of bytes in the buffer, and the position where the search continues.
    private var (used, searched) = (0, 0)
    /// The text offset of the buffer's start.
    private var base: UInt64 = 0
    /// The byte order of UTF-16, if the text starts with a byte order mark. Lines then end with
    /// code units, and a byte 0x0A may be half of another character.
    private var isBigEndian: Bool?
    /// The number of line feeds before a position of the buffer.
    private var (lines, linesEnd) = (0, 0)
    private var found: [ScanMatch] = []
    /// By pattern, the text offset up to which its last match is known to be on one line.
    private var lineOf: [Int: UInt64] = [:]

    /// Whether ``matchLimit`` is reached.
    package var isFull: Bool { found.count >= Self.matchLimit }

    /// - Parameter pieceByteCount: The minimum capacity for ``read(_:)``.
    package init(_ table: SearchTable, pieceByteCount: Int = 256 << 10) {
        self.table = table
        forms = table.forms
        unsafe fingerprints = table.fingerprints
        capacity = pieceByteCount + forms.lookBehind + forms.lookAhead
        unsafe buffer = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe buffer.deallocate()
    }

    /// Starts another text.
    package func begin() {
        (used, searched, base, lines, linesEnd) = (0, 0, 0, 0, 0)
        isBigEndian = nil
        found.removeAll()
        lineOf.removeAll()
    }

    /// Reads the next bytes with `body`, and searches as far as they allow.
    ///
    /// - Parameter body: Returns the number of bytes written, at most the size of its buffer.
    /// - Returns: That number.
    package func read<E>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws -> Int {
        compact()
        let room = unsafe UnsafeMutableRawBufferPointer(
            start: buffer + used, count: capacity - used)
        let count = try unsafe body(room)
        precondition(count >= 0 && count <= room.count)
        if base == 0, used < 2, used + count >= 2 { isBigEndian = mark() }
        used += count
        if used - searched > forms.lookAhead { try search(to: used - forms.lookAhead) }
        return count
    }

    /// Searches the rest, and returns the matches in order.
    package func finish() throws -> [ScanMatch] {
        let end = used - SearchForms.windowByteCount + 1
        if end > searched { try search(to: end) }
        // A PEM block that matches literally is not reported twice.
        let exact = found.filter { $0.form != .pem }
        return found.filter { match in
            match.form != .pem
                || !exact.contains {
                    $0.value == match.value
                        && ($0.line == match.line
                            || $0.offset <= match.offset && match.end <= $0.end)
                }
        }.sorted {
            ($0.offset, $0.end, $0.value, $0.form.rawValue)
                < ($1.offset, $1.end, $1.value, $1.form.rawValue)
        }
    }

    /// Drops bytes that no match can start in.
    private func compact() {
        let drop = searched - forms.lookBehind
        // Moves once per piece rather than once per small read.
        guard drop > 0, capacity - used < capacity / 4 || drop > used / 2 else { return }
        if linesEnd < drop { countLines(to: drop) }
        unsafe buffer.copyMemory(from: buffer + drop, byteCount: used - drop)
        (used, searched, linesEnd) = (used - drop, searched - drop, linesEnd - drop)
        base += UInt64(drop)
    }

    private func countLines(to place: Int) {
        lines += place < linesEnd ? -lineFeeds(place, linesEnd) : lineFeeds(linesEnd, place)
        linesEnd = place
    }

    private func lineFeeds(_ start: Int, _ end: Int) -> Int {
        guard let isBigEndian else { return unsafe zg_count_lines(buffer + start, end - start) }
        let text = unsafe RawSpan(_unsafeStart: buffer, byteCount: used)
        let (first, second): (UInt8, UInt8) = isBigEndian ? (0, 0x0A) : (0x0A, 0)
        // Code units start at even offsets, and are counted where they start.
        let even = start + (Int(truncatingIfNeeded: base) + start) % 2
        var count = 0
        for place in stride(from: even, to: min(end, used - 1), by: 2)
        where text.byte(at: place) == first && text.byte(at: place + 1) == second { count += 1 }
        return count
    }

    /// Returns the byte order according to a byte order mark.
    private func mark() -> Bool? {
        switch unsafe UInt16(bigEndian: buffer.load(as: UInt16.self)) {
        case 0xFFFE: return false
        case 0xFEFF: return true
        default: return nil
        }
    }

    // MARK: Candidates

    private func search(to end: Int) throws {
        var place = searched
        while !isFull {
            var print: UInt32 = 0
            place = unsafe zg_search_next(&fingerprints, buffer, place, end, &print)
            guard place < end else { break }
            for anchor in forms.anchors[print] ?? [] { try judge(anchor, at: place) }
            place += 1
        }
        searched = end
    }

    private func judge(_ anchor: SearchForms.Anchor, at place: Int) throws {
        let pattern = forms.patterns[anchor.pattern]
        // The line already has this match, so there is nothing to hash.
        if let known = lineOf[anchor.pattern], known >= base, known <= base + UInt64(place),
            lineFeeds(Int(known - base), place) == 0
        {
            lineOf[anchor.pattern] = base + UInt64(place)
            return
        }
        let text = unsafe RawSpan(_unsafeStart: buffer, byteCount: used)
        let range =
            pattern.isLoose
            ? try looseRange(text, place, anchor.offset, anchor.pattern)
            : try exactRange(text, place - anchor.offset, anchor.pattern)
        guard let range else { return }
        countLines(to: range.lowerBound)
        let line = UInt64(lines + 1)
        if !pattern.isLoose, lineFeeds(range.lowerBound, place) == 0 {
            lineOf[anchor.pattern] = base + UInt64(place)
        }
        let isKnown = found.contains {
            $0.line == line && $0.value == pattern.value && $0.form == pattern.form
        }
        if isKnown { return }
        found.append(
            ScanMatch(
                offset: base + UInt64(range.lowerBound), end: base + UInt64(range.upperBound),
                line: line, value: pattern.value, form: pattern.form))
    }

    private func exactRange(_ text: RawSpan, _ start: Int, _ number: Int) throws -> Range<Int>? {
        let end = start + forms.patterns[number].count
        guard start >= 0, end <= used else { return nil }
        return try forms.matches(text.extracting(start..<end), number) ? start..<end : nil
    }

    private func looseRange(
        _ text: RawSpan, _ place: Int, _ before: Int, _ number: Int
    ) throws -> Range<Int>? {
        let pattern = forms.patterns[number]
        var bytes = [UInt8](repeating: 0, count: pattern.count)
        var (start, count) = (place, before)
        let low = max(0, place - pattern.reach)
        while count > 0 {
            guard start > low else { return nil }
            let unit = LooseText.backward(text, start)
            start = unit.next
            guard let byte = unit.byte else { continue }
            count -= 1
            bytes[count] = byte
        }
        // One byte beyond the reach may be read but not used, so the end of the buffer does not
        // matter.
        var end = place
        count = before
        let high = min(used, place + pattern.reach - 2)
        while count < pattern.count {
            guard end < high else { return nil }
            let unit = LooseText.forward(text, end)
            end = unit.next
            guard let byte = unit.byte else { continue }
            bytes[count] = byte
            count += 1
        }
        return try bytes.withBytes { try forms.matches($0, number) } ? start..<end : nil
    }
}
