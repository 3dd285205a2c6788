/// A line of an example file that is no assignment.
struct PlainLine {
    enum Kind: Equatable {
        case blank
        /// A comment that separates sections.
        case divider
        /// A comment, without `#` and the blanks after it.
        case comment(String)
        /// `# NAME=…`, a name that the file does not declare.
        case commentedName(String)
        case other
    }

    let kind: Kind

    init(_ line: ArraySlice<UInt8>) {
        let isSpace = { (byte: UInt8) in byte.isBlankByte || byte == 0x0D }
        let content = line.drop(while: isSpace)
        guard content.first == UInt8(ascii: "#") else {
            kind = content.isEmpty ? .blank : .other
            return
        }
        let text = content.dropFirst().drop(while: isSpace)
        if text.count >= 3, text.prefix(3).allSatisfy(\.isDividerByte) {
            kind = .divider
        } else if let name = Self.assignedName(text) {
            kind = .commentedName(name)
        } else {
            kind = .comment(String(decoding: text, as: UTF8.self))
        }
    }

    private static func assignedName(_ text: ArraySlice<UInt8>) -> String? {
        var rest = text
        if rest.starts(with: "export ".utf8) {
            rest = rest.dropFirst(7).drop(while: \.isBlankByte)
        }
        guard let first = rest.first, !first.isDigit else { return nil }
        let name = rest.prefix(while: \.isNamePart)
        guard !name.isEmpty, rest.dropFirst(name.count).first == UInt8(ascii: "=") else {
            return nil
        }
        return String(decoding: name, as: UTF8.self)
    }
}
