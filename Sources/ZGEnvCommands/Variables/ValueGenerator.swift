internal import Sealing
internal import SystemFiles

/// Generates random values in guarded memory from the kernel's random numbers.
struct ValueGenerator: Equatable {
    private enum Kind: Equatable {
        case hexadecimal(Int)
        case base64(Int, urlSafe: Bool)
        case alphanumeric(Int)
        case words(Int)
        case uuid
    }

    private let kind: Kind

    /// Parses `hex:32`, `base64:32`, `base64url:32` (random bytes), `alnum:40` (characters),
    /// `words:6` or `uuid`.
    ///
    /// - Throws: ``ExitCode/usage``.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let count = parts.count == 2 ? Int(parts[1]) : nil
        switch (parts.first, count) {
        case ("hex", let count?) where (8...4096).contains(count): kind = .hexadecimal(count)
        case ("base64", let count?) where (8...4096).contains(count):
            kind = .base64(count, urlSafe: false)
        case ("base64url", let count?) where (8...4096).contains(count):
            kind = .base64(count, urlSafe: true)
        case ("alnum", let count?) where (8...4096).contains(count): kind = .alphanumeric(count)
        case ("words", let count?) where (4...64).contains(count): kind = .words(count)
        case ("uuid", nil) where parts.count == 1: kind = .uuid
        default:
            throw CommandError(
                .usage, "The value generator is not valid.",
                hint:
                    "Use hex:32, base64:32, base64url:32, alnum:40 (8 to 4096), words:6 (4 to 64) or uuid."
            )
        }
    }

    func value(in arena: SecretArena) throws(SealingError) -> SecretSlice {
        var text = try SecretBuffer()
        switch kind {
        case .hexadecimal(let count):
            let random = try SecretBytes.random(count: count)
            try random.withBytes { (bytes) throws(SealingError) in
                try Self.appendHexadecimal(bytes, to: &text)
            }
        case .base64(let count, let urlSafe):
            let random = try SecretBytes.random(count: count)
            try random.withBytes { (bytes) throws(SealingError) in
                let letters = try Base64.encoded(bytes, urlSafe ? .urlSafe : .padded)
                try letters.withBytes { (letters) throws(SealingError) in try text.append(letters) }
            }
        case .alphanumeric(let count): try Self.appendLetters(count, to: &text)
        case .words(let count): try Self.appendWords(count, to: &text)
        case .uuid: try Self.appendUUID(to: &text)
        }
        return try text.withBytes { (bytes) throws(SealingError) in try arena.copy(bytes) }
    }

    /// Appends letters and digits. Bytes beyond the last multiple of 62 are rejected, so that each
    /// character is equally likely.
    private static func appendLetters(
        _ count: Int, to text: inout SecretBuffer
    ) throws(SealingError) {
        let letters = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let limit = 256 / letters.count * letters.count
        while text.count < count {
            let random = try SecretBytes.random(count: 2 * (count - text.count))
            try random.withBytes { (bytes) throws(SealingError) in
                for index in 0..<bytes.byteCount where text.count < count {
                    let byte = Int(bytes.byte(at: index))
                    if byte < limit { try text.append(letters[byte % letters.count]) }
                }
            }
        }
    }

    /// Appends pronounceable words of 16 random bits: four for a consonant, two for a vowel
    /// (Wilkerson, "A Proposal for Proquints", 2009).
    private static func appendWords(
        _ count: Int, to text: inout SecretBuffer
    ) throws(SealingError) {
        let consonants = Array("bdfghjklmnprstvz".utf8)
        let vowels = Array("aiou".utf8)
        let random = try SecretBytes.random(count: 2 * count)
        try random.withBytes { (bytes) throws(SealingError) in
            for word in 0..<count {
                if word > 0 { try text.append(0x2D) }
                let bits = Int(bytes.byte(at: 2 * word)) << 8 | Int(bytes.byte(at: 2 * word + 1))
                try text.append(consonants[bits >> 12 & 15])
                try text.append(vowels[bits >> 10 & 3])
                try text.append(consonants[bits >> 6 & 15])
                try text.append(vowels[bits >> 4 & 3])
                try text.append(consonants[bits & 15])
            }
        }
    }

    private static func appendHexadecimal(
        _ bytes: RawSpan, to text: inout SecretBuffer
    ) throws(SealingError) {
        for index in 0..<bytes.byteCount {
            let digits = Hexadecimal.digits(of: bytes.byte(at: index))
            try text.append(digits.high)
            try text.append(digits.low)
        }
    }

    private static func appendUUID(to text: inout SecretBuffer) throws(SealingError) {
        var random = try SecretBytes.random(count: 16)
        random.withMutableBytes { bytes in
            let version = bytes.bytes.byte(at: 6) & 0x0F | 0x40
            let variant = bytes.bytes.byte(at: 8) & 0x3F | 0x80
            bytes.storeBytes(of: version, toByteOffset: 6, as: UInt8.self)
            bytes.storeBytes(of: variant, toByteOffset: 8, as: UInt8.self)
        }
        try random.withBytes { (bytes) throws(SealingError) in
            for range in [0..<4, 4..<6, 6..<8, 8..<10, 10..<16] {
                if range.lowerBound > 0 { try text.append(0x2D) }
                try appendHexadecimal(bytes.extracting(range), to: &text)
            }
        }
    }
}
