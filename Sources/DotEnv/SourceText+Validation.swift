extension SourceText {
    /// The result of a pass over every byte.
    struct Survey {
        /// Where the text starts: 3 after a byte order mark, otherwise 0.
        var start: Int
        /// Whether there is any CR, so that decoding must look for line breaks.
        var hasCarriageReturn: Bool
    }

    /// Checks size, UTF-8 and the absence of NUL.
    func survey() throws(DotEnvError) -> Survey {
        guard count <= DotEnvReader.maximumSize else {
            throw DotEnvError(.tooLarge, "larger than 16 MiB")
        }
        var hasCarriageReturn = false
        var index = 0
        while index < count {
            let word = word(at: index)
            // Eight bytes from 0x0E to 0x7F need no check: no NUL, no CR, all ASCII.
            if index <= count - 8, word & 0x8080_8080_8080_8080 == 0,
                (word &- 0x0E0E_0E0E_0E0E_0E0E) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            let stop = min(count, index + 8)
            while index < stop {
                let byte = self[index]
                if byte == 0 {
                    throw failure(
                        .nulByte, isUTF16 ? Self.utf16 : "contains a NUL byte", at: index)
                }
                if byte < 0x80 {
                    if byte == Byte.carriageReturn { hasCarriageReturn = true }
                    index += 1
                    continue
                }
                let width = scalarWidth(at: index)
                guard width > 0 else {
                    throw failure(.invalidUTF8, isUTF16 ? Self.utf16 : "is not UTF-8", at: index)
                }
                index += width
            }
        }
        return Survey(start: has("\u{FEFF}", at: 0) ? 3 : 0, hasCarriageReturn: hasCarriageReturn)
    }

    private static var utf16: String {
        "is UTF-16; convert it with: iconv -f UTF-16 -t UTF-8 FILE"
    }

    /// Whether the text looks like UTF-16: it starts with its byte order mark, or every other byte is
    /// NUL at its start.
    private var isUTF16: Bool {
        if count < 2 { return false }
        if (self[0] == 0xFF && self[1] == 0xFE) || (self[0] == 0xFE && self[1] == 0xFF) {
            return true
        }
        return count >= 4
            && ((self[0] == 0 && self[1] != 0 && self[2] == 0 && self[3] != 0)
                || (self[0] != 0 && self[1] == 0 && self[2] != 0 && self[3] == 0))
    }

    /// Whether the text is well-formed UTF-8. NUL is allowed.
    var isUTF8: Bool {
        var index = 0
        while index < count {
            let width = self[index] < 0x80 ? 1 : scalarWidth(at: index)
            if width == 0 { return false }
            index += width
        }
        return true
    }

    /// Returns the first Unicode noncharacter (U+FDD0 to U+FDEF, and the last two of each plane) in
    /// a range. systemd refuses a file with one in a name or value.
    func noncharacter(in range: Range<Int>) -> Int? {
        for index in range where self[index] >= 0xEF {
            let second = self[index + 1]
            let third = self[index + 2]
            if self[index] == 0xEF {
                if second == 0xB7, third >= 0x90, third <= 0xAF { return index }
                if second == 0xBF, third >= 0xBE { return index }
            } else if second & 0x0F == 0x0F, third == 0xBF, self[index + 3] >= 0xBE {
                return index
            }
        }
        return nil
    }

    /// Returns the length of the well-formed UTF-8 sequence at `index`; 0 if it is ill-formed.
    private func scalarWidth(at index: Int) -> Int {
        func continues(_ offset: Int, from low: UInt8 = 0x80, to high: UInt8 = 0xBF) -> Bool {
            let byte = self[index + offset]
            return byte >= low && byte <= high
        }
        switch self[index] {
        case 0xC2...0xDF: return continues(1) ? 2 : 0
        case 0xE0: return continues(1, from: 0xA0) && continues(2) ? 3 : 0
        case 0xED: return continues(1, to: 0x9F) && continues(2) ? 3 : 0
        case 0xE1...0xEF: return continues(1) && continues(2) ? 3 : 0
        case 0xF0: return continues(1, from: 0x90) && continues(2) && continues(3) ? 4 : 0
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : 0
        case 0xF4: return continues(1, to: 0x8F) && continues(2) && continues(3) ? 4 : 0
        default: return 0
        }
    }

    /// Returns an error with its position.
    func failure(
        _ code: DotEnvError.Code, _ reason: String, at offset: Int, key: String? = nil
    ) -> DotEnvError {
        var positions = PositionCursor(self)
        return DotEnvError(
            code, reason, offset: offset, position: positions.position(of: offset), key: key)
    }
}
