package import Sealing

/// What is to be masked in the output of a program that was given values: the values as they are,
/// and as they stand in base64.
package struct RedactionPatterns {
    /// The shortest value that is masked. Shorter ones occur by themselves everywhere.
    package static let shortest = 6

    /// The values, and where they have line breaks also as a terminal shows them.
    let plain: [SecretSlice]
    /// What is the same in every base64 text with a value in it, wherever that starts, in the
    /// alphabet with `+` and `/`.
    let encoded: [SecretSlice]

    /// Takes values; those shorter than ``shortest`` are left out.
    package init(_ values: [SecretSlice]) throws(SealingError) {
        let arena = SecretArena()
        var plain: [SecretSlice] = []
        var encoded: [SecretSlice] = []
        for value in values where value.count >= Self.shortest {
            plain.append(value)
            if let shown = try Self.asShown(value, in: arena) { plain.append(shown) }
            for offset in 0..<3 {
                let digits = try Self.base64(of: value, after: offset, in: arena)
                encoded.append(digits)
                // The last digit is another one where more bytes follow.
                if (offset + value.count) % 3 != 0 {
                    encoded.append(digits.part(0..<digits.count - 1))
                }
            }
        }
        self.plain = plain
        self.encoded = encoded
    }

    /// The value with CR LF for LF, as a terminal shows it; nil where it has no LF.
    private static func asShown(
        _ value: SecretSlice, in arena: SecretArena
    ) throws(SealingError) -> SecretSlice? {
        let breaks = value.withBytes { bytes in
            (0..<bytes.byteCount).count { bytes.byte(at: $0) == 0x0A }
        }
        guard breaks > 0 else { return nil }
        let shown = try arena.allocate(count: value.count + breaks)
        value.withBytes { bytes in
            shown.withMutableBytes { target in
                var place = 0
                for index in 0..<bytes.byteCount {
                    let byte = bytes.byte(at: index)
                    if byte == 0x0A {
                        target.storeBytes(of: 0x0D, toByteOffset: place, as: UInt8.self)
                        place += 1
                    }
                    target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
                    place += 1
                }
            }
        }
        return shown
    }

    /// The digits of base64 that depend on nothing but the value, when `offset` bytes of a group of
    /// three come before it, and the last one as it is where the text ends with the value.
    static func base64(
        of value: SecretSlice, after offset: Int, in arena: SecretArena
    ) throws(SealingError) -> SecretSlice {
        let bits = 8 * (offset + value.count)
        let first = (8 * offset + 5) / 6
        let digits = try arena.allocate(count: (bits + 5) / 6 - first)
        value.withBytes { bytes in
            digits.withMutableBytes { target in
                for place in 0..<target.byteCount {
                    let bit = 6 * (first + place) - 8 * offset
                    let index = bit / 8
                    let high = UInt32(bytes.byte(at: index)) << 8
                    let low =
                        index + 1 < bytes.byteCount ? UInt32(bytes.byte(at: index + 1)) : 0
                    let digit = UInt8(truncatingIfNeeded: (high | low) >> UInt32(10 - bit % 8)) & 63
                    target.storeBytes(of: character(digit), toByteOffset: place, as: UInt8.self)
                }
            }
        }
        return digits
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        switch digit {
        case 0..<26: digit + 0x41
        case 26..<52: digit + 0x47
        case 52..<62: digit - 4
        case 62: 0x2B
        default: 0x2F
        }
    }
}
