/// A key typed at a terminal.
package enum TerminalKey: Equatable, Sendable {
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, backspace, tab
    /// `^U` and `^W`: delete the line, and the last word.
    case deleteLine, deleteWord
    /// A printable character: no control, and nothing that hides or reorders text.
    case character(Character)
}

extension String {
    /// Deletes from the end what a key deletes; does nothing for other keys.
    package mutating func delete(by key: TerminalKey) {
        switch key {
        case .backspace: _ = popLast()
        case .deleteLine: self = ""
        case .deleteWord:
            while last == " " { removeLast() }
            while let last, last != " " { removeLast() }
        default: break
        }
    }
}

/// Decodes the bytes that a terminal sends into keys.
///
/// No input traps. Everything else that a terminal sends is dropped: replies, incomplete characters.
package struct KeyDecoder: Sendable {
    /// The maximum length of an escape sequence, in bytes; longer ones are dropped.
    private static let longest = 32

    private var pending: [UInt8] = []
    /// Inside a control string, such as a reply of the terminal, which only its terminator ends.
    private var isInString = false

    package init() {}

    /// Whether a sequence or character is incomplete. If its rest does not arrive soon, call
    /// ``timeOut()``.
    package var isWaiting: Bool { !pending.isEmpty || isInString }

    /// Decodes bytes and returns the complete keys.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> [TerminalKey] {
        bytes.compactMap { take($0) }
    }

    /// Drops an incomplete sequence. An escape byte alone was the Escape key.
    package mutating func timeOut() -> TerminalKey? {
        let isEscape = pending == [0x1B] && !isInString
        (pending, isInString) = ([], false)
        return isEscape ? .escape : nil
    }

    private mutating func take(_ byte: UInt8) -> TerminalKey? {
        if isInString { return takeInString(byte) }
        guard let first = pending.first else { return begin(byte) }
        if first == 0x1B { return takeInSequence(byte) }
        // Inside a multi-byte character.
        guard byte & 0xC0 == 0x80 else {
            pending = []
            return begin(byte)
        }
        pending.append(byte)
        guard pending.count >= Self.length(first) else { return nil }
        defer { pending = [] }
        guard let text = String(validating: pending, as: UTF8.self) else { return nil }
        return Self.character(text)
    }

    private mutating func begin(_ byte: UInt8) -> TerminalKey? {
        switch byte {
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x1B: pending = [byte]
        case 0x20..<0x7F: return .character(Character(Unicode.Scalar(byte)))
        case 0xC2...0xF4: pending = [byte]
        // ^B, ^F, ^N and ^P, as in editors.
        case 0x02: return .pageUp
        case 0x06: return .pageDown
        case 0x0E: return .down
        case 0x10: return .up
        case 0x15: return .deleteLine
        case 0x17: return .deleteWord
        default: break
        }
        return nil
    }

    private static func length(_ first: UInt8) -> Int {
        first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    }

    private static func character(_ text: String) -> TerminalKey? {
        guard DisplayText.safe(text) == text, let first = text.first, text.count == 1,
            DisplayText.width(text) > 0
        else { return nil }
        return .character(first)
    }

    // MARK: Escape sequences

    private mutating func takeInSequence(_ byte: UInt8) -> TerminalKey? {
        if pending.count == 1 {
            switch byte {
            case 0x5B, 0x4F: pending.append(byte)  // [ and O
            case 0x50, 0x58, 0x5D, 0x5E, 0x5F: (pending, isInString) = ([], true)
            // Escape twice: the first one is a key, the second may start a sequence.
            case 0x1B: return .escape
            default: pending = []
            }
            return nil
        }
        if byte == 0x1B {
            pending = [byte]
            return nil
        }
        pending.append(byte)
        if (0x40...0x7E).contains(byte) {
            defer { pending = [] }
            return Self.key(pending[2...])
        }
        // Parameters and intermediates. Anything else, or too many of them, is not a key.
        if !(0x20...0x3F).contains(byte) || pending.count > Self.longest { pending = [] }
        return nil
    }

    private mutating func takeInString(_ byte: UInt8) -> TerminalKey? {
        if byte == 0x07 || (pending == [0x1B] && byte == 0x5C) {
            (pending, isInString) = ([], false)
        } else {
            pending = byte == 0x1B ? [byte] : []
        }
        return nil
    }

    /// The key for the bytes after the introducer, including the final byte.
    private static func key(_ sequence: ArraySlice<UInt8>) -> TerminalKey? {
        switch sequence.last {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "M") where sequence.count == 1: .enter
        case UInt8(ascii: "~"):
            switch sequence.dropLast().prefix(while: { $0 != UInt8(ascii: ";") }) {
            case [0x31], [0x37]: .home
            case [0x34], [0x38]: .end
            case [0x35]: .pageUp
            case [0x36]: .pageDown
            default: nil
            }
        default: nil
        }
    }
}
