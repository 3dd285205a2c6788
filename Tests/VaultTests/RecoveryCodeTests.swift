import Sealing
import Testing

@testable import Vault

@Suite("A recovery code")
struct RecoveryCodeTests {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    private func text(_ code: RecoveryCode) throws -> String {
        try code.text().withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
    }

    private func form(_ text: String) throws -> CodeText.Form {
        CodeText.form(of: try VaultFixture.passphrase(text))
    }

    private func key(_ text: String) throws -> [UInt8]? {
        guard let code = try RecoveryCode(reading: try VaultFixture.passphrase(text)) else {
            return nil
        }
        return try code.wrappingKey(salt: [UInt8](repeating: 7, count: 16)).withBytes { bytes in
            (0..<bytes.byteCount).map { bytes.byte(at: $0) }
        }
    }

    @Test func `has seven groups of four and is parsed back from its text`() throws {
        for _ in 0..<200 {
            let code = try RecoveryCode.random()
            let text = try text(code)
            #expect(
                text.wholeMatch(of: /[0-7][0-9A-HJKMNP-TV-Z]{3}(-[0-9A-HJKMNP-TV-Z]{4}){6}/) != nil)
            #expect(try form(text) == .code)
            let salt = [UInt8](repeating: 7, count: 16)
            let expected = try code.wrappingKey(salt: salt).withBytes { bytes in
                (0..<bytes.byteCount).map { bytes.byte(at: $0) }
            }
            #expect(try key(text) == expected)
        }
    }

    @Test func `tolerates case, blanks, missing hyphens, and letters that look like digits`()
        throws
    {
        var text = try text(RecoveryCode.random())
        while !text.contains("0") || !text.contains("1") {
            text = try self.text(RecoveryCode.random())
        }
        let expected = try key(text)
        let variants = [
            text.lowercased(), text.filter { $0 != "-" },
            " " + text.replacing("-", with: " ") + " ",
            text.replacing("0", with: "O"), text.replacing("0", with: "o"),
            text.replacing("1", with: "I"), text.replacing("1", with: "l"),
        ]
        for variant in variants { #expect(try key(variant) == expected, "\(variant.count)") }
    }

    @Test func `every wrong character and every swapped pair is a typing error`() throws {
        let text = Array(try text(RecoveryCode.random()))
        var missed = 0
        for position in text.indices where text[position] != "-" {
            for letter in Self.alphabet where letter != text[position] {
                var changed = text
                changed[position] = letter
                if try form(String(changed)) != .slip { missed += 1 }
            }
            for other in text.indices where text[other] != "-" && text[other] != text[position] {
                var changed = text
                changed.swapAt(position, other)
                if try form(String(changed)) != .slip { missed += 1 }
            }
        }
        #expect(missed == 0)
    }

    @Test func `two wrong characters are a typing error too`() throws {
        let text = Array(try text(RecoveryCode.random()).filter { $0 != "-" })
        var missed = 0
        for first in text.indices {
            for second in text.indices where second > first {
                for (left, right) in [("0", "0"), ("7", "Z"), ("3", "Q")]
                    as [(Character, Character)]
                where left != text[first] || right != text[second] {
                    var changed = text
                    changed[first] = left
                    changed[second] = right
                    if try form(String(changed)) != .slip { missed += 1 }
                }
            }
        }
        #expect(missed == 0)
    }

    @Test func `a missing or doubled character is a typing error, a passphrase is not`() throws {
        let text = try text(RecoveryCode.random())
        #expect(try form(String(text.dropLast())) == .slip)
        #expect(try form(text + "7") == .slip)
        for other in [
            "correct horse battery staple", "a", "0000", "hunter2-hunter2", "ü-ü-ü-ü-ü-ü",
        ] {
            #expect(try form(other) == .other)
        }
    }

    @Test(arguments: [
        " correct horse battery staple 42", "correct horse battery staple 42 ",
        "correct horse  battery staple 42", "correct-horse-battery-staple-4242",
        "correcthorsebatterystaple421", "this tree bear fish rock sand",
        "0123456789 abcdefgh jkmnpqrs",
        "a b c d e f g h j k m n p q r s t v w x y z 1 2 3 4", "1234567890123456789012345678901",
        "9zzz zzz9 zzz zzz zzz 9zzz zz", "tree tree tree tree tree 4242 1",
    ])
    func `READER-5: a passphrase made of a code's letters is not a mistyped code`(text: String)
        throws
    {
        #expect(try form(text) == .other)
        let fixture = try VaultFixture()
        let slot = try fixture.keys.recoverySlot(
            RecoveryCode.random(), vault: fixture.vaultID, at: 5)
        try fixture.updateSlots { try $0.add(slot) }
        let error = #expect(throws: VaultError.self) {
            _ = try fixture.open().open(
                with: try VaultFixture.passphrase(text), memoryLimitBytes: nil)
        }
        #expect(error?.code == .wrongPassphrase)
        #expect(error?.reason.contains("wrong passphrase") == true)
    }

    @Test func `check characters follow the field's definition`() throws {
        // 26 zeros have the remainder zero; a one in the last place leaves the generator's tail.
        #expect(try form(String(repeating: "0", count: 28)) == .code)
        #expect(try form(String(repeating: "0", count: 25) + "168") == .code)
    }

    @Test func `opens the values, and its failures are distinguished`() throws {
        let fixture = try VaultFixture()
        let code = try RecoveryCode.random()
        let slot = try fixture.keys.recoverySlot(code, vault: fixture.vaultID, at: 5)
        try fixture.updateSlots { try $0.add(slot) }
        try fixture.set("KEY", "value")
        let vault = try fixture.open()
        let typed = try text(code).lowercased()
        let opening = try vault.open(
            with: try VaultFixture.passphrase(typed), memoryLimitBytes: nil)
        #expect(opening.slot == slot)
        #expect(opening.keys.opensValues)
        try vault.verify(with: opening.keys)

        func reason(_ text: String) -> String {
            do {
                _ = try vault.open(with: try VaultFixture.passphrase(text), memoryLimitBytes: nil)
                return ""
            } catch {
                let error = error as? VaultError
                #expect(error?.code == .wrongPassphrase)
                return error?.reason ?? ""
            }
        }
        #expect(reason(String(typed.dropLast())).contains("a typo"))
        #expect(reason(try self.text(RecoveryCode.random())).contains("no typos"))
        #expect(reason("wrong").contains("passphrase"))
    }

    @Test func `a passphrase in the form of a code, also a mistyped one, still opens`() throws {
        let fixture = try VaultFixture()
        let code = try text(RecoveryCode.random())
        for passphrase in [code, String(code.dropLast()) + (code.hasSuffix("0") ? "1" : "0")] {
            let slot = try fixture.keys.passphraseSlot(
                try VaultFixture.passphrase(passphrase), cost: VaultFixture.cost,
                vault: fixture.vaultID, at: 5)
            try fixture.updateSlots { try $0.add(slot) }
            let opening = try fixture.open().open(
                with: try VaultFixture.passphrase(passphrase), memoryLimitBytes: nil)
            #expect(opening.slot == slot)
        }
    }
}
