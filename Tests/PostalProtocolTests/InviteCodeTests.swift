import PostalProtocol
import Testing

@Suite("Invite codes") struct InviteCodeTests {
    @Test("are shown in groups of four, and read back")
    func groups() throws {
        let code = InviteCode(random: (0..<20).map { UInt8($0 * 13) })
        #expect(code.text.utf8.count == 24)
        #expect(code.text.split(separator: "-").map(\.count) == [4, 4, 4, 4, 4])
        #expect(InviteCode(typed: code.text) == code)
    }

    @Test(
        "are the same however they are typed",
        arguments: [
            "ab10-wxyz-1234-5678-90qr", "AB10WXYZ1234567890QR", " aBlO wxyz 1234 5678 90qr \n",
            "ABIO-WXYZ-1234-5678-9OQR",
        ])
    func typed(_ text: String) {
        #expect(InviteCode(typed: text)?.text == "AB10-WXYZ-1234-5678-90QR")
    }

    @Test(
        "are nothing else",
        arguments: [
            "", "AB10-WXYZ-1234-5678-90Q", "AB10-WXYZ-1234-5678-90QRA", "ÄB10-WXYZ-1234-5678-90Q",
            "AB10_WXYZ_1234_5678_90QR", String(repeating: "-", count: 400) + "AB10WXYZ1234567890QR",
        ])
    func refused(_ text: String) { #expect(InviteCode(typed: text) == nil) }
}
