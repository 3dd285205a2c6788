import Foundation
import Sealing
import Searching
import Testing

@testable import VercelAPI

/// The forms in which a text counts as repeating a value.
@Suite struct `Texts that repeat a value` {
    private static let value = "postgres://user:s3cr%t w\"rd@db/x?y=1"

    private static func repeats(_ text: String, _ value: String) throws -> Bool {
        var forms = RepeatedForms(of: text)
        return forms.hold(try SecretArena().secret(value))
    }

    private static var written: [(String, String)] {
        let bytes = Array(value.utf8)
        let base64 = Data(bytes).base64EncodedString()
        let percent =
            value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let hexadecimal = bytes.map { String(format: "%02x", $0) }.joined()
        let units = value.utf16.map { String(format: "\\u%04x", $0) }.joined()
        return [
            ("plain", value), ("other case", value.uppercased()),
            ("spaced", value.map { "\($0) " }.joined()),
            ("UTF-16", String(decoding: value.utf16.flatMap { [UInt8($0), 0] }, as: UTF8.self)),
            ("base64", base64), ("base64 behind one byte", Data([1] + bytes).base64EncodedString()),
            ("base64 behind two", Data([1, 2] + bytes).base64EncodedString()),
            ("base64 for URLs", base64.replacing("+", with: "-").replacing("/", with: "_")),
            ("base64 in lines", String(base64.prefix(16)) + "\n" + base64.dropFirst(16)),
            ("percent", percent), ("percent in small letters", percent.lowercased()),
            ("hexadecimal", hexadecimal), ("JSON", value.replacing("\"", with: "\\\"")),
            ("JSON units", units),
            (
                "base64 and percent",
                base64.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            ),
            ("percent in base64", Data(percent.utf8).base64EncodedString()),
            ("hexadecimal of base64", base64.utf8.map { String(format: "%02X", $0) }.joined()),
            ("a part", String(value.dropFirst(5).prefix(13))),
            ("a part with a blank", String(value.dropFirst(14).prefix(12))),
            ("a part in base64", Data(bytes.dropFirst(5).prefix(16)).base64EncodedString()),
        ]
    }

    @Test("SEC-F13: the forms that scan knows, other letter case and blanks are found")
    func forms() throws {
        for (name, form) in Self.written {
            for text in [form, "There is a value (\(form)).", "value=\(form)", "value \(form)…"] {
                #expect(try Self.repeats(text, Self.value), "\(name): \(text)")
            }
        }
        for text in [
            "There are 100 variables.", "The value is too long.", "postgres:// is fine", "",
            String(repeating: "0123456789abcdef ", count: 400),
        ] {
            #expect(try !Self.repeats(text, Self.value), "\(text)")
        }
    }

    @Test("SEC-F13: a value of up to three bytes counts only as a whole word")
    func shortValues() throws {
        for (value, text, isFound) in [
            ("1", "There are 1 variables.", true), ("1", "There are 100 variables.", false),
            ("on", "value \"ON\" is bad", true), ("on", "one is on1y done", false),
            ("a-b", "got a-b", true), ("a-b", "got a-bc", false), ("", "anything", false),
            (" ", "a blank", false), ("true", "trust", false), ("true", "unTRUE", true),
            ("abcd", "YWJjZA==", true), ("abcd", "xxYWJjZA", true),
        ] {
            #expect(try Self.repeats(text, value) == isFound, "\(value) in \(text)")
        }
    }

    @Test("SEC-F13: texts crafted to cost time cost little")
    func hostileTexts() throws {
        let arena = SecretArena()
        let value = try arena.secret(String(repeating: "secret-", count: 9_000))
        for text in [
            String(repeating: "%25", count: 1_000_000), String(repeating: "A", count: 3_000_000),
            String(repeating: "\\u005c", count: 500_000),
            String(repeating: "é%C3%A9", count: 9_999),
        ] {
            var forms = RepeatedForms(of: text)
            var isFound = true
            let time = ContinuousClock().measure { isFound = forms.hold(value) }
            #expect(!isFound)
            #expect(time < .seconds(10))
        }
    }

    /// The text of the error that `call` throws.
    private func said(
        _ text: String, _ known: KnownSecrets, _ call: (FakeAPI) throws -> Void
    ) throws -> VercelAPIError {
        let body = String(
            decoding: try JSONEncoder().encode([
                "error": ["message": text, "code": "MAX_ENVS_EXCEEDED"]
            ]),
            as: UTF8.self)
        let api = try FakeAPI(FakeTransport { _, _ in .answer(400, body) }, known: known)
        return try #require(api.error { try call(api) })
    }

    @Test("SYNC-A5: texts about variables are compared with every value, or not shown")
    func everyValue() throws {
        let arena = SecretArena()
        let other = try arena.secret("val-111-aaaaaa")
        let rename: (FakeAPI) throws -> Void = { api in
            var change = EnvironmentVariableChange()
            change.key = "K2"
            _ = try api.client.changeEnvironmentVariable("e1", ofProject: "web", change)
        }
        let delete: (FakeAPI) throws -> Void = { api in
            _ = try api.client.deleteEnvironmentVariable("e1", ofProject: "web")
        }
        let read: (FakeAPI) throws -> Void = { api in
            _ = try api.client.environmentVariables(ofProject: "web")
        }
        let deploy: (FakeAPI) throws -> Void = { api in _ = try api.client.deployment("dpl_1") }
        let harmless = "There are 100 variables."
        let leaking = "There are 100 variables (value: \("VAL-111-AAAAAA"))."
        let (open, locked) = (KnownSecrets { [other] }, KnownSecrets { nil })
        for call in [rename, delete] {
            #expect(try said(harmless, open, call).vercelMessage == harmless)
            #expect(try said(leaking, open, call).vercelMessage == UntrustedText.withheld)
            #expect(try said(harmless, locked, call).vercelMessage == UntrustedText.unchecked)
            #expect(try said(leaking, locked, call).vercelMessage == UntrustedText.unchecked)
        }
        // A value that is read may be unknown here.
        for known in [open, locked] {
            #expect(try said(harmless, known, read).vercelMessage == UntrustedText.unchecked)
            #expect(try said(harmless, known, read).vercelCode == "MAX_ENVS_EXCEEDED")
            #expect(try said(harmless, known, deploy).vercelMessage == harmless)
        }
        #expect(try said(leaking, open, deploy).vercelMessage == UntrustedText.withheld)
        let token = Data(FakeAPI.token.utf8).base64EncodedString()
        #expect(try said(token, locked, deploy).vercelMessage == UntrustedText.withheld)
    }

    @Test("SYNC-A5: what was sent or read before is withheld from later texts")
    func laterAnswers() throws {
        let known = KnownSecrets { [] }
        let api = try FakeAPI(
            FakeTransport { sent, _ in
                sent.target.contains("/env/e1")
                    ? .answer(200, #"{"id":"e1","key":"K","type":"encrypted","value":"read-7531"}"#)
                    : .answer(400, #"{"error":{"message":"read-7531 and sent-8642"}}"#)
            }, known: known)
        let plain = api.error { _ = try api.client.deployment("dpl_1") }
        #expect(plain?.vercelMessage == "read-7531 and sent-8642")
        _ = try api.client.environmentVariables([("web", "e1")], valuesInto: api.arena)[0].get()
        let later = api.error { _ = try api.client.deployment("dpl_1") }
        #expect(later?.vercelMessage == UntrustedText.withheld)
        let new = NewEnvironmentVariable(
            key: "K", value: try api.arena.secret("sent-8642"), targets: [.production])
        let other = try FakeAPI(
            FakeTransport { _, _ in .answer(400, #"{"error":{"message":"c2VudC04NjQy"}}"#) },
            known: KnownSecrets { [] })
        let before = other.error { _ = try other.client.deployment("dpl_1") }
        #expect(before?.vercelMessage == "c2VudC04NjQy")
        #expect(
            other.error { _ = try other.client.create(new, inProject: "web") }?
                .vercelMessage == UntrustedText.withheld)
        let after = other.error { _ = try other.client.deployment("dpl_1") }
        #expect(after?.vercelMessage == UntrustedText.withheld)
    }
}
