internal import CGnuTLS
internal import SystemFiles

/// The signature of the platform's messages to webhooks, the field `x-vercel-signature`: HMAC-SHA1 of
/// the body's raw bytes under the webhook's secret, as 40 lower-case hexadecimal digits.
///
/// The platform has chosen the algorithm. A signature holds no time: whoever takes messages also has
/// to leave out those whose `id` came before, and those that are too old.
package enum WebhookSignature {
    /// The name of the header field.
    package static let fieldName = "x-vercel-signature"
    /// Number of digits.
    static let digitCount = 40

    /// Tells whether `signature` is that of `body`. Takes the same time wherever they differ.
    ///
    /// - Parameters:
    ///   - signature: What the header field says; nil or anything else but 40 lower-case digits is
    ///     never valid.
    ///   - body: All bytes of the body as they came, before anything reads them.
    ///   - secret: The webhook's; an empty one signs nothing, since everybody has it.
    package static func isValid(
        _ signature: String?, of body: RawSpan, secret: RawSpan
    ) -> Bool {
        guard let signature, let claimed = bytes(ofDigits: signature),
            let code = code(of: body, secret: secret)
        else { return false }
        return unsafe claimed.withUnsafeBytes { left in
            unsafe code.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else {
                    return false
                }
                return unsafe zg_equal_in_constant_time(left, right, digitCount / 2) != 0
            }
        }
    }

    /// The signature of a body; nil for an empty secret.
    package static func digits(of body: RawSpan, secret: RawSpan) -> String? {
        code(of: body, secret: secret).map { Hexadecimal.text(of: $0) }
    }

    /// The 20 bytes that ``digits(of:secret:)`` spells; nil for an empty secret.
    package static func code(of body: RawSpan, secret: RawSpan) -> [UInt8]? {
        guard secret.byteCount > 0 else { return nil }
        var code = [UInt8](repeating: 0, count: digitCount / 2)
        let status = unsafe code.withUnsafeMutableBytes { out -> Int32 in
            unsafe body.withUnsafeBytes { body in
                unsafe secret.withUnsafeBytes { secret in
                    guard let place = out.baseAddress else { return -1 }
                    return unsafe zg_hmac_sha1(
                        secret.baseAddress, secret.count, body.baseAddress, body.count, place)
                }
            }
        }
        return status == 0 ? code : nil
    }

    /// The 20 bytes for a secret that is none: one of a test or of the sandbox.
    package static func code(of body: [UInt8], openSecret secret: [UInt8]) -> [UInt8]? {
        unsafe body.withUnsafeBytes { body in
            unsafe secret.withUnsafeBytes { secret in
                code(
                    of: unsafe RawSpan(_unsafeBytes: body),
                    secret: unsafe RawSpan(_unsafeBytes: secret))
            }
        }
    }

    private static func bytes(ofDigits text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == digitCount else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digitCount, by: 2) {
            guard let high = value(digits[start]), let low = value(digits[start + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
