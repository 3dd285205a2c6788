/// A value of a webhook's body.
indirect enum WebhookValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A whole number of at most 18 digits, written without fraction and exponent.
    case integer(Int64)
    /// Any other number, which nobody here asks for.
    case number
    case text(String)
    case list([WebhookValue])
    case object([String: WebhookValue])

    /// The member of that name; nil for what is no object, and for `null`.
    subscript(name: String) -> WebhookValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else {
            return nil
        }
        return value
    }

    /// The text; nil for anything else, and for an empty one.
    var text: String? {
        if case .text(let text) = self, !text.isEmpty { text } else { nil }
    }
}

/// Reads one JSON text (RFC 8259) of bytes that nobody vouches for.
///
/// Nesting is bounded before it is followed, and what is read takes at most as much memory as so many
/// bytes can ask for. Of members with the same name the last one counts.
struct WebhookReader {
    /// Objects and arrays that may stand inside one another.
    static let depthLimit = 32

    private let bytes: [UInt8]
    private var position = 0

    /// The value of a whole text; nil for what is no JSON, no UTF-8, or nested too deeply.
    static func value(of bytes: [UInt8]) -> WebhookValue? {
        var reader = WebhookReader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipBlanks()
        return reader.position == bytes.count ? value : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString, _ value: WebhookValue) -> WebhookValue? {
        for byte in word.description.utf8 where !take(byte) { return nil }
        return value
    }

    private mutating func value(depth: Int) -> WebhookValue? {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return depth < Self.depthLimit ? object(depth: depth) : nil
        case UInt8(ascii: "["): return depth < Self.depthLimit ? list(depth: depth) : nil
        case UInt8(ascii: "\""): return string().map { .text($0) }
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> WebhookValue? {
        position += 1
        var members: [String: WebhookValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\""), let name = string() else { return nil }
            skipBlanks()
            guard take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
            members[name] = value
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func list(depth: Int) -> WebhookValue? {
        position += 1
        var values: [WebhookValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .list(values) }
        while true {
            guard let value = value(depth: depth + 1) else { return nil }
            values.append(value)
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .list(values) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func number() -> WebhookValue? {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        let first = position
        let count = digits()
        guard count > 0, count == 1 || bytes[first] != UInt8(ascii: "0") else { return nil }
        let end = position
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard digits() > 0 else { return nil }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { return nil }
        }
        guard isWhole, end - first <= 18 else { return start < position ? .number : nil }
        let number = bytes[first..<end].reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        return .integer(isNegative ? -number : number)
    }

    private mutating func string() -> String? {
        position += 1
        let start = position
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                let text = String(validating: bytes[start..<position], as: UTF8.self)
                position += 1
                return text
            case UInt8(ascii: "\\"): return escapedString(from: start)
            case 0..<0x20: return nil
            default: position += 1
            }
        }
        return nil
    }

    /// Goes on from the first escape of a string that began at `start`.
    private mutating func escapedString(from start: Int) -> String? {
        var text = Array(bytes[start..<position])
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case 0..<0x20: return nil
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(Character(scalar)).utf8)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let unit = hexadecimal() else { return nil }
            if let scalar = Unicode.Scalar(unit) { return scalar }
            // Half of a pair: the other half must follow, else it is no character.
            let mark = position
            if (0xD800...0xDBFF).contains(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")),
                let low = hexadecimal(), (0xDC00...0xDFFF).contains(low)
            {
                return Unicode.Scalar(
                    0x10000 + (UInt32(unit) - 0xD800) << 10 + UInt32(low) - 0xDC00)
            }
            position = mark
            return "\u{FFFD}"
        default: return nil
        }
    }

    private mutating func hexadecimal() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next else { return nil }
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x41 + 10
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: return nil
            }
            position += 1
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
