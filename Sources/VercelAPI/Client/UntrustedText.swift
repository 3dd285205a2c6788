package import Sealing

/// What a request carried, as far as it matters for what its answer may repeat.
package struct SentTexts {
    /// The token and the values. No error may hold a part of them.
    package var secrets: [SecretSlice]
    /// Names of variables, targets and branches, which may be told even where a value is the same,
    /// as in `NODE_ENV=production`.
    package var names: Set<String>

    /// Lists what was sent.
    package init(secrets: [SecretSlice], names: Set<String> = []) {
        self.secrets = secrets
        self.names = names.union(["production", "preview", "development"])
    }
}

/// Makes text from the network fit to be shown.
package enum UntrustedText {
    /// What stands in place of a text that repeats a value.
    package static let withheld = "(withheld, for it repeats a value that was sent)"
    /// The longest message that is kept, in characters of Unicode.
    package static let maximumLength = 300
    /// From this many bytes in common with a value on, a text counts as repeating it.
    package static let window = 12

    /// The text without control, format and direction characters, on one line, shortened, and
    /// withheld if it holds a part of one of the secrets that were sent.
    static func message(_ text: String, sent: SentTexts) -> String? {
        let clean = cleaned(text)
        guard !clean.isEmpty else { return nil }
        for secret in sent.secrets where repeats(text, secret) || repeats(clean, secret) {
            return withheld
        }
        var scalars = clean.unicodeScalars
        guard scalars.count > maximumLength else { return clean }
        scalars.removeLast(scalars.count - maximumLength)
        return String(scalars) + "…"
    }

    /// The text if it is a name that was sent, or a plain word such as `ENV_CONFLICT` that holds no
    /// part of one of the secrets that were sent. A secret of up to three bytes would be part of
    /// many words by chance; it counts only as the whole of one.
    static func word(_ text: String, sent: SentTexts) -> String? {
        if sent.names.contains(text) { return text }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard isPlain, (1...250).contains(text.utf8.count) else { return nil }
        let isSecret = sent.secrets.contains { secret in
            (secret.count > 3 || secret.count == text.utf8.count) && repeats(text, secret)
        }
        return isSecret ? nil : text
    }

    /// The text if it is a name that was sent; else as a message.
    static func name(_ text: String, sent: SentTexts) -> String? {
        sent.names.contains(text) ? text : message(text, sent: sent)
    }

    private static func cleaned(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * maximumLength) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
                .privateUse, .surrogate, .unassigned:
                // A blank in its place keeps words apart; two in a row are one too many.
                if let last = clean.last, last != " " { clean.append(" ") }
            default: clean.append(scalar)
            }
        }
        while clean.last == " " { clean.removeLast() }
        return String(clean)
    }

    /// Whether `text` holds all of a short value, or ``window`` bytes of a longer one.
    private static func repeats(_ text: String, _ secret: SecretSlice) -> Bool {
        let bytes = Array(text.utf8)
        let length = min(secret.count, window)
        guard length > 0, bytes.count >= length else { return false }
        return secret.withBytes { value in
            bytes.withBytes { text in
                for start in 0...(text.byteCount - length)
                where value.contains(text, at: start, count: length) { return true }
                return false
            }
        }
    }
}

extension RawSpan {
    /// Whether the `count` bytes of `other` at `start`, which must be inside, occur in this span.
    fileprivate func contains(_ other: RawSpan, at start: Int, count: Int) -> Bool {
        guard byteCount >= count else { return false }
        let first = other.byte(at: start)
        var offset = 0
        while offset <= byteCount - count {
            if byte(at: offset) == first,
                (1..<max(count, 1)).allSatisfy({
                    byte(at: offset + $0) == other.byte(at: start + $0)
                })
            {
                return true
            }
            offset += 1
        }
        return false
    }
}
