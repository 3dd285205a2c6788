import Foundation
import Sealing
import Testing

@testable import SecretServiceKeyring

@Suite("Base64 text")
struct Base64TextTests {
    private func encoded(_ bytes: [UInt8]) throws -> String {
        let text = try bytes.withBytes { (span) throws(SealingError) in
            try Base64Text.encoded(span)
        }
        return text.withBytes { span in
            String(decoding: (0..<span.byteCount).map { span.byte(at: $0) }, as: UTF8.self)
        }
    }

    private func decoded(_ text: [UInt8]) throws -> [UInt8]? {
        let bytes = try text.withBytes { (span) throws(SealingError) in
            try Base64Text.decoded(span)
        }
        guard let bytes else { return nil }
        return bytes.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    }

    // RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `the vectors of the RFC`(plain: String, text: String) throws {
        #expect(try encoded(Array(plain.utf8)) == text)
        #expect(try decoded(Array(text.utf8)) == Array(plain.utf8))
    }

    @Test func `every byte at every place, as Foundation writes it`() throws {
        for count in 0..<70 {
            for start in stride(from: 0, to: 256, by: count < 5 ? 1 : 37) {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: start + $0 &* 53) }
                let text = Data(bytes).base64EncodedString()
                #expect(try encoded(bytes) == text)
                #expect(try decoded(Array(text.utf8)) == bytes)
            }
        }
    }

    @Test func `every character that is none of the alphabet is refused at every place`() throws {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
            for place in 0..<8 {
                var text = Array("AAAAAAAA".utf8)
                text[place] = byte
                // "=" at the end is padding.
                if byte == 0x3d, place == 7 { continue }
                #expect(try decoded(text) == nil)
            }
        }
    }

    @Test func `of four characters there is one text for each value`() throws {
        // All last characters before padding: only those with the unused bits zero are taken.
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        let two = try alphabet.filter { try decoded([0x41, $0, 0x3d, 0x3d]) != nil }
        let three = try alphabet.filter { try decoded([0x41, 0x41, $0, 0x3d]) != nil }
        #expect(two.count == 4)
        #expect(three.count == 16)
    }

    @Test func `a text that is too long is refused before memory is taken`() throws {
        let longest = [UInt8](repeating: 0x41, count: Base64Text.longestText)
        #expect(try decoded(longest)?.count == Base64Text.longestText / 4 * 3)
        #expect(try decoded(longest + Array("AAAA".utf8)) == nil)
    }
}
