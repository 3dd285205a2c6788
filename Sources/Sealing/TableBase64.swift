/// ``Base64`` without padding, with lookup tables. Its timing depends on the bytes, so it is only
/// for bulk data that is already sealed, such as audit log lines and events for many devices; never
/// for secrets.
package enum TableBase64 {
    /// Encodes `bytes` as ASCII characters, in one array between `front` and `back`.
    package static func encoded(
        _ bytes: [UInt8], after front: [UInt8] = [], before back: [UInt8] = []
    ) -> [UInt8] {
        let count = front.count + Base64.letterCount(of: bytes.count) + back.count
        // With capacity 0, the closure would write to the shared empty array.
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { whole, written in
            let raw = UnsafeMutableRawBufferPointer(whole)
            unsafe raw.copyBytes(from: front)
            unsafe UnsafeMutableRawBufferPointer(rebasing: raw[(count - back.count)...])
                .copyBytes(from: back)
            let letters = unsafe UnsafeMutableBufferPointer(rebasing: whole[front.count...])
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe alphabet.withUnsafeBufferPointer { alphabet in
                    var (place, offset) = (0, 0)
                    while offset + 3 <= bytes.count {
                        let group =
                            unsafe Int(bytes[offset]) << 16
                            | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
                        unsafe letters[place] = alphabet[group >> 18]
                        unsafe letters[place + 1] = alphabet[group >> 12 & 63]
                        unsafe letters[place + 2] = alphabet[group >> 6 & 63]
                        unsafe letters[place + 3] = alphabet[group & 63]
                        place += 4
                        offset += 3
                    }
                    if offset < bytes.count {
                        let left = bytes.count - offset
                        let second = left > 1 ? unsafe UInt32(bytes[offset + 1]) : 0
                        let group = unsafe UInt32(bytes[offset]) << 16 | second << 8
                        for number in 0...left {
                            let letter = Int(group >> (18 - 6 * UInt32(number)) & 63)
                            unsafe letters[place + number] = alphabet[letter]
                        }
                    }
                }
            }
            written = count
        }
    }

    /// Decodes characters. Returns nil unless ``encoded(_:after:before:)`` would write them.
    package static func decoded(_ letters: ArraySlice<UInt8>) -> [UInt8]? {
        guard letters.count % 4 != 1 else { return nil }
        // With capacity 0, the closure would write to the shared empty array.
        guard !letters.isEmpty else { return [] }
        let count = letters.count * 3 / 4
        var isValid = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
            unsafe letters.withUnsafeBufferPointer { letters in
                unsafe numbers.withUnsafeBufferPointer { numbers in
                    var (group, bits, all) = (0 as UInt32, 0 as UInt32, 0 as UInt8)
                    let whole = letters.count & ~3
                    for place in stride(from: 0, to: whole, by: 4) {
                        let first = unsafe numbers[Int(letters[place])]
                        let second = unsafe numbers[Int(letters[place + 1])]
                        let third = unsafe numbers[Int(letters[place + 2])]
                        let fourth = unsafe numbers[Int(letters[place + 3])]
                        all |= first | second | third | fourth
                        // Invalid characters produce wrong bytes, which are discarded below.
                        unsafe bytes[written] = first << 2 | second >> 4
                        unsafe bytes[written + 1] = second << 4 | third >> 2
                        unsafe bytes[written + 2] = third << 6 | fourth
                        written += 3
                    }
                    for place in whole..<letters.count {
                        let number = unsafe numbers[Int(letters[place])]
                        all |= number
                        group = group << 6 | UInt32(number & 63)
                        bits += 6
                        if bits >= 8 {
                            bits -= 8
                            unsafe bytes[written] = UInt8(truncatingIfNeeded: group >> bits)
                            written += 1
                        }
                    }
                    // In the valid form, unused bits are zero.
                    isValid = all < 64 && group & (1 << bits - 1) == 0
                }
            }
        }
        return isValid ? bytes : nil
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The value of each character; 64 for invalid ones.
    private static let numbers: [UInt8] = {
        var numbers = [UInt8](repeating: 64, count: 256)
        for (number, letter) in alphabet.enumerated() { numbers[Int(letter)] = UInt8(number) }
        return numbers
    }()
}
