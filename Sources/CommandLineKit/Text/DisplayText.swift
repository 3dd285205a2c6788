internal import JSON

/// Sanitizing and measuring of text for a terminal.
package enum DisplayText {
    /// Returns an untrusted text without anything that controls a terminal or hides or reorders text.
    ///
    /// Removes whole escape sequences, control characters, bidirectional controls, tag characters and
    /// byte order marks. Tabs and line breaks become one blank each. Joiners stay: scripts and emoji
    /// need them.
    package static func safe(_ text: String) -> String {
        if isPlain(text) { return text }
        var kept = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar.value {
            case 0x1B: skipEscapeSequence(&rest)
            case 0x9B: skipControlSequence(&rest)
            case 0x90, 0x98, 0x9D, 0x9E, 0x9F: skipControlString(&rest)
            case 0x0D:
                // CR LF is one line break.
                if rest.first?.value == 0x0A { rest.removeFirst() }
                kept.append(" ")
            case 0x09, 0x0A, 0x85, 0x2028, 0x2029: kept.append(" ")
            default: if !isUnsafe(scalar) { kept.append(scalar) }
            }
        }
        return String(kept)
    }

    /// Returns a sentence that can contain untrusted text, without unsafe characters.
    ///
    /// Unlike ``safe(_:)`` it keeps the rest of an escape sequence: an unterminated sequence in a name
    /// must not hide the words after that name.
    package static func safe(sentence: String) -> String {
        if isPlain(sentence) { return sentence }
        var kept = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in sentence.unicodeScalars {
            switch scalar.value {
            case 0x0A where isAfterReturn: break
            case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: kept.append(" ")
            default: if !isUnsafe(scalar) { kept.append(scalar) }
            }
            isAfterReturn = scalar.value == 0x0D
        }
        return String(kept)
    }

    /// Returns sentences that can contain untrusted text, one a line, each after `lead`.
    package static func lines(_ sentences: [String], after lead: String = "") -> String {
        sentences.map { lead + safe(sentence: $0) + "\n" }.joined()
    }

    /// Returns a number with its noun: "1 value", "2 values".
    package static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    /// Whether a text is printable ASCII only: safe, and one column per byte.
    static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            // No early exit, so that the loop is vectorized.
            var other: UInt8 = 0
            for index in bytes.indices {
                other |= unsafe bytes[index] &- 0x20 < 0x5F ? 0 : 1
            }
            return other == 0
        }
    }

    /// Whether a scalar controls a terminal or hides or reorders text.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { JSONText.isUnsafe(scalar) }

    private static func skipEscapeSequence(_ rest: inout Substring.UnicodeScalarView) {
        guard let next = rest.first?.value else { return }
        switch next {
        case 0x5B:
            rest.removeFirst()
            skipControlSequence(&rest)
        case 0x50, 0x58, 0x5D, 0x5E, 0x5F:
            rest.removeFirst()
            skipControlString(&rest)
        case 0x20...0x2F:
            // Intermediates, then the final character.
            while let value = rest.first?.value, (0x20...0x2F).contains(value) {
                rest.removeFirst()
            }
            if let value = rest.first?.value, (0x30...0x7E).contains(value) { rest.removeFirst() }
        case 0x30...0x7E: rest.removeFirst()
        default: break
        }
    }

    /// Skips parameters and intermediates, then the final character.
    private static func skipControlSequence(_ rest: inout Substring.UnicodeScalarView) {
        while let value = rest.first?.value, (0x20...0x3F).contains(value) { rest.removeFirst() }
        if let value = rest.first?.value, (0x40...0x7E).contains(value) { rest.removeFirst() }
    }

    /// Skips up to the terminator. Without one it skips nothing more than the introducer: a stray
    /// introducer must not hide the rest of the text.
    private static func skipControlString(_ rest: inout Substring.UnicodeScalarView) {
        var index = rest.startIndex
        while index < rest.endIndex {
            let value = rest[index].value
            let after = rest.index(after: index)
            if value == 0x07 || value == 0x9C {
                rest = rest[after...]
                return
            }
            if value == 0x1B {
                guard after < rest.endIndex, rest[after].value == 0x5C else { return }
                rest = rest[rest.index(after: after)...]
                return
            }
            index = after
        }
    }
}
