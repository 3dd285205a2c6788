import Testing

@testable import Sandbox

@Suite struct `Signatures` {
    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// RFC 3174 section 7.3, and lengths around the end of a block.
    @Test(arguments: [
        ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        (
            "0123456701234567012345670123456701234567012345670123456701234567", 10,
            "dea356a2cddd90c7a7ecedc5ebb563934f460452"
        ), ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("a", 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
        ("a", 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
        ("a", 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
    ])
    func `digest`(text: String, times: Int, digest: String) {
        let message = Array(String(repeating: text, count: times).utf8)
        #expect(hexadecimal(SHA1.digest(of: message)) == digest)
    }

    /// RFC 2202 section 3, cases 1, 2 and 6.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b617318655057264e28bc0b6fb378c8ef146be00"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        ),
        (
            [UInt8](repeating: 0xAA, count: 80),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ])
    func `with a key`(key: [UInt8], text: String, code: String) {
        let bytes = SHA1.authenticationCode(for: Array(text.utf8), key: key)
        #expect(hexadecimal(bytes) == code)
    }

    @Test func `times are written in ISO 8601`() {
        #expect(Timestamp.text(1_612_962_709_180) == "2021-02-10T13:11:49.180Z")
        #expect(Timestamp.text(0) == "1970-01-01T00:00:00.000Z")
        #expect(Timestamp.text(1_709_164_800_000) == "2024-02-29T00:00:00.000Z")
        #expect(Timestamp.http(1_612_962_709_180) == "Wed, 10 Feb 2021 13:11:49 GMT")
        #expect(Timestamp.http(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
