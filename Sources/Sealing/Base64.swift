internal import CSodium

/// Base64 (RFC 4648, section 4) without padding, of which each byte sequence has one valid form.
/// libsodium's `sodium_bin2base64`, whose time does not depend on the bytes.
package enum Base64 {
    /// The number of letters for so many bytes.
    package static func letterCount(of byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

    /// Whether a letter is one of the alphabet.
    package static func isLetter(_ letter: UInt8) -> Bool {
        switch letter {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2B, 0x2F: true
        default: false
        }
    }

    /// The letters of `bytes`, in ASCII.
    package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        let count = letterCount(of: bytes.count)
        // Ends in a zero, which is not one of the letters.
        var letters = [CChar](repeating: 0, count: count + 1)
        _ = unsafe sodium_bin2base64(&letters, letters.count, bytes, bytes.count, variant)
        letters.removeLast()
        return unsafe letters.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// The bytes of letters; nil where ``encoded(_:)`` would not have written these.
    package static func decoded(_ letters: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: letters.count)
        var count = 0
        let status = unsafe letters.withUnsafeBytes { letters in
            unsafe sodium_base642bin(
                &bytes, bytes.count, letters.baseAddress?.assumingMemoryBound(to: CChar.self),
                letters.count, nil, &count, nil, variant)
        }
        guard status == 0 else { return nil }
        bytes.removeLast(bytes.count - count)
        // Bits that belong to no byte are zero in the one valid form. They are in the last group.
        guard letters.count == letterCount(of: count) else { return nil }
        let group = (count - 1) / 3 * 3
        guard count > 0 else { return bytes }
        return encoded(Array(bytes[group...])).elementsEqual(letters.dropFirst(group / 3 * 4))
            ? bytes : nil
    }

    private static let variant = sodium_base64_VARIANT_ORIGINAL_NO_PADDING
}
