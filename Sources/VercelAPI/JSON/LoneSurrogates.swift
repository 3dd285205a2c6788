internal import Sealing

/// Halves of characters in JSON: an escape such as `\ud83d` that its other half does not follow, which
/// programs write that cut texts without looking.
enum LoneSurrogates {
    private static let replacement = Array("\\ufffd".utf8)

    /// The bytes with each of them replaced by the escape of U+FFFD; nil where there is none, and where
    /// guarded memory cannot be had.
    static func replaced(in bytes: RawSpan) -> GuardedBytes? {
        var made: GuardedBytes?
        var start = 0
        var index = 0
        while index < bytes.byteCount {
            guard bytes.byte(at: index) == 0x5C else {
                index += 1
                continue
            }
            guard let first = unit(bytes, at: index) else {
                // The character behind a backslash begins no escape itself.
                index += 2
                continue
            }
            guard (0xD800..<0xE000).contains(first) else {
                index += 6
                continue
            }
            let isPair =
                first < 0xDC00
                && unit(bytes, at: index + 6).map { (0xDC00..<0xE000).contains($0) } ?? false
            if isPair {
                index += 12
                continue
            }
            if made == nil { made = try? GuardedBytes(capacity: bytes.byteCount) }
            guard let result = made else { return nil }
            let isKept =
                (try? result.append(bytes.extracting(start..<index))) != nil
                && (try? replacement.withBytes { try result.append($0) }) != nil
            guard isKept else { return nil }
            index += 6
            start = index
        }
        guard let result = made,
            (try? result.append(bytes.extracting(start..<bytes.byteCount))) != nil
        else { return nil }
        return result
    }

    /// The unit of an escape that begins at `index`; nil if none does.
    private static func unit(_ bytes: RawSpan, at index: Int) -> UInt16? {
        guard index + 6 <= bytes.byteCount, bytes.byte(at: index) == 0x5C,
            bytes.byte(at: index + 1) == 0x75
        else { return nil }
        var unit: UInt16 = 0
        for place in 2..<6 {
            let byte = bytes.byte(at: index + place)
            let digit: UInt16
            switch byte {
            case 0x30...0x39: digit = UInt16(byte - 0x30)
            case 0x41...0x46: digit = UInt16(byte - 0x41 + 10)
            case 0x61...0x66: digit = UInt16(byte - 0x61 + 10)
            default: return nil
            }
            unit = unit << 4 | digit
        }
        return unit
    }
}
