/// Why a text is no JSON.
package enum JSONError: Error, Equatable {
    /// Something else stands where a value, a comma or an end was expected; the offset is in bytes.
    case unexpected(offset: Int)
    /// More than ``JSONParser/maximumDepth`` arrays and objects inside one another.
    case tooDeep
}

/// Reads one JSON text (RFC 8259) from bytes that nobody vouches for.
///
/// Nesting is bounded before it is followed. Of members with the same name the last one stays.
package struct JSONParser {
    /// The number of arrays and objects that may stand inside one another.
    package static let maximumDepth = 64

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The value of a whole text; surrounding blanks are allowed, anything after the value is not.
    package static func value(of bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes)
        let value = try parser.value(depth: 0)
        parser.skipBlanks()
        guard parser.position == bytes.count else { throw parser.unexpected }
        return value
    }

    private var unexpected: JSONError { .unexpected(offset: position) }

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

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError)
        -> JSONValue
    {
        for byte in word.description.utf8 {
            guard take(byte) else { throw unexpected }
        }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", true)
        case UInt8(ascii: "f"): return try word("false", false)
        case UInt8(ascii: "n"): return try word("null", nil)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw unexpected }
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw unexpected }
            members[name] = try value(depth: depth + 1)
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw unexpected }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw unexpected }
        }
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var whole = true
        if take(UInt8(ascii: ".")) {
            whole = false
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            whole = false
            position += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if whole, let integer = Int64(text) { return .integer(integer) }
        guard let floating = Double(text), floating.isFinite else { throw unexpected }
        return .number(floating)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
        guard position > start else { throw unexpected }
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw unexpected }
                return string
            case UInt8(ascii: "\\"):
                try escape(into: &text)
            case 0..<0x20:
                throw unexpected
            default:
                text.append(byte)
            }
        }
        throw unexpected
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw unexpected }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if code & 0xFC00 == 0xD800 {
                // Beyond the basic plane a character is a pair of surrogates; half a pair is none.
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw unexpected }
                let low = try hexadecimal()
                guard low & 0xFC00 == 0xDC00 else { throw unexpected }
                code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
            }
            guard let scalar = Unicode.Scalar(code) else { throw unexpected }
            text.append(contentsOf: Array(String(Character(scalar)).utf8))
        default: throw unexpected
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue,
                byte < 0x80
            else { throw unexpected }
            position += 1
            code = code << 4 | UInt32(digit)
        }
        return code
    }
}
