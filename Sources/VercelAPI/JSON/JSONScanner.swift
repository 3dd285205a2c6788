internal import Sealing

/// Walks over JSON text (RFC 8259) in guarded memory without copying any of it.
///
/// Made to pick out single members whose texts must not become `String`s. It checks everything it
/// passes: grammar, UTF-8, escapes, depth. Whatever the bytes are, it throws at worst. It holds a
/// place only; every call gets the bytes, which must be the same ones each time.
package struct JSONScanner {
    /// Why a text was not accepted.
    package enum Problem: Error, Equatable {
        /// Not JSON, or not of the expected form.
        case malformed
        /// Nested deeper than ``JSONScanner/maximumDepth``.
        case tooDeep
        /// No guarded memory left.
        case outOfMemory
    }

    /// What a value is, as its first byte tells.
    package enum Kind: Equatable {
        case object, array, string, number, bool, null
    }

    /// How many objects and arrays may be inside of each other.
    package static let maximumDepth = 64

    /// Where the next byte is read.
    package private(set) var offset = 0
    private var depth = 0

    /// Begins at the first byte.
    package init() {}

    /// Tells what comes next, behind blanks.
    package mutating func kind(in bytes: RawSpan) throws(Problem) -> Kind {
        skipBlanks(in: bytes)
        guard let byte = peek(bytes) else { throw .malformed }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw .malformed
        }
    }

    /// Reads an object; `onMember` must read or skip the value of each member.
    package mutating func object(
        in bytes: RawSpan,
        onMember: (inout JSONScanner, JSONText) throws(Problem) -> Void
    ) throws(Problem) {
        try enter(UInt8(ascii: "{"), in: bytes)
        defer { depth -= 1 }
        if take(UInt8(ascii: "}"), in: bytes) { return }
        while true {
            let name = try text(in: bytes)
            guard take(UInt8(ascii: ":"), in: bytes) else { throw .malformed }
            try onMember(&self, name)
            if take(UInt8(ascii: "}"), in: bytes) { return }
            guard take(UInt8(ascii: ","), in: bytes) else { throw .malformed }
        }
    }

    /// Reads an array; `onElement` must read or skip each element.
    package mutating func array(
        in bytes: RawSpan, onElement: (inout JSONScanner) throws(Problem) -> Void
    ) throws(Problem) {
        try enter(UInt8(ascii: "["), in: bytes)
        defer { depth -= 1 }
        if take(UInt8(ascii: "]"), in: bytes) { return }
        while true {
            try onElement(&self)
            if take(UInt8(ascii: "]"), in: bytes) { return }
            guard take(UInt8(ascii: ","), in: bytes) else { throw .malformed }
        }
    }

    /// Reads a text and tells where it is.
    ///
    /// - Throws: ``Problem/malformed`` also for half of a character: the text would not be what was
    ///   sent.
    package mutating func text(in bytes: RawSpan) throws(Problem) -> JSONText {
        try text(in: bytes, takesHalves: false)
    }

    /// - Parameter takesHalves: Whether an escape may be half of a surrogate pair, as JSON's grammar
    ///   lets it.
    private mutating func text(
        in bytes: RawSpan, takesHalves: Bool
    ) throws(Problem) -> JSONText {
        guard take(UInt8(ascii: "\""), in: bytes) else { throw .malformed }
        let start = offset
        var decodedCount = 0
        while let byte = peek(bytes) {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return JSONText(range: start..<(offset - 1), decodedCount: decodedCount)
            case UInt8(ascii: "\\"):
                guard let escape = JSONText.escape(in: bytes, at: offset) else {
                    guard takesHalves, JSONText.codeUnit(in: bytes, at: offset) != nil else {
                        throw .malformed
                    }
                    offset += 6
                    continue
                }
                offset += escape.length
                decodedCount += escape.scalar.utf8.count
            case 0..<0x20:
                throw .malformed
            default:
                let length = UTF8Check.sequenceLength(bytes, at: offset)
                guard length > 0 else { throw .malformed }
                offset += length
                decodedCount += length
            }
        }
        throw .malformed
    }

    /// Passes over a value of any kind.
    package mutating func skipValue(in bytes: RawSpan) throws(Problem) {
        switch try kind(in: bytes) {
        case .object:
            try object(in: bytes) { (scanner, _) throws(Problem) in
                try scanner.skipValue(in: bytes)
            }
        case .array:
            try array(in: bytes) { (scanner) throws(Problem) in
                try scanner.skipValue(in: bytes)
            }
        case .string: _ = try text(in: bytes, takesHalves: true)
        case .number: try skipNumber(in: bytes)
        case .bool:
            if !skip("true", in: bytes), !skip("false", in: bytes) { throw .malformed }
        case .null:
            if !skip("null", in: bytes) { throw .malformed }
        }
    }

    /// Checks that nothing but blanks follows.
    package mutating func end(in bytes: RawSpan) throws(Problem) {
        skipBlanks(in: bytes)
        guard offset == bytes.byteCount else { throw .malformed }
    }

    private mutating func enter(_ byte: UInt8, in bytes: RawSpan) throws(Problem) {
        guard take(byte, in: bytes) else { throw .malformed }
        guard depth < Self.maximumDepth else { throw .tooDeep }
        depth += 1
    }

    private func peek(_ bytes: RawSpan) -> UInt8? {
        offset < bytes.byteCount ? bytes.byte(at: offset) : nil
    }

    private mutating func skipBlanks(in bytes: RawSpan) {
        while let byte = peek(bytes), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { offset += 1 }
    }

    private mutating func take(_ wanted: UInt8, in bytes: RawSpan) -> Bool {
        skipBlanks(in: bytes)
        guard peek(bytes) == wanted else { return false }
        offset += 1
        return true
    }

    private mutating func skip(_ word: StaticString, in bytes: RawSpan) -> Bool {
        let start = offset
        for byte in String(describing: word).utf8 {
            guard peek(bytes) == byte else {
                offset = start
                return false
            }
            offset += 1
        }
        return true
    }

    private mutating func skipDigits(in bytes: RawSpan) throws(Problem) {
        let start = offset
        while let byte = peek(bytes), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            offset += 1
        }
        guard offset > start else { throw .malformed }
    }

    private mutating func skipNumber(in bytes: RawSpan) throws(Problem) {
        if peek(bytes) == UInt8(ascii: "-") { offset += 1 }
        if peek(bytes) == UInt8(ascii: "0") {
            offset += 1
        } else {
            try skipDigits(in: bytes)
        }
        if peek(bytes) == UInt8(ascii: ".") {
            offset += 1
            try skipDigits(in: bytes)
        }
        if let byte = peek(bytes), byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            offset += 1
            if let sign = peek(bytes), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                offset += 1
            }
            try skipDigits(in: bytes)
        }
    }
}
