/// The parts of an argument that starts with a dash.
///
/// It is split at bytes, not characters: a combining mark after `=` would otherwise hide the `=`,
/// and the value would become part of the name.
struct OptionWord {
    /// 1 or 2.
    let dashes: Int
    /// The text after the dashes, up to the first `=` for a long option.
    let name: Substring
    /// The text after the `=` of a long option.
    let attachedValue: Substring?

    /// Returns nil unless the argument is an option. A single dash stands for the standard input.
    init?(_ argument: String) {
        let bytes = argument.utf8
        guard bytes.count > 1, bytes.first == UInt8(ascii: "-") else { return nil }
        let isLong = bytes[bytes.index(after: bytes.startIndex)] == UInt8(ascii: "-")
        let body = bytes.dropFirst(isLong ? 2 : 1)
        dashes = isLong ? 2 : 1
        if isLong, let equals = body.firstIndex(of: UInt8(ascii: "=")) {
            name = Substring(body[..<equals])
            attachedValue = Substring(body[body.index(after: equals)...])
        } else {
            name = Substring(body)
            attachedValue = nil
        }
    }

    /// Whether the word is the option, or a group of short options that starts with it.
    func matches(_ option: OptionSpec) -> Bool {
        guard dashes == 1 else { return Self.same(name, option.name) }
        guard let short = option.short, let letter = name.unicodeScalars.first else { return false }
        return letter == short.unicodeScalars.first
    }

    /// Whether an option with a value takes it from the next argument.
    var takesNextArgument: Bool {
        dashes == 2 ? attachedValue == nil : name.utf8.count == 1
    }

    /// The name that a message may repeat, or nil. A word that does not look like an option may be a
    /// secret that starts with a dash.
    var repeatableName: String? {
        let bytes = name.utf8
        let isPlain = bytes.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard dashes == 2, isPlain, !bytes.isEmpty, bytes.count <= 40 else { return nil }
        return "--\(name)"
    }

    static func same(_ first: Substring, _ second: String) -> Bool {
        first.utf8.elementsEqual(second.utf8)
    }
}
