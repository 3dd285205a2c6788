import Foundation
import Sealing
import Testing

@Suite("Base64")
struct Base64Tests {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The result in guarded memory, which equals that in an array.
    private func encoded(_ bytes: [UInt8], _ variant: Base64.Variant) throws -> [UInt8] {
        let secret = try bytes.withBytes { (span) throws(SealingError) in
            try Base64.encoded(span, variant)
        }
        let letters = secret.withBytes { Self.array($0) }
        #expect(letters == Base64.encoded(bytes, variant))
        if variant == .unpadded { #expect(letters == TableBase64.encoded(bytes)) }
        #expect(letters.count == Base64.letterCount(of: bytes.count, variant))
        return letters
    }

    /// The bytes in guarded memory, which equal those in an array.
    private func decoded(_ letters: [UInt8], _ variant: Base64.Variant) throws -> [UInt8]? {
        let secret = try letters.withBytes { (span) throws(SealingError) in
            try Base64.decoded(span, variant)
        }
        // A slice, as the log's parser passes it.
        let slice = ([0x20] + letters)[1...]
        let bytes = Base64.decoded(slice, variant)
        if variant == .unpadded { #expect(bytes == TableBase64.decoded(slice)) }
        guard let secret else {
            #expect(bytes == nil)
            return nil
        }
        #expect(secret.withBytes { Self.array($0) } == bytes)
        return bytes
    }

    private static func array(_ span: RawSpan) -> [UInt8] {
        (0..<span.byteCount).map { span.byte(at: $0) }
    }

    // RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `the vectors of the RFC`(text: String, letters: String) throws {
        let letters = Array(letters.utf8)
        let short = letters.filter { $0 != UInt8(ascii: "=") }
        #expect(try encoded(Array(text.utf8), .padded) == letters)
        #expect(try encoded(Array(text.utf8), .unpadded) == short)
        #expect(try encoded(Array(text.utf8), .urlSafe) == short)
        #expect(try decoded(letters, .padded) == Array(text.utf8))
        #expect(try decoded(short, .unpadded) == Array(text.utf8))
        #expect(try decoded(short, .urlSafe) == Array(text.utf8))
    }

    @Test func `every byte at every place, as Foundation writes it`() throws {
        for count in 0..<70 {
            for start in stride(from: 0, to: 256, by: count < 5 ? 1 : 37) {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: start + $0 &* 53) }
                let letters = Data(bytes).base64EncodedString()
                #expect(try encoded(bytes, .padded) == Array(letters.utf8))
                #expect(try decoded(Array(letters.utf8), .padded) == bytes)
                let short = Array(letters.utf8).filter { $0 != UInt8(ascii: "=") }
                #expect(try encoded(bytes, .unpadded) == short)
                #expect(try decoded(short, .unpadded) == bytes)
                let safe = letters.filter { $0 != "=" }
                    .replacing("+", with: "-").replacing("/", with: "_")
                #expect(try encoded(bytes, .urlSafe) == Array(safe.utf8))
                #expect(try decoded(Array(safe.utf8), .urlSafe) == bytes)
            }
        }
    }

    @Test func `surrounding bytes stay`() {
        for count in 0..<20 {
            let bytes = [UInt8](repeating: 7, count: count)
            let letters = TableBase64.encoded(bytes)
            #expect(TableBase64.encoded(bytes, after: [1, 2]) == [1, 2] + letters)
            #expect(TableBase64.encoded(bytes, before: [3]) == letters + [3])
            #expect(
                TableBase64.encoded(bytes, after: [1], before: [2, 3]) == [1] + letters + [2, 3])
        }
    }

    @Test func `every character outside the alphabet is refused at every position`() throws {
        for byte in UInt8.min...UInt8.max where !Self.alphabet.contains(byte) {
            #expect(!Base64.isLetter(byte))
            for place in 0..<8 {
                var letters = Array("AAAAAAAA".utf8)
                letters[place] = byte
                #expect(try decoded(letters, .unpadded) == nil)
                let isSafe = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                #expect(try (decoded(letters, .urlSafe) != nil) == isSafe)
                // "=" at the end is padding.
                if byte == 0x3D, place == 7 { continue }
                #expect(try decoded(letters, .padded) == nil)
            }
        }
        #expect(Self.alphabet.allSatisfy(Base64.isLetter))
    }

    @Test func `only canonical encodings are accepted`() throws {
        for text in ["Z", "Zh", "Zm9", "Zm9vY", "Zg=", "Zg===", "Zg==\n", "Zm9v====", "====", "="] {
            #expect(try decoded(Array(text.utf8), .padded) == nil, "\(text)")
        }
        for text in [
            "Z", "Zg==", "Zm8=", "Zm9vY", "Zm9v\n", "Zm 9", "Zm9-", "Zm9_", "\0", "Zm9v\0",
        ] {
            #expect(try decoded(Array(text.utf8), .unpadded) == nil, "\(text)")
        }
        // Any letter at any position, for each kind of ending: unused bits are zero.
        for text in ["Zm9vYg", "Zm9vYmE", "Zm9vYmFy"] {
            for place in 0..<text.utf8.count {
                for byte in Self.alphabet {
                    var letters = Array(text.utf8)
                    letters[place] = byte
                    let bytes = try decoded(letters, .unpadded)
                    #expect(try bytes == nil || bytes.map { try encoded($0, .unpadded) } == letters)
                }
            }
        }
    }
}
