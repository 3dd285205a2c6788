import Sealing
import Testing
import Vault

@testable import Groups

@Suite("The code of an invite")
struct GroupInviteCodeTests {
    private func text(_ code: borrowing GroupInviteCode) throws -> String {
        try code.text().withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
    }

    /// The public key that follows from a typed text, or the reason why it is refused.
    private func key(_ text: String) throws -> [UInt8] {
        let code = try GroupInviteCode(reading: TestRandom.secret(Array(text.utf8)))
        return try code.signingKeyPair(for: TestRandom.identifier("invite", 0)).publicKey
    }

    private func reason(_ text: String) throws -> String? {
        let typed = try TestRandom.secret(Array(text.utf8))
        do throws(GroupError) {
            _ = try GroupInviteCode(reading: typed)
            return nil
        } catch {
            #expect(error.code == .code)
            return error.reason
        }
    }

    @Test func `is written like a recovery code, and read back`() throws {
        let fixed = try GroupInviteCode(TestRandom.secret((1...16).map { $0 }))
        #expect(try text(fixed) == "0108-1G81-860W-40J2-GB1G-6GW3-RGH3")
        for _ in 0..<50 {
            let code = try GroupInviteCode.random()
            let text = try text(code)
            let expected = try code.signingKeyPair(for: TestRandom.identifier("invite", 0))
            #expect(text.utf8.count == 34)
            for typed in [text, text.lowercased(), text.filter { $0 != "-" }] {
                #expect(try key(typed) == expected.publicKey)
            }
        }
    }

    @Test func `refuses one wrong character, and two`() throws {
        let text = Array(try text(GroupInviteCode.random()).filter { $0 != "-" })
        func changed(_ places: [Int]) -> String {
            var changed = text
            for place in places { changed[place] = changed[place] == "7" ? "3" : "7" }
            return String(changed)
        }
        for first in text.indices {
            #expect(try reason(changed([first]))?.contains("typo") == true)
            for second in text.indices where second > first {
                #expect(try reason(changed([first, second]))?.contains("typo") == true)
            }
        }
    }

    @Test func `refuses other texts and sizes`() throws {
        for text in ["", "hello", "correct horse battery staple"] {
            #expect(try reason(text) == "the text is not an invite code")
        }
        for count in [1, 15, 17, 32] {
            #expect(throws: GroupError.self) {
                _ = try GroupInviteCode(
                    TestRandom.secret([UInt8](repeating: 1, count: count)))
            }
        }
    }
}
