import Sealing
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
    func `is that of RFC 4648 without padding`(text: String, letters: String) {
        #expect(Base64.encoded(Array(text.utf8)) == Array(letters.utf8))
        #expect(Base64.decoded(Array(letters.utf8)[...]) == Array(text.utf8))
    }

    @Test func `bytes of every length come back, and have as many letters as is said`() {
        for count in 0..<200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            let letters = Base64.encoded(bytes)
            #expect(letters.count == Base64.letterCount(of: count))
            #expect(letters.allSatisfy(Base64.isLetter))
            // A slice, as the log's reader has it.
            #expect(Base64.decoded(([0x20] + letters)[1...]) == bytes)
        }
    }

    @Test func `only what encoding writes is taken`() {
        for text in ["Z", "Zh", "Zm9", "Zg==", "Zm8=", "Zm9v\n", "Zm 9", "Zm9-", "Zm9_", "ÄÄ"] {
            let letters = Array(text.utf8)
            let bytes = Base64.decoded(letters[...])
            #expect(bytes == nil || bytes.map({ Base64.encoded($0) }) == letters, "\(text)")
        }
        // Any byte in any place of texts that end in each way.
        for text in ["Zm9vYg", "Zm9vYmE", "Zm9vYmFy"] {
            for place in 0..<text.utf8.count {
                for byte in UInt8.min...UInt8.max {
                    var letters = Array(text.utf8)
                    letters[place] = byte
                    let bytes = Base64.decoded(letters[...])
                    #expect(bytes == nil || bytes.map({ Base64.encoded($0) }) == letters)
                    #expect(Base64.isLetter(byte) || bytes == nil)
                }
            }
        }
    }
}
