import Sealing
import Testing

@Suite("Authenticated cipher")
struct AuthenticatedCipherTests {
    @Test func `a sealed text opens again`() throws {
        let key = try SecretBytes.random(count: 32)
        let nonce = AuthenticatedCipher.randomNonce()
        for text in [[], [1], [UInt8](repeating: 7, count: 4096)] as [[UInt8]] {
            var sealed: [UInt8] = [9]
            text.withBytes {
                AuthenticatedCipher.seal(
                    $0, nonce: nonce, additionalData: [1, 2], key: key, appendingTo: &sealed)
            }
            #expect(sealed.count == 1 + text.count + 16)
            let arena = SecretArena()
            let opened = try AuthenticatedCipher.opened(
                nonce + sealed.dropFirst(), additionalData: [1, 2], key: key, in: arena)
            #expect(opened.bytesForTesting == text)
        }
    }

    @Test func `every changed bit, other data and another key are refused`() throws {
        let key = try SecretBytes.random(count: 32)
        let sealed = [UInt8]([1, 2, 3]).withBytes {
            AuthenticatedCipher.sealed($0, additionalData: [5], key: key)
        }
        func opens(_ bytes: [UInt8], _ data: [UInt8], _ key: borrowing SecretBytes) -> Bool {
            let opened = try? AuthenticatedCipher.opened(
                bytes, additionalData: data, key: key, in: SecretArena())
            return opened != nil
        }
        let opensUnchanged = opens(sealed, [5], key)
        #expect(opensUnchanged)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                let opensChanged = opens(changed, [5], key)
                #expect(!opensChanged)
            }
        }
        for length in 0..<sealed.count {
            let opensTruncated = opens(Array(sealed.prefix(length)), [5], key)
            #expect(!opensTruncated)
        }
        let other = try SecretBytes.random(count: 32)
        let opensWithOtherData = opens(sealed, [6], key)
        let opensWithOtherKey = opens(sealed, [5], other)
        #expect(!opensWithOtherData && !opensWithOtherKey)
    }

    @Test func `the draft's test vector of XChaCha20-Poly1305 matches`() throws {
        // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
        let text = Array(
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
                .utf8)
        let data = hex("50515253c0c1c2c3c4c5c6c7")
        let key = try hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
            .withBytes { (bytes) in try SecretBytes(copying: bytes) }
        let nonce = hex("404142434445464748494a4b4c4d4e4f5051525354555657")
        var sealed: [UInt8] = []
        text.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: nonce, additionalData: data, key: key, appendingTo: &sealed)
        }
        #expect(Array(sealed.suffix(16)) == hex("c0875924c1c7987947deafd8780acf49"))
        #expect(Array(sealed.prefix(8)) == hex("bd6d179d3e83d43b"))
    }
}

/// The bytes of a string of hexadecimal digits.
func hex(_ digits: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits {
        guard let value = digit.hexDigitValue.map(UInt8.init) else { continue }
        if let first = high {
            bytes.append(first << 4 | value)
            high = nil
        } else {
            high = value
        }
    }
    return bytes
}

extension SecretSlice {
    /// The bytes, which only a test may copy.
    var bytesForTesting: [UInt8] { withBytes { $0.bytesForTesting } }
}

extension RawSpan {
    /// The bytes, which only a test may copy.
    var bytesForTesting: [UInt8] { (0..<byteCount).map { byte(at: $0) } }
}
