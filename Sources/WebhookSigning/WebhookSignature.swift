internal import CGnuTLS
internal import SystemFiles

/// The signature of Vercel's webhooks in the field `x-vercel-signature`: HMAC-SHA1 of the raw body
/// under the webhook's secret, as 40 lowercase hexadecimal digits.
///
/// Vercel chose the algorithm. A signature contains no time, so receivers must also drop repeated
/// `id`s and events that are too old.
package enum WebhookSignature {
    package static let fieldName = "x-vercel-signature"
    static let digitCount = 40

    /// Returns whether `signature` belongs to `body`, in constant time.
    ///
    /// - Parameters:
    ///   - signature: The header field; anything but 40 lowercase digits is invalid.
    ///   - body: All bytes of the body as received.
    ///   - secret: The webhook's secret; nothing is valid under an empty one.
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

    /// Returns the signature of a body, or nil for an empty secret.
    package static func digits(of body: RawSpan, secret: RawSpan) -> String? {
        code(of: body, secret: secret).map { Hexadecimal.text(of: $0) }
    }

    /// Returns the 20 bytes behind ``digits(of:secret:)``, or nil for an empty secret.
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

    /// Returns the 20 bytes for a secret that needs no protection, in tests and in the sandbox.
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
