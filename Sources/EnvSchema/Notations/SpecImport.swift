/// An `@import(PATH, pick=[…], omit=[…], enabled=…)`.
struct SpecImport {
    /// The most patterns with `*` or `?`, and the most bytes of one, so that matching stays fast.
    private static let maximumPatterns = 16
    private static let maximumPatternLength = 64

    /// As written; empty if it is not literal.
    private(set) var path = ""
    let line: Int
    /// Whether the file is imported at all.
    private(set) var isEnabled = true
    /// Whether everything that it says is known here. Otherwise it is not followed.
    private(set) var isPlain = true
    /// Whether it lists keys without `pick`, the form of older versions.
    private(set) var usesOldForm = false

    private var picks: KeySet?
    private var omits: KeySet?

    private struct KeySet {
        var names: Set<String> = []
        var patterns: [[UInt8]] = []
    }

    init(_ arguments: [SpecArgument], line: Int) {
        self.line = line
        var positional = arguments.filter { $0.name == nil }.map(\.value)
        if !positional.isEmpty { path = positional.removeFirst().literal?.resolved ?? "" }
        if !positional.isEmpty {
            usesOldForm = true
            picks = keySet(.list(positional), allowsPatterns: false)
        }
        for argument in arguments {
            switch argument.name {
            case nil: break
            case "pick": picks = picks == nil ? keySet(argument.value) : refused()
            case "omit": omits = omits == nil ? keySet(argument.value) : refused()
            case "enabled":
                if case .flag(let flag) = argument.value.literal?.form {
                    isEnabled = flag
                } else {
                    isPlain = false
                }
            case "allowMissing": break
            default: isPlain = false
            }
        }
        if picks != nil, omits != nil { isPlain = false }
        // A directory stands for several files of which some hold values. Of other files, the other
        // tool reads only those whose names start with `.env.`.
        let name = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isRelative = path.utf8.starts(with: "./".utf8) || path.utf8.starts(with: "../".utf8)
        if !isRelative || name.last?.starts(with: ".env.".utf8) != true { isPlain = false }
    }

    private mutating func refused() -> KeySet? {
        isPlain = false
        return KeySet()
    }

    private mutating func keySet(_ value: SpecValue, allowsPatterns: Bool = true) -> KeySet? {
        guard case .list(let values) = value, !values.isEmpty else { return refused() }
        var keys = KeySet()
        for value in values {
            guard let name = value.literal?.resolved, !name.isEmpty else { return refused() }
            let isPattern = name.utf8.contains {
                $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?")
            }
            if allowsPatterns, isPattern {
                keys.patterns.append(Array(name.utf8))
            } else {
                keys.names.insert(name)
            }
        }
        guard keys.patterns.count <= Self.maximumPatterns,
            keys.patterns.allSatisfy({ $0.count <= Self.maximumPatternLength })
        else { return refused() }
        return keys
    }

    func imports(_ key: String) -> Bool {
        if let picks { return Self.contains(picks, key) }
        if let omits { return !Self.contains(omits, key) }
        return true
    }

    private static func contains(_ keys: KeySet, _ key: String) -> Bool {
        if keys.names.contains(key) { return true }
        guard !keys.patterns.isEmpty else { return false }
        let name = Array(key.utf8)
        return keys.patterns.contains { matches(name, $0) }
    }

    /// `*` stands for any text, `?` for one byte. Only the last `*` is ever tried again, so the time
    /// is at most the product of both lengths.
    private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        var index = 0
        var position = 0
        var star: (position: Int, index: Int)?
        while index < name.count {
            if position < pattern.count, pattern[position] == UInt8(ascii: "*") {
                star = (position, index)
                position += 1
            } else if position < pattern.count,
                pattern[position] == UInt8(ascii: "?") || pattern[position] == name[index]
            {
                index += 1
                position += 1
            } else if let last = star {
                star = (last.position, last.index + 1)
                index = last.index + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[position...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
