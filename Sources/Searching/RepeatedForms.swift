package import Sealing
internal import SystemFiles

/// The forms in which a text may repeat a value: literally, in another case, with spaces added or
/// removed, percent-encoded, with backslashes, in UTF-16, in base64 of either alphabet, in
/// hexadecimal, and combinations of two. It is the text that is decoded, so parts of values are
/// found too.
package struct RepeatedForms {
    /// A text that shares this many bytes with a value repeats it.
    static let window = 12
    /// Shorter values occur within many words, so they must match a whole word.
    static let shortest = 4

    /// How much of a text is checked; no more is ever shown.
    private static let longest = 4_000
    /// The most forms to derive, whatever the text.
    private static let maximumFormCount = 64

    /// The text in lower case.
    private let words: [UInt8]
    /// The text's forms in lower case, without spaces.
    private var forms: [[UInt8]] = []
    /// The substrings of the text and its forms.
    private var pieces: [Pieces: Set<UInt128>] = [:]

    /// All substrings of a length: of the text itself, or of the forms without spaces.
    private struct Pieces: Hashable {
        let count: Int
        let hasBlanks: Bool
        var mask: UInt128 { UInt128.max >> UInt128(128 - 8 * count) }
    }

    package init(of text: String) {
        let bytes = Array(String(text.unicodeScalars.prefix(Self.longest)).utf8)
        words = bytes.map(Self.folded)
        var round = [bytes.filter { !Self.isBlank($0) }]
        var seen = Set(round)
        for depth in 0...2 {
            forms += round.map { $0.map(Self.folded) }
            guard depth < 2 else { break }
            var next: [[UInt8]] = []
            for form in round {
                for decoded in Self.decoded(form)
                where seen.count < Self.maximumFormCount && seen.insert(decoded).inserted {
                    next.append(decoded)
                }
            }
            round = next
        }
    }

    /// Returns whether a form contains all of a short value, or ``window`` bytes of a longer one.
    package mutating func hold(_ secret: SecretSlice) -> Bool {
        let count = secret.withBytes { bytes in
            (0..<bytes.byteCount).count { !Self.isBlank(bytes.byte(at: $0)) }
        }
        guard count > 0 else { return false }
        if count < Self.shortest { return hasWord(secret) }
        // A part with spaces is shorter without them, so the original text is checked as well.
        return holds(secret, Pieces(count: min(count, Self.window), hasBlanks: false))
            || holds(secret, Pieces(count: min(secret.count, Self.window), hasBlanks: true))
    }

    private mutating func holds(_ secret: SecretSlice, _ kind: Pieces) -> Bool {
        let known = found(kind)
        guard !known.isEmpty else { return false }
        return secret.withBytes { bytes in
            var (piece, filled) = (UInt128(0), 0)
            for place in 0..<bytes.byteCount {
                let byte = bytes.byte(at: place)
                if !kind.hasBlanks, Self.isBlank(byte) { continue }
                piece = (piece << 8 | UInt128(Self.folded(byte))) & kind.mask
                filled += 1
                if filled >= kind.count, known.contains(piece) { return true }
            }
            return false
        }
    }

    private mutating func found(_ kind: Pieces) -> Set<UInt128> {
        if let known = pieces[kind] { return known }
        var found: Set<UInt128> = []
        for form in kind.hasBlanks ? [words] : forms where form.count >= kind.count {
            var piece = UInt128(0)
            for (place, byte) in form.enumerated() {
                piece = (piece << 8 | UInt128(byte)) & kind.mask
                if place + 1 >= kind.count { found.insert(piece) }
            }
        }
        pieces[kind] = found
        return found
    }

    /// Returns whether a short value occurs as a whole word.
    private func hasWord(_ secret: SecretSlice) -> Bool {
        secret.withBytes { bytes in
            guard words.count >= bytes.byteCount else { return false }
            return (0...(words.count - bytes.byteCount)).contains { start in
                let end = start + bytes.byteCount
                return (start == 0 || !Self.isWord(words[start - 1]))
                    && (end == words.count || !Self.isWord(words[end]))
                    && (0..<bytes.byteCount).allSatisfy {
                        words[start + $0] == Self.folded(bytes.byte(at: $0))
                    }
            }
        }
    }

    // MARK: Bytes

    private static func folded(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
    }

    /// Whitespace and control characters, including the zero bytes of UTF-16.
    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7F }

    private static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func sextet(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x47
        case 0x30...0x39: byte + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    // MARK: Forms

    /// Decodes a text in each of the forms, without spaces.
    private static func decoded(_ text: [UInt8]) -> [[UInt8]] {
        let percents = rewritten(text, from: UInt8(ascii: "%")) { rest in
            number(rest, digits: 2).map { ([UInt8($0)], 3) }
        }
        var found = [percents, withoutBackslashes(text)]
        // The sentence may run into the encoded text, so decode from each position of a group.
        for first in 0..<4 { found.append(joined(text, first, bits: 6, sextet)) }
        for first in 0..<2 { found.append(joined(text, first, bits: 4, Hexadecimal.value)) }
        return found.map { $0.filter { !isBlank($0) } }.filter { $0.count >= shortest }
    }

    /// Decodes the escapes of JSON, programming languages and shells; an unknown one stands for its
    /// character.
    private static func withoutBackslashes(_ text: [UInt8]) -> [UInt8] {
        rewritten(text, from: UInt8(ascii: "\\")) { rest in
            guard let kind = rest.first else { return nil }
            switch kind {
            case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return ([], 2)
            case UInt8(ascii: "x"):
                return number(rest.dropFirst(), digits: 2).map { ([UInt8($0)], 4) } ?? ([], 1)
            case UInt8(ascii: "u"):
                return number(rest.dropFirst(), digits: 4).flatMap(Unicode.Scalar.init)
                    .map { (Array(String($0).utf8), 6) } ?? ([], 1)
            default: return ([kind], 2)
            }
        }
    }

    /// Decodes `count` hexadecimal digits at the start.
    private static func number(_ text: ArraySlice<UInt8>, digits count: Int) -> UInt32? {
        let digits = text.prefix(count).compactMap(Hexadecimal.value)
        return digits.count == count ? digits.reduce(0) { $0 << 4 | UInt32($1) } : nil
    }

    /// Rewrites a text at each `mark`: `replacement` gets what follows, and returns new bytes and
    /// the number of bytes to replace. Returns nothing for a text without a mark.
    private static func rewritten(
        _ text: [UInt8], from mark: UInt8, _ replacement: (ArraySlice<UInt8>) -> ([UInt8], Int)?
    ) -> [UInt8] {
        guard text.contains(mark) else { return [] }
        var (bytes, rest) = ([UInt8](), text[...])
        while let byte = rest.first {
            rest = rest.dropFirst()
            if byte == mark, let (new, count) = replacement(rest) {
                bytes += new
                rest = rest.dropFirst(count - 1)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Decodes runs of digits to bytes, skipping the `first` digits of each run.
    private static func joined(
        _ text: [UInt8], _ first: Int, bits: Int, _ digit: (UInt8) -> UInt8?
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for run in text.split(whereSeparator: { digit($0) == nil }) where run.count > first {
            var (value, count) = (UInt32(0), 0)
            for byte in run.dropFirst(first) {
                value = value << UInt32(bits) | UInt32(digit(byte) ?? 0)
                count += bits
                if count >= 8 {
                    count -= 8
                    bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(count)))
                    value &= (1 << UInt32(count)) - 1
                }
            }
        }
        return bytes
    }
}
