internal import Sealing
internal import SystemFiles

/// The stored digest of a device's token, and the device's name derived from it.
///
/// The store finds the device of a token by its name alone. Neither the name nor the digest reveals
/// the token.
package struct DeviceToken: Equatable, Sendable {
    /// base64url of 32 bytes.
    static let letterCount = 43

    /// BLAKE2b-256 of the token's text.
    package let digest: [UInt8]

    /// The device's name: 24 hexadecimal digits.
    package var deviceID: String {
        let name = (Array("zg-env-postal device\0".utf8) + digest).withBytes { Digest.checksum($0) }
        return Hexadecimal.text(of: name.prefix(12))
    }

    /// Parses a token; nil if it is malformed.
    package init?(text: RawSpan) {
        guard text.byteCount == Self.letterCount else { return nil }
        for offset in 0..<text.byteCount {
            switch text.byte(at: offset) {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"):
                continue
            default: return nil
            }
        }
        digest = Digest.checksum(text)
    }

    /// Returns whether this is the token of `device`, in constant time.
    package func belongs(to device: Device) -> Bool {
        digest.withBytes { mine in
            device.tokenDigest.withBytes { mine.isEqualInConstantTime(to: $0) }
        }
    }
}

extension DeviceToken {
    /// Returns a new token, with its text for the device.
    static func random() -> (text: String, token: DeviceToken) {
        let letters = Base64.encoded(Random.bytes(32), .urlSafe)
        let text = String(decoding: letters, as: UTF8.self)
        guard let token = letters.withBytes({ DeviceToken(text: $0) }) else {
            preconditionFailure("a token is 32 bytes long")
        }
        return (text, token)
    }
}
