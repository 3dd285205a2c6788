/// What each format can represent, and how.
struct WritingRules {
    /// The properties of a value.
    struct Traits {
        var isBare = true
        var hasNUL = false
        var hasCarriageReturn = false
        var hasLineFeed = false
        var hasSingleQuote = false
        var hasDoubleQuote = false
        var hasBacktick = false
        var hasHash = false
        /// U+2028 or U+2029, which end a line for JavaScript parsers.
        var hasSeparator = false
        /// A backslash and then `n` or `r`.
        var hasEscapedBreak = false
        var endsInBackslash = false
        /// `$` before a letter, digit, underscore or brace, or after a backslash: what
        /// dotenv-expand replaces in any quotes.
        var isExpandable = false
        /// Possible whitespace, or a quote, at an end.
        var hasFragileEnd = false
        /// A doubled backslash, or one at the end.
        var hasFragileBackslash = false
        /// `${`.
        var hasExpansion = false
        /// `"`, `\`, `$` or a backtick.
        var hasDoubleQuoteSpecial = false
        var isUTF8 = true
        /// A noncharacter, which systemd refuses.
        var hasNoncharacter = false
    }

    /// The longest line that `docker` reads.
    static let dockerLineLimit = 65_535
    /// Kubernetes' limit for the values of one Secret, in bytes.
    static let secretSizeLimit = 1_048_576

    /// Names that sh or bash refuses to set (`eval` of the text stops there), or sets to another
    /// value.
    static let shellReservedNames: Set<String> = [
        "BASHOPTS", "BASHPID", "BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_CMDS",
        "BASH_COMMAND", "BASH_LINENO", "BASH_MONOSECONDS", "BASH_SOURCE", "BASH_SUBSHELL",
        "BASH_VERSINFO", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS",
        "HISTCMD", "LINENO", "OPTIND", "PPID", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM",
        "UID",
        "_",
    ]

    private let key: String
    let traits: Traits
    let count: Int
    private let endsInReturn: Bool

    init(key: String, value: SourceText) {
        self.key = key
        count = value.count
        endsInReturn = value.count > 0 && value[value.count - 1] == Byte.carriageReturn
        traits = Self.traits(of: value)
    }

    private static func traits(of value: SourceText) -> Traits {
        var traits = Traits()
        traits.isUTF8 = value.isUTF8
        traits.hasNoncharacter = value.noncharacter(in: 0..<value.count) != nil
        for index in 0..<value.count {
            let byte = value[index]
            if !isBareByte(byte) { traits.isBare = false }
            switch byte {
            case 0: traits.hasNUL = true
            case Byte.carriageReturn: traits.hasCarriageReturn = true
            case Byte.lineFeed: traits.hasLineFeed = true
            case Byte.singleQuote: traits.hasSingleQuote = true
            case Byte.hash: traits.hasHash = true
            case Byte.doubleQuote, Byte.backtick:
                traits.hasDoubleQuoteSpecial = true
                if byte == Byte.backtick {
                    traits.hasBacktick = true
                } else {
                    traits.hasDoubleQuote = true
                }
            case Byte.dollar:
                traits.hasDoubleQuoteSpecial = true
                let next = value[index + 1]
                if next == Byte.leftBrace { traits.hasExpansion = true }
                if next == Byte.leftBrace || next.isWord { traits.isExpandable = true }
            case Byte.backslash:
                traits.hasDoubleQuoteSpecial = true
                switch value[index + 1] {
                case Byte.dollar: traits.isExpandable = true
                case UInt8(ascii: "n"), UInt8(ascii: "r"): traits.hasEscapedBreak = true
                default: break
                }
                if index + 1 == value.count { traits.endsInBackslash = true }
                if index + 1 == value.count || value[index + 1] == Byte.backslash {
                    traits.hasFragileBackslash = true
                }
            default: if value.separatorWidth(at: index) > 0 { traits.hasSeparator = true }
            }
        }
        for byte in [value[0], value[value.count - 1]] where value.count > 0 {
            if byte <= 0x20 || byte >= 0x80 || byte.isQuote { traits.hasFragileEnd = true }
        }
        return traits
    }

    /// Returns whether this is `[A-Za-z0-9_./:@%+,=-]`, special to no parser.
    static func isBareByte(_ byte: UInt8) -> Bool {
        if byte.isWord { return true }
        switch byte {
        case 0x2E, 0x2F, 0x3A, 0x40, 0x25, 0x2B, 0x2C, 0x3D, 0x2D: return true
        default: return false
        }
    }

    /// Returns why the format cannot represent the name, or nil.
    func nameProblem(_ format: DotEnvFormat) -> StaticString? {
        switch format {
        case .json, .yaml:
            return nil
        case .shell where Self.shellReservedNames.contains(key):
            return "shells reserve this name and would not keep the value"
        case .shell, .systemd:
            return key.isPortableName
                ? nil : "the name may contain only letters, digits and underscores"
        case .dotenv:
            if key == "__proto__" { return "JavaScript parsers drop this name" }
            return key.utf8.allSatisfy(\.isNameByte) && !key.isEmpty
                ? nil : ".env parsers do not accept this name"
        case .docker:
            return isDockerName ? nil : "docker does not accept this name"
        case .k8s:
            let fits = key.utf8.allSatisfy(\.isNameByte) && !key.isEmpty && key.utf8.count <= 253
            return fits && key != "." && !key.hasPrefix("..")
                ? nil : "Kubernetes does not accept this name"
        }
    }

    private var isDockerName: Bool {
        guard let first = key.utf8.first, first != Byte.hash, !key.hasPrefix("\u{FEFF}") else {
            return false
        }
        return key.withText { text in
            (0..<text.count).allSatisfy {
                text[$0] != 0 && text[$0] != Byte.equals && text.spaceWidth(at: $0, .go) == 0
            }
        }
    }

    /// Returns why the format cannot represent the value, or nil.
    func valueProblem(_ format: DotEnvFormat, _ dialect: DotEnvDialect?) -> StaticString? {
        if format == .k8s { return nil }
        if format == .shell { return traits.hasNUL ? "the value contains a NUL byte" : nil }
        if !traits.isUTF8 { return "the value is not UTF-8" }
        if format == .json || format == .yaml { return nil }
        if traits.hasNUL { return "the value contains a NUL byte" }
        switch format {
        case .dotenv where form(for: dialect) == nil:
            switch dialect {
            case nil, .dotenv: return "a .env file cannot represent this value"
            case .portable:
                return "this value cannot be written so that all .env parsers agree"
            default: return "this dialect cannot represent the value"
            }
        case .systemd where traits.hasNoncharacter:
            return "systemd rejects Unicode noncharacters"
        case .docker where traits.hasLineFeed:
            return "docker cannot represent a line break"
        case .docker where endsInReturn:
            return "docker drops a final carriage return"
        case .docker where key.utf8.count + 1 + count > Self.dockerLineLimit:
            return "docker rejects lines longer than 65535 bytes"
        default:
            return nil
        }
    }

    /// Throws if the format cannot represent the pair, with the formats that can.
    func check(_ format: DotEnvFormat, _ dialect: DotEnvDialect? = nil) throws(DotEnvError) {
        let name = nameProblem(format)
        guard let problem = name ?? valueProblem(format, dialect) else { return }
        throw DotEnvError(
            name == nil ? .unwritableValue : .unwritableName, "\(problem)", key: key,
            formats: DotEnvFormat.allCases.filter {
                nameProblem($0) == nil && valueProblem($0, $0 == format ? dialect : nil) == nil
            })
    }
}
