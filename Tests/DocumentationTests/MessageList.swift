import Foundation

/// The texts of string literals in Swift sources, for people who read them all.
struct MessageList {
    /// A literal with at least two words, interpolations shown as `{…}`.
    struct Message: Equatable {
        /// Line of its beginning, counted from 1.
        var line: Int
        var text: String
    }

    private(set) var messages: [Message] = []
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    /// Reads a source file. Literals joined with `+` alone count as one.
    init(_ source: String) {
        bytes = Array(source.utf8)
        var joins = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "/"), next(1) == UInt8(ascii: "/") {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") && startsRaw {
                let start = line
                let text = literal()
                if joins, let last = messages.indices.last {
                    messages[last].text += text
                } else {
                    messages.append(Message(line: start, text: text))
                }
                joins = false
            } else {
                if byte == UInt8(ascii: "\n") { line += 1 }
                if byte == UInt8(ascii: "+") {
                    joins = true
                } else if byte > UInt8(ascii: " ") {
                    joins = false
                }
                index += 1
            }
        }
        messages = messages.filter { $0.text.contains(#/[A-Za-z]{2,}[,:;]? [A-Za-z{]/#) }
    }

    private func next(_ offset: Int) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    /// Whether the `#` here begin a raw literal.
    private var startsRaw: Bool {
        var end = index
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"")
    }

    /// Reads a literal of any kind, and moves behind it.
    private mutating func literal() -> String {
        var hashes: [UInt8] = []
        while bytes[index] == UInt8(ascii: "#") {
            hashes.append(bytes[index])
            index += 1
        }
        let isLong = next(1) == UInt8(ascii: "\"") && next(2) == UInt8(ascii: "\"")
        let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: isLong ? 3 : 1)
        index += quotes.count
        var text: [UInt8] = []
        while index < bytes.count {
            if bytes[index...].starts(with: quotes + hashes) {
                index += quotes.count + hashes.count
                break
            }
            if bytes[index...].starts(with: [UInt8(ascii: "\\")] + hashes) {
                index += 1 + hashes.count
                if next(0) == UInt8(ascii: "(") {
                    skipInterpolation()
                    text += Array("{…}".utf8)
                } else {
                    if next(0) == UInt8(ascii: "\n") { line += 1 }
                    if next(0) == UInt8(ascii: "n") { text.append(UInt8(ascii: " ")) }
                    index += 1
                }
                continue
            }
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            text.append(bytes[index] == UInt8(ascii: "\n") ? UInt8(ascii: " ") : bytes[index])
            index += 1
        }
        return String(decoding: text, as: UTF8.self).split(separator: " ").joined(separator: " ")
            + (text.last == UInt8(ascii: " ") ? " " : "")
    }

    private mutating func skipInterpolation() {
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "\""):
                _ = literal()
                continue
            case UInt8(ascii: "\n"): line += 1
            default: break
            }
            index += 1
            if depth == 0 { return }
        }
    }
}
