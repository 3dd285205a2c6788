/// What is checked before a file of TOML is parsed, in one pass.
///
/// The library frees tables recursively, and looks for some of them in lists. So its stack grows
/// with the depth of headers and dotted keys, and its time with the square of their number.
enum TOMLBounds {
    /// Tables in each other by one header or dotted key.
    static let maximumDepth = 32
    /// Headers, and dots outside of texts. A file with more is not written by hand.
    static let maximumMarks = 8192

    /// Returns the line of the first place beyond the bounds, or nil.
    static func excess(in bytes: [UInt8]) -> Int? {
        var scan = Scan(bytes: bytes)
        return scan.excess()
    }

    /// Knows strings and comments, and nothing else. Where a file is malformed it may take one for
    /// the other; but the library stops there, and so never sees what follows.
    private struct Scan {
        let bytes: [UInt8]
        var offset = 0
        var line = 1
        /// Dots since the last character that cannot be part of a key.
        var depth = 0
        var marks = 0
        var isLineStart = true

        init(bytes: [UInt8]) {
            self.bytes = bytes
            // A byte order mark.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        }

        mutating func excess() -> Int? {
            while offset < bytes.count {
                let byte = bytes[offset]
                switch byte {
                case UInt8(ascii: "\n"):
                    line += 1
                    depth = 0
                    isLineStart = true
                    offset += 1
                    continue
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                    offset += 1
                    continue
                case UInt8(ascii: "#"):
                    while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") { offset += 1 }
                    continue
                case UInt8(ascii: "\""), UInt8(ascii: "'"):
                    skipString(byte)
                    isLineStart = false
                    continue
                case UInt8(ascii: "["):
                    depth = 0
                    if isLineStart { marks += 1 }
                case UInt8(ascii: "."):
                    depth += 1
                    marks += 1
                case UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "}"),
                    UInt8(ascii: "]"):
                    depth = 0
                default: break
                }
                guard isAllowed(byte), depth < TOMLBounds.maximumDepth,
                    marks <= TOMLBounds.maximumMarks
                else {
                    return line
                }
                isLineStart = false
                offset += 1
            }
            return nil
        }

        /// Outside of strings and comments, TOML is ASCII without control characters. The library
        /// would find that too, but not always the line.
        private func isAllowed(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: " ") && byte < 0x7F }

        /// Goes on after the string that begins with this quotation mark here.
        private mutating func skipString(_ mark: UInt8) {
            let isLong = isTriple(mark)
            offset += isLong ? 3 : 1
            while offset < bytes.count {
                let byte = bytes[offset]
                if byte == UInt8(ascii: "\n") {
                    // The end of a short string, which is malformed.
                    guard isLong else { return }
                    line += 1
                } else if byte == UInt8(ascii: "\\"), mark == UInt8(ascii: "\"") {
                    offset += 1
                    // A line that is continued.
                    if offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { continue }
                } else if byte == mark {
                    guard isLong else {
                        offset += 1
                        return
                    }
                    if isTriple(mark) {
                        offset += 3
                        // Up to two more belong to the text before the end.
                        for _ in 0..<2 where offset < bytes.count && bytes[offset] == mark {
                            offset += 1
                        }
                        return
                    }
                }
                offset += 1
            }
        }

        private func isTriple(_ mark: UInt8) -> Bool {
            offset + 2 < bytes.count && bytes[offset] == mark && bytes[offset + 1] == mark
                && bytes[offset + 2] == mark
        }
    }
}
