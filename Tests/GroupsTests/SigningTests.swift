import Sealing
import Testing

@Suite("Signatures")
struct SigningTests {
    private func pair(_ hexadecimal: String) throws -> SigningKeyPair {
        let seed = stride(from: 0, to: 64, by: 2).map { place in
            let start = hexadecimal.index(hexadecimal.startIndex, offsetBy: place)
            let end = hexadecimal.index(start, offsetBy: 2)
            return UInt8(hexadecimal[start..<end], radix: 16) ?? 0
        }
        return try SigningKeyPair(seed: TestRandom.secret(seed))
    }

    /// RFC 8032, section 7.1, test 2.
    @Test func `are those of RFC 8032`() throws {
        let pair = try pair("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        let signature = [0x72 as UInt8].withBytes { pair.signature(of: $0) }
        #expect(
            signature.map { String($0, radix: 16) }.prefix(4) == ["92", "a0", "9", "a9"])
        let object = [0x72] + signature
        #expect(object.withBytes { SigningKeyPair.isSigned($0, by: pair.publicKey) })
        for place in object.indices {
            var changed = object
            changed[place] ^= 1
            #expect(!changed.withBytes { SigningKeyPair.isSigned($0, by: pair.publicKey) })
        }
        #expect(
            ![UInt8](repeating: 0, count: 63).withBytes {
                SigningKeyPair.isSigned($0, by: pair.publicKey)
            })
        #expect(
            !object.withBytes {
                SigningKeyPair.isSigned($0, by: [UInt8](repeating: 0, count: 32))
            })
    }
}
