package import Sealing

/// The forms in which a text may repeat a value: as it is, in other letter case, with blanks put in or
/// taken out, with percent signs, with backslashes, in UTF-16, in base64 of either alphabet and in
/// hexadecimal digits, and one of these within another. It is the text that is decoded, so parts of a
/// value are found too.
package struct RepeatedForms {
    /// From this many bytes in common with a value on, a text counts as repeating it.
    static let window = 12
    /// Shorter values are part of many words by chance: they count as a word of their own alone.
    static let shortest = 4

    /// How much of a text is looked at; nobody is shown more.
    private static let longest = 4_000
    /// How many forms are made at most, whatever the text is made of.
    private static let mostForms = 64

    /// The text in lower case.
    private let words: [UInt8]
    /// Its forms in lower case, without blanks.
    private var forms: [[UInt8]] = []
    /// What the text is cut into.
    private var pieces: [Pieces: Set<UInt128>] = [:]

    /// All the pieces of so many bytes: of the text as it is, or of the forms without blanks.
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
                where seen.count < Self.mostForms && seen.insert(decoded).inserted {
                    next.append(decoded)
                }
            }
            round = next
        }
    }

    /// Whether one of the forms holds all of a short value, or ``window`` bytes of a longer one.
    package mutating func hold(_ secret: SecretSlice) -> Bool {
        let count = secret.withBytes { bytes in
            (0..<bytes.byteCount).count { !Self.isBlank(bytes.byte(at: $0)) }
        }
        guard count > 0 else { return false }
        if count < Self.shortest { return hasWord(secret) }
        // A part with blanks in it is shorter without them: so the text as it is comes second.
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

    /// Whether a short value stands there by itself, neither a letter nor a digit beside it.
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

    /// Blanks and control characters: of UTF-16 they are half.
    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7F }

    private static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
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

    /// What a text is, taken for each of the forms; blanks are left out.
    private static func decoded(_ text: [UInt8]) -> [[UInt8]] {
        let percents = rewritten(text, from: UInt8(ascii: "%")) { rest in
            number(rest, digits: 2).map { ([UInt8($0)], 3) }
        }
        var found = [percents, withoutBackslashes(text)]
        // A run may have letters before it that belong to the sentence: so from each digit of a group on.
        for first in 0..<4 { found.append(joined(text, first, bits: 6, sextet)) }
        for first in 0..<2 { found.append(joined(text, first, bits: 4, digit)) }
        return found.map { $0.filter { !isBlank($0) } }.filter { $0.count >= shortest }
    }

    /// As JSON, programs and shells escape; an unknown one stands for itself.
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

    /// What so many hexadecimal digits at the front are.
    private static func number(_ text: ArraySlice<UInt8>, digits count: Int) -> UInt32? {
        let digits = text.prefix(count).compactMap(digit)
        return digits.count == count ? digits.reduce(0) { $0 << 4 | UInt32($1) } : nil
    }

    /// Everything as it is but where `mark` stands: `replacement` is given what follows it, and gives other
    /// bytes with the count of those that they stand for. Nothing for a text without a mark.
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

    /// The bytes that runs of digits spell, each run without its `first` ones.
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
