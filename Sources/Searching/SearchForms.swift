internal import CLinux
internal import Sealing

/// The forms of values, identified by digests under a random key and an eight-byte window of each.
struct SearchForms {
    static let windowByteCount = 8

    /// A form of a value.
    struct Pattern {
        let value: Int
        let form: ValueForm
        let count: Int
        /// Whether line ends, whitespace and the base64 alphabet are ignored.
        let isLoose: Bool
        fileprivate let digest: [UInt8]

        /// How far from a loose form's window a match may extend, including whitespace.
        var reach: Int { 2 * count + 256 }
    }

    /// A window of a pattern, and the number of the pattern's bytes before it.
    struct Anchor {
        let pattern: Int
        let offset: Int
    }

    private(set) var patterns: [Pattern] = []
    /// By fingerprint.
    private(set) var anchors: [UInt32: [Anchor]] = [:]
    /// How many bytes before and after the start of a window a match may extend.
    private(set) var (lookBehind, lookAhead) = (0, windowByteCount)
    /// The parameters of fingerprints.
    let (key, factor): (UInt64, UInt64)
    private let digests: KeyedDigests
    private var value = 0
    /// Digests of the current value's forms, many of which are equal.
    private var known: Set<[UInt8]> = []

    init() throws(SealingError) {
        digests = try KeyedDigests()
        (key, factor) = Random.bytes(16).withBytes { bytes in
            (
                unsafe bytes.unsafeLoadUnaligned(as: UInt64.self),
                unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self) | 1
            )
        }
    }

    /// Returns whether bytes match a pattern.
    func matches(_ bytes: RawSpan, _ pattern: Int) throws(SealingError) -> Bool {
        let found = try digests.digest(of: bytes)
        return found.withBytes { found in
            patterns[pattern].digest.withBytes { $0.isEqualInConstantTime(to: found) }
        }
    }

    /// Adds every form of a value, ignoring leading and trailing whitespace.
    mutating func add(
        _ whole: SecretSlice, number: Int, by buffer: inout SecretBuffer
    ) throws(SealingError) {
        let trimmed = Self.trimmed(whole)
        guard trimmed.count >= SearchTable.shortest else { return }
        (value, known) = (number, [])
        try trimmed.withBytes { (value) throws(SealingError) in
            for rule in FormRule.all {
                buffer.removeLast(buffer.count)
                try rule.write(value, to: &buffer)
                try buffer.withBytes { (form) throws(SealingError) in try exact(form, rule.form) }
            }
            try pem(value, by: &buffer)
            for offset in 0..<3 {
                buffer.removeLast(buffer.count)
                let dependsOnNext = try Base64Form.write(value, after: offset, to: &buffer)
                if dependsOnNext { buffer.removeLast(1) }
                try buffer.withBytes { (form) throws(SealingError) in try loose(form, .base64) }
            }
        }
    }

    static func trimmed(_ value: SecretSlice) -> SecretSlice {
        value.withBytes { bytes in
            var (start, end) = (0, bytes.byteCount)
            while start < end, LooseText.isBlank(bytes.byte(at: start)) { start += 1 }
            while end > start, LooseText.isBlank(bytes.byte(at: end - 1)) { end -= 1 }
            return value.part(start..<end)
        }
    }

    /// Adds a pattern and returns its number, or nil for a duplicate.
    private mutating func add(
        _ bytes: RawSpan, _ form: ValueForm, isLoose: Bool
    ) throws(SealingError) -> Int? {
        let digest = try digests.digest(of: bytes)
        guard known.insert(digest).inserted else { return nil }
        patterns.append(
            Pattern(
                value: value, form: form, count: bytes.byteCount, isLoose: isLoose, digest: digest))
        return patterns.count - 1
    }

    /// Adds a window of a pattern, `offset` bytes from the pattern's start.
    private mutating func anchor(
        _ bytes: RawSpan, _ start: Int = 0, of number: Int, offset: Int
    ) {
        let window = bytes.extracting(start..<start + Self.windowByteCount)
        let print = unsafe window.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { preconditionFailure("never empty") }
            return unsafe zg_search_fingerprint(key, factor, base)
        }
        anchors[print, default: []].append(Anchor(pattern: number, offset: offset))
        let pattern = patterns[number]
        // A backward step reads up to three bytes.
        lookBehind = max(lookBehind, pattern.isLoose ? pattern.reach + 4 : offset)
        lookAhead = max(lookAhead, pattern.isLoose ? pattern.reach : pattern.count - offset)
    }

    // MARK: Exact forms

    private mutating func exact(_ bytes: RawSpan, _ form: ValueForm) throws(SealingError) {
        // Three characters take six bytes in UTF-16, but may take nine in UTF-8.
        guard bytes.byteCount >= Self.windowByteCount,
            let pattern = try add(bytes, form, isLoose: false)
        else { return }
        let offset = Self.rarest(in: bytes)
        anchor(bytes, offset, of: pattern, offset: offset)
    }

    /// Returns the window that is least likely to occur by chance: with many different bytes,
    /// digits and capitals. A frequent window costs only time.
    private static func rarest(in bytes: RawSpan) -> Int {
        var (best, place) = (-1, 0)
        for start in 0...min(bytes.byteCount - windowByteCount, 4_096) {
            var (seen, score) = (UInt128(0), 0)
            for offset in start..<start + windowByteCount {
                let byte = bytes.byte(at: offset)
                seen |= 1 << UInt128(byte & 0x7F)
                if (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) { score += 1 }
            }
            score += 2 * seen.nonzeroBitCount
            if score > best { (best, place) = (score, start) }
        }
        return place
    }

    // MARK: Loose forms

    /// Adds the bodies of PEM blocks without line breaks, including breaks written as `\n`.
    private mutating func pem(
        _ bytes: RawSpan, by body: inout SecretBuffer
    ) throws(SealingError) {
        func isDashes(_ place: Int) -> Bool {
            place + 5 <= bytes.byteCount
                && (place..<place + 5).allSatisfy { bytes.byte(at: $0) == 0x2D }
        }
        var place = 0
        // Every second run of dashes ends a BEGIN or END line; base64 after it is a body.
        while place < bytes.byteCount {
            guard isDashes(place) else {
                place += 1
                continue
            }
            place += 5
            body.removeLast(body.count)
            while place < bytes.byteCount, !isDashes(place) {
                let unit = LooseText.forward(bytes, place)
                if let byte = unit.byte { try body.append(byte) }
                place = unit.next
            }
            try body.withBytes { (body) throws(SealingError) in
                let isBase64 = (0..<body.byteCount).allSatisfy {
                    LooseText.isBase64(body.byte(at: $0))
                }
                if isBase64, body.byteCount >= 24 { try loose(body, .pem) }
            }
        }
    }

    /// Adds base64 for which line breaks are irrelevant.
    private mutating func loose(_ bytes: RawSpan, _ form: ValueForm) throws(SealingError) {
        guard let pattern = try add(bytes, form, isLoose: true) else { return }
        let count = Self.windowByteCount
        // Of three adjacent windows, a line break leaves two intact if lines have at least 24
        // bytes.
        let isShort = bytes.byteCount < 3 * count
        let first = isShort ? 0 : (bytes.byteCount - 3 * count) / 2
        for offset in stride(from: first, to: isShort ? 1 : first + 3 * count, by: count) {
            window(bytes, offset, [], of: pattern)
        }
        guard isShort else { return }
        // Too short for three windows, so add the window with each possible break.
        for breaking in 1..<count {
            window(bytes, breaking, [0x0A], of: pattern)
            window(bytes, breaking, [0x0D, 0x0A], of: pattern)
        }
    }

    /// Adds a window in both alphabets: from `offset` on, or the first one with a line end at
    /// `offset`.
    private mutating func window(
        _ bytes: RawSpan, _ offset: Int, _ lineEnd: [UInt8], of pattern: Int
    ) {
        let start = lineEnd.isEmpty ? offset : 0
        var letters = (start..<start + Self.windowByteCount).map { bytes.byte(at: $0) }
        defer { for place in letters.indices { letters[place] = 0 } }
        letters.insert(contentsOf: lineEnd, at: offset - start)
        letters.withBytes { anchor($0, of: pattern, offset: start) }
        if letters.allSatisfy({ $0 == LooseText.urlSafe($0) }) { return }
        for place in letters.indices { letters[place] = LooseText.urlSafe(letters[place]) }
        letters.withBytes { anchor($0, of: pattern, offset: start) }
    }
}

/// Computes digests under a random key.
final class KeyedDigests {
    private let key: SecretBytes

    init() throws(SealingError) { key = try SecretBytes.random(count: Digest.byteCount) }

    func digest(of bytes: RawSpan) throws(SealingError) -> [UInt8] {
        try key.withBytes { (key) throws(SealingError) in
            try Digest.keyed(bytes, key: key).withBytes { digest in
                (0..<digest.byteCount).map { digest.byte(at: $0) }
            }
        }
    }
}
