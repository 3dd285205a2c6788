/// An argument that begins with a dash, taken apart.
///
/// It is cut at bytes, not characters: a combining mark after `=` would otherwise hide that sign,
/// and what stands behind it would pass for a part of the name.
struct OptionWord {
    /// One or two.
    let dashes: Int
    /// Bytes after the dashes, up to the first `=` for a long option.
    let name: Substring
    /// What stands after `=` of a long option.
    let attachedValue: Substring?

    /// Takes an argument apart; nil for one that is no option. A single dash is none: it stands for
    /// the standard input.
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

    /// Whether it spells the option, alone or as the first letter of several.
    func matches(_ option: OptionSpec) -> Bool {
        guard dashes == 1 else { return Self.same(name, option.name) }
        guard let short = option.short, let letter = name.unicodeScalars.first else { return false }
        return letter == short.unicodeScalars.first
    }

    /// Whether an option with a value that it spells would find it in the next argument.
    var takesNextAsValue: Bool {
        dashes == 2 ? attachedValue == nil : name.utf8.count == 1
    }

    /// What a message may repeat of it. Anything that does not look like an option's name may be a
    /// secret that happens to begin with a dash.
    var speakableName: String? {
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
