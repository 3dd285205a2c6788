package import Sealing

/// Writes one JSON value (RFC 8259) into guarded memory, so that a value to be sent is never held
/// anywhere else.
///
/// Commas are put in by itself; that objects and arrays are closed again is the caller's duty.
package struct JSONWriter: ~Copyable {
    /// Why a value cannot be written.
    package enum Problem: Error, Equatable {
        /// Not valid UTF-8. JSON knows no other text.
        case invalidText
        /// No guarded memory left.
        case outOfMemory
    }

    private var buffer: SecretBuffer
    private var needsComma = false

    /// Makes a writer that has written nothing.
    package init(capacity: Int = 4096) throws(Problem) {
        do throws(SealingError) {
            buffer = try SecretBuffer(capacity: capacity)
        } catch {
            throw .outOfMemory
        }
    }

    /// Hands over what was written.
    package consuming func finish() -> GuardedBytes {
        GuardedBytes(buffer)
    }

    /// Writes an object of the members that `members` writes.
    package mutating func object(
        _ members: (inout JSONWriter) throws(Problem) -> Void
    ) throws(Problem) {
        try open(UInt8(ascii: "{"))
        try members(&self)
        try close(UInt8(ascii: "}"))
    }

    /// Writes an array of the values that `values` writes.
    package mutating func array(
        _ values: (inout JSONWriter) throws(Problem) -> Void
    ) throws(Problem) {
        try open(UInt8(ascii: "["))
        try values(&self)
        try close(UInt8(ascii: "]"))
    }

    /// Writes the name of the member whose value is written next.
    package mutating func name(_ name: String) throws(Problem) {
        try string(name)
        try put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a text that is no secret.
    package mutating func string(_ text: String) throws(Problem) {
        try separate()
        try put(UInt8(ascii: "\""))
        for byte in text.utf8 { try putEscaped(byte) }
        try put(UInt8(ascii: "\""))
    }

    /// Writes a text from its UTF-8 bytes.
    package mutating func string(_ secret: SecretSlice) throws(Problem) {
        try secret.withBytes { (bytes) throws(Problem) in try string(bytes: bytes) }
    }

    /// Writes a text from its UTF-8 bytes.
    package mutating func string(bytes: RawSpan) throws(Problem) {
        guard UTF8Check.isValid(bytes) else { throw .invalidText }
        try separate()
        do throws(SealingError) {
            try buffer.reserve(bytes.byteCount + 2)
        } catch {
            throw .outOfMemory
        }
        try put(UInt8(ascii: "\""))
        for offset in 0..<bytes.byteCount { try putEscaped(bytes.byte(at: offset)) }
        try put(UInt8(ascii: "\""))
    }

    /// Writes a whole number.
    package mutating func number(_ number: Int64) throws(Problem) {
        try separate()
        for byte in String(number).utf8 { try put(byte) }
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ bool: Bool) throws(Problem) {
        try literal(bool ? "true" : "false")
    }

    /// Writes `null`.
    package mutating func null() throws(Problem) {
        try literal("null")
    }

    /// Writes a member whose value is a text.
    package mutating func member(_ name: String, _ text: String) throws(Problem) {
        try self.name(name)
        try string(text)
    }

    /// Writes a member whose value is a secret text.
    package mutating func member(_ name: String, _ secret: SecretSlice) throws(Problem) {
        try self.name(name)
        try string(secret)
    }

    /// Writes a member whose value is a list of texts.
    package mutating func member(_ name: String, _ texts: [String]) throws(Problem) {
        try self.name(name)
        try array { (writer) throws(Problem) in
            for text in texts { try writer.string(text) }
        }
    }

    private mutating func literal(_ text: String) throws(Problem) {
        try separate()
        for byte in text.utf8 { try put(byte) }
    }

    private mutating func open(_ byte: UInt8) throws(Problem) {
        try separate()
        try put(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) throws(Problem) {
        try put(byte)
        needsComma = true
    }

    private mutating func separate() throws(Problem) {
        if needsComma { try put(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func putEscaped(_ byte: UInt8) throws(Problem) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            try put(UInt8(ascii: "\\"))
            try put(byte)
        case 0x0A: try putEscape("n")
        case 0x0D: try putEscape("r")
        case 0x09: try putEscape("t")
        case 0..<0x20, 0x7F:
            for digit in "\\u00".utf8 { try put(digit) }
            try put(Self.hexadecimal(byte >> 4))
            try put(Self.hexadecimal(byte & 15))
        default: try put(byte)
        }
    }

    private mutating func putEscape(_ letter: Unicode.Scalar) throws(Problem) {
        try put(UInt8(ascii: "\\"))
        try put(UInt8(ascii: letter))
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    private mutating func put(_ byte: UInt8) throws(Problem) {
        do throws(SealingError) {
            try buffer.append(byte)
        } catch {
            throw .outOfMemory
        }
    }
}
