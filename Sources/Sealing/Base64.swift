internal import CSodium

/// Base64 (RFC 4648) with one valid form for each byte sequence. libsodium's implementation, whose
/// timing depends on no byte, so that it is suitable for secrets.
///
/// https://doc.libsodium.org/helpers#base64-encoding-decoding
package enum Base64 {
    /// The alphabet, and whether the last group is padded.
    package enum Variant: Sendable {
        /// Section 4, without padding.
        case unpadded
        /// Section 4, with `=` up to a multiple of four letters.
        case padded
        /// Section 5, with `-` and `_`, without padding.
        case urlSafe

        fileprivate var number: Int32 {
            switch self {
            case .unpadded: Int32(sodium_base64_VARIANT_ORIGINAL_NO_PADDING)
            case .padded: Int32(sodium_base64_VARIANT_ORIGINAL)
            case .urlSafe: Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING)
            }
        }
    }

    /// Returns the number of characters for `byteCount` bytes, including padding.
    package static func letterCount(of byteCount: Int, _ variant: Variant = .unpadded) -> Int {
        variant == .padded ? (byteCount + 2) / 3 * 4 : (byteCount * 4 + 2) / 3
    }

    /// Returns whether a character is in the alphabet of section 4.
    package static func isLetter(_ letter: UInt8) -> Bool {
        switch letter {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2B, 0x2F: true
        default: false
        }
    }

    /// Encodes `bytes` as ASCII characters.
    package static func encoded(_ bytes: [UInt8], _ variant: Variant = .unpadded) -> [UInt8] {
        let count = letterCount(of: bytes.count, variant)
        // One more byte for the zero that libsodium appends.
        return unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { letters, written in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe write(bytes, count, variant, to: UnsafeMutableRawBufferPointer(letters))
            }
            written = count
        }
    }

    /// Encodes `bytes` as ASCII characters in guarded memory.
    package static func encoded(
        _ bytes: RawSpan, _ variant: Variant
    ) throws(SealingError) -> SecretBytes {
        let count = letterCount(of: bytes.byteCount, variant)
        let whole = try SecretBytes(count: count + 1)
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe write(
                bytes, count, variant, to: .init(start: whole.pointer, count: whole.count))
        }
        return try whole.withBytes { (letters) throws(SealingError) in
            try SecretBytes(copying: letters.extracting(first: count))
        }
    }

    /// Decodes characters. Returns nil unless they are the valid encoding in this variant.
    package static func decoded(
        _ letters: ArraySlice<UInt8>, _ variant: Variant = .unpadded
    ) -> [UInt8]? {
        var isValid = false
        let room = letters.count / 4 * 3 + 2
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { bytes, written in
            unsafe letters.withUnsafeBytes { letters in
                let count = unsafe read(
                    letters, variant, to: UnsafeMutableRawBufferPointer(bytes))
                isValid = count != nil
                written = count ?? 0
            }
        }
        return isValid ? bytes : nil
    }

    /// Decodes characters into guarded memory. Returns nil unless they are the valid encoding in
    /// this variant.
    package static func decoded(
        _ letters: RawSpan, _ variant: Variant
    ) throws(SealingError) -> SecretBytes? {
        let whole = try SecretBytes(count: letters.byteCount / 4 * 3 + 2)
        let count = unsafe letters.withUnsafeBytes { letters in
            unsafe read(letters, variant, to: .init(start: whole.pointer, count: whole.count))
        }
        guard let count else { return nil }
        return try whole.withBytes { (bytes) throws(SealingError) in
            try SecretBytes(copying: bytes.extracting(first: count))
        }
    }

    /// Writes `letterCount` characters, which must match the number of bytes, and a terminating
    /// zero.
    private static func write(
        _ bytes: UnsafeRawBufferPointer, _ letterCount: Int, _ variant: Variant,
        to letters: UnsafeMutableRawBufferPointer
    ) {
        precondition(letters.count > letterCount)
        guard let start = letters.baseAddress else { return }
        unsafe zg_bin2base64(
            start, letterCount + 1, bytes.baseAddress, bytes.count, variant.number)
    }

    /// Decodes characters and returns the number of bytes.
    ///
    /// libsodium 1.0.18 decodes bytes above 0x7F, negative as `char`, as the value 63; so these are
    /// rejected here.
    private static func read(
        _ letters: UnsafeRawBufferPointer, _ variant: Variant,
        to bytes: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let all = unsafe letters.reduce(0) { $0 | $1 }
        guard let start = bytes.baseAddress, all < 0x80 else { return nil }
        var count = 0
        let status = unsafe zg_base642bin(
            start, bytes.count, letters.baseAddress, letters.count, &count, variant.number)
        return status == 0 ? count : nil
    }
}
