import Sealing
import TestSupport
import Testing

@testable import WebhookSigning

/// Checks of messages that claim to come from Vercel.
@Suite struct `Signatures of webhooks` {
    private func digits(_ body: [UInt8], _ secret: [UInt8]) -> String? {
        body.withBytes { body in
            secret.withBytes { WebhookSignature.digits(of: body, secret: $0) }
        }
    }

    private func isValid(_ signature: String?, _ body: [UInt8], _ secret: [UInt8]) -> Bool {
        body.withBytes { body in
            secret.withBytes { WebhookSignature.isValid(signature, of: body, secret: $0) }
        }
    }

    /// RFC 2202 section 3, cases 1, 2, 6 and 7.
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
        (
            [UInt8](repeating: 0xAA, count: 80),
            "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
            "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
        ),
    ])
    func `match those of the standard`(key: [UInt8], text: String, code: String) {
        #expect(digits(Array(text.utf8), key) == code)
        #expect(isValid(code, Array(text.utf8), key))
    }

    @Test func `match those of another program`() throws {
        // Raw bytes, with a NUL and invalid UTF-8.
        let body: [UInt8] = Array(#"{"id":"evt_1","type":"deployment.created"}"#.utf8) + [0, 0xFF]
        let program = """
            import hashlib, hmac, sys
            body = bytes(int(word) for word in sys.argv[2].split())
            print(hmac.new(sys.argv[1].encode(), body, hashlib.sha1).hexdigest())
            """
        let runner = ProgramRunner(
            path: "/usr/bin/python3",
            ["-c", program, "hook secret", body.map { String($0) }.joined(separator: " ")])
        let result = try runner.run()
        #expect(result.end == .exited(0), "\(result.error)")
        let code = String(result.output.dropLast())
        #expect(digits(body, Array("hook secret".utf8)) == code)
        #expect(isValid(code, body, Array("hook secret".utf8)))
    }

    @Test func `anything else is refused`() throws {
        let (body, secret) = (Array("body".utf8), Array("secret".utf8))
        let good = try #require(digits(body, secret))
        #expect(isValid(good, body, secret))
        #expect(!isValid(nil, body, secret))
        for wrong in [
            "", good.uppercased(), String(good.dropLast()), good + "0", " " + good.dropLast(),
            "sha1=" + good, String(repeating: "0", count: 40), String(repeating: "g", count: 40),
            String(repeating: "\u{E9}", count: 20),
        ] {
            #expect(!isValid(wrong, body, secret), "\(wrong)")
        }
        for place in good.indices {
            var changed = good
            changed.replaceSubrange(place...place, with: good[place] == "0" ? "1" : "0")
            #expect(!isValid(changed, body, secret))
        }
        #expect(!isValid(good, body + [0x0A], secret))
        #expect(!isValid(good, Array("bodY".utf8), secret))
        #expect(!isValid(good, body, secret + [1]))
    }

    @Test func `an empty secret signs nothing`() {
        // A signature that anyone can make proves nothing.
        #expect(digits(Array("body".utf8), []) == nil)
        #expect(!isValid("25af6174a0fcecc4d346680a72b7ce644b9a88e8", Array("body".utf8), []))
    }

    @Test func `an empty body has a signature too`() throws {
        let code = try #require(digits([], Array("key".utf8)))
        #expect(code == "f42bb0eeb018ebbd4597ae7213711ec60760843f")
        #expect(isValid(code, [], Array("key".utf8)))
    }
}
