/// Splits a decoded value into bytes and references such as `$NAME`, `${NAME}` or
/// `${NAME:-default}`.
struct ReferenceScanner {
    /// A reference in a value.
    struct Reference {
        let name: String
        /// The decoded bytes from `$` on; the first `count` are the reference.
        let spelling: DecodedBytes
        let count: Int
        /// The text after `:-`, `-`, `:+` or `+`, if any.
        var fallback: ReferenceScanner?
        /// Whether that text replaces a value that is set (`:+` or `+`).
        var isAlternative = false
    }

    enum Piece {
        case byte(UInt8)
        case reference(Reference)
    }

    private var bytes: DecodedBytes
    /// The most bytes of `bytes` that are left.
    private var remaining: Int
    /// Bytes read so far.
    private(set) var work = 0
    /// Whether something stayed that other programs replace.
    private(set) var hasUnresolvedReference = false

    init(_ bytes: DecodedBytes, count: Int) {
        self.bytes = bytes
        remaining = count
    }

    mutating func next() -> Piece? {
        guard remaining > 0, let byte = bytes.peek() else { return nil }
        if byte == Byte.backslash, remaining > 1 {
            var ahead = bytes
            _ = ahead.next()
            if ahead.next() == Byte.dollar {
                _ = bytes.next()
                remaining -= 1
                return take()
            }
        } else if byte == Byte.dollar {
            if let reference = reference() {
                for _ in 0..<reference.count { _ = bytes.next() }
                remaining -= reference.count
                return .reference(reference)
            }
            var ahead = bytes
            _ = ahead.next()
            if remaining > 1, let next = ahead.next(),
                next.isWord || next == Byte.leftBrace || next == 0x28
            {
                hasUnresolvedReference = true
            }
        }
        return take()
    }

    private mutating func take() -> Piece? {
        remaining -= 1
        work += 1
        return bytes.next().map { .byte($0) }
    }

    /// Parses the reference that starts here, if any.
    private mutating func reference() -> Reference? {
        let spelling = bytes
        var ahead = bytes
        _ = ahead.next()
        guard remaining > 1, let first = ahead.peek() else { return nil }
        let isBraced = first == Byte.leftBrace
        guard isBraced || (first.isWord && !(first &- 0x30 < 10)) else { return nil }
        var name: [UInt8] = []
        var taken = 1
        if isBraced {
            _ = ahead.next()
            taken = 2
        }
        while taken < remaining, let byte = ahead.peek(), name.count < 256,
            byte.isWord || (isBraced && byte == 0x2E)
        {
            name.append(byte)
            _ = ahead.next()
            taken += 1
            work += 1
        }
        guard !name.isEmpty else { return nil }
        let text = String(decoding: name, as: UTF8.self)
        if !isBraced { return Reference(name: text, spelling: spelling, count: taken) }
        guard taken < remaining, var byte = ahead.next() else { return nil }
        taken += 1
        if byte == Byte.rightBrace {
            return Reference(name: text, spelling: spelling, count: taken)
        }
        if byte == Byte.colon {
            guard taken < remaining, let next = ahead.next() else { return nil }
            byte = next
            taken += 1
        }
        guard byte == 0x2D || byte == 0x2B else { return nil }
        let fallback = ahead
        guard let length = fallbackLength(ahead, from: taken) else { return nil }
        return Reference(
            name: text, spelling: spelling, count: taken + length + 1,
            fallback: ReferenceScanner(fallback, count: length), isAlternative: byte == 0x2B)
    }

    /// Returns the length of a default up to the closing brace of its reference.
    private mutating func fallbackLength(_ bytes: DecodedBytes, from taken: Int) -> Int? {
        var ahead = bytes
        var depth = 0
        var length = 0
        var previous: UInt8 = 0
        while taken + length < remaining, let byte = ahead.next() {
            work += 1
            if byte == Byte.leftBrace, previous == Byte.dollar { depth += 1 }
            if byte == Byte.rightBrace {
                if depth == 0 { return length }
                depth -= 1
            }
            previous = byte
            length += 1
        }
        return nil
    }
}
