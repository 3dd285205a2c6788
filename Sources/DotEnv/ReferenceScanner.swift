/// Splits a decoded value into bytes and references such as `${NAME}` or `${NAME:-default}`.
struct ReferenceScanner {
    /// A reference as it stands in a value.
    struct Reference {
        let name: String
        /// The decoded bytes from `$` on, of which the reference takes `count`.
        let spelling: DecodedBytes
        let count: Int
        /// The text after `:-`, if there is that.
        let fallback: ReferenceScanner?
    }

    enum Piece {
        case byte(UInt8)
        case reference(Reference)
    }

    private var bytes: DecodedBytes
    /// How many bytes of `bytes` are left at most.
    private var remaining: Int
    /// Bytes that come before anything else is looked at.
    private var verbatim = 0
    /// How many bytes were looked at so far.
    private(set) var work = 0

    init(_ bytes: DecodedBytes, count: Int) {
        self.bytes = bytes
        remaining = count
    }

    mutating func next() -> Piece? {
        guard remaining > 0, let byte = bytes.peek() else { return nil }
        if verbatim > 0 {
            verbatim -= 1
            return take()
        }
        if byte == Byte.backslash, remaining > 2 {
            var ahead = bytes
            _ = ahead.next()
            if ahead.next() == Byte.dollar, ahead.next() == Byte.leftBrace {
                _ = bytes.next()
                remaining -= 1
                verbatim = 1
                return take()
            }
        } else if byte == Byte.dollar, let reference = reference() {
            for _ in 0..<reference.count { _ = bytes.next() }
            remaining -= reference.count
            return .reference(reference)
        }
        return take()
    }

    private mutating func take() -> Piece? {
        remaining -= 1
        work += 1
        return bytes.next().map { .byte($0) }
    }

    /// The reference that starts here, if it is one.
    private mutating func reference() -> Reference? {
        let spelling = bytes
        var ahead = bytes
        _ = ahead.next()
        guard remaining > 3, ahead.next() == Byte.leftBrace else { return nil }
        var name: [UInt8] = []
        var taken = 2
        while taken < remaining, let byte = ahead.next() {
            taken += 1
            work += 1
            if byte.isNameByte, name.count < 256 {
                name.append(byte)
                continue
            }
            guard !name.isEmpty else { return nil }
            let text = String(decoding: name, as: UTF8.self)
            if byte == Byte.rightBrace {
                return Reference(name: text, spelling: spelling, count: taken, fallback: nil)
            }
            guard byte == Byte.colon, taken < remaining, ahead.next() == 0x2D else { return nil }
            taken += 1
            let fallback = ahead
            guard let length = fallbackLength(ahead, from: taken) else { return nil }
            return Reference(
                name: text, spelling: spelling, count: taken + length + 1,
                fallback: ReferenceScanner(fallback, count: length))
        }
        return nil
    }

    /// The length of a default up to the brace that closes its reference.
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
