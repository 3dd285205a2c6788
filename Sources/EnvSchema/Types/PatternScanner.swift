/// Reads a JavaScript regular expression once, from left to right, and rewrites it as it goes.
struct PatternScanner {
    /// The deepest nesting of groups.
    private static let maximumDepth = 64
    /// The largest count in a quantifier of PCRE2.
    private static let maximumCount = 65_535

    private struct Unsupported: Error {}

    private let text: ArraySlice<Unicode.Scalar>
    private let ignoresCase: Bool
    private let isMultiline: Bool
    private let dotMatchesLineEnds: Bool
    let isUnicode: Bool
    private var index: Int
    private var output = ""
    private var depth = 0
    private var groupNames: Set<String> = []
    private(set) var longestClass = 1

    init(_ text: ArraySlice<Unicode.Scalar>, flags: ArraySlice<Unicode.Scalar>) {
        self.text = text
        ignoresCase = flags.contains("i")
        isMultiline = flags.contains("m")
        dotMatchesLineEnds = flags.contains("s")
        isUnicode = flags.contains("u")
        index = text.startIndex
    }

    /// Returns nil for an invalid expression, and for one outside the subset.
    mutating func rewritten() -> String? {
        do {
            while let next = take() { try term(next) }
            return depth == 0 ? output : nil
        } catch {
            return nil
        }
    }

    // MARK: Terms

    private mutating func term(_ scalar: Unicode.Scalar) throws(Unsupported) {
        switch scalar {
        case "|": output += "|"
        case "(": try openGroup()
        case ")":
            guard depth > 0 else { throw Unsupported() }
            depth -= 1
            output += ")"
            output += Self.source(try takeQuantifier())
        case "^":
            // Before the text or after a line end: not after another character.
            output += isMultiline ? "(?<!\(lineCharacter))" : "\\A"
            try refuseQuantifier()
        case "$":
            output += isMultiline ? "(?!\(lineCharacter))" : "\\z"
            try refuseQuantifier()
        case ".":
            try atom(dotMatchesLineEnds ? .everything : PatternClass.lineEnds.inverted)
        case "[": try characterClass()
        case "\\": try escape()
        case "*", "+", "?": throw Unsupported()
        case "{":
            // A brace that is no quantifier stands for itself.
            guard !isUnicode else { throw Unsupported() }
            index -= 1
            try refuseQuantifier()
            index += 1
            try literal(scalar)
        case "}", "]":
            guard !isUnicode else { throw Unsupported() }
            try literal(scalar)
        default: try literal(scalar)
        }
    }

    private var lineCharacter: String { PatternClass.lineEnds.inverted.source }

    private mutating func literal(_ scalar: Unicode.Scalar) throws(Unsupported) {
        try atom(PatternClass([scalar.value...scalar.value]), isWritten: true)
    }

    /// Writes a set of characters with its quantifier. `isWritten` says that the pattern names the
    /// characters, so that the flag `i` applies.
    private mutating func atom(
        _ set: PatternClass, isWritten: Bool = false
    ) throws(Unsupported) {
        var set = set
        if isWritten {
            try check(set.ranges)
            if ignoresCase { set = set.withBothCases }
        }
        longestClass = max(longestClass, set.ranges.count)
        let source = set.source
        output += source
        switch try takeQuantifier() {
        case (0, nil)?: output += "*"
        case (1, nil)?:
            // PCRE2's matcher counts what `+` has matched, in a state for each count.
            output += source + "*"
        case (let least, nil)?: output += "{\(least)}\(source)*"
        case let limits: output += Self.source(limits)
        }
    }

    /// Refuses characters whose meaning depends on UTF-16 units or on Unicode's case mapping.
    private func check(_ ranges: [ClosedRange<UInt32>]) throws(Unsupported) {
        for range in ranges {
            guard isUnicode || range.upperBound <= 0xFFFF, !range.overlaps(0xD800...0xDFFF),
                !ignoresCase || range.upperBound < 0x80
            else { throw Unsupported() }
        }
    }

    private mutating func openGroup() throws(Unsupported) {
        depth += 1
        guard depth <= Self.maximumDepth else { throw Unsupported() }
        output += "(?:"
        guard take("?") else { return }
        if take(":") { return }
        guard take("<") else { throw Unsupported() }
        var name = ""
        while let scalar = take(), scalar != ">" {
            guard PatternClass.wordCharacters.contains(scalar.value) || scalar == "$",
                !name.isEmpty || !PatternClass.digits.contains(scalar.value)
            else { throw Unsupported() }
            name.unicodeScalars.append(scalar)
        }
        guard !name.isEmpty, index > text.startIndex, text[index - 1] == ">",
            groupNames.insert(name).inserted
        else { throw Unsupported() }
    }

    // MARK: Quantifiers

    private typealias Limits = (least: Int, most: Int?)

    private static func source(_ limits: Limits?) -> String {
        guard let limits else { return "" }
        return "{\(limits.least),\(limits.most.map { "\($0)" } ?? "")}"
    }

    private mutating func takeQuantifier() throws(Unsupported) -> Limits? {
        let limits: Limits?
        if take("*") {
            limits = (0, nil)
        } else if take("+") {
            limits = (1, nil)
        } else if take("?") {
            limits = (0, 1)
        } else {
            limits = try quantifierLimits(consuming: true)
        }
        guard limits != nil else { return nil }
        // Lazy.
        _ = take("?")
        try refuseQuantifier()
        return limits
    }

    private mutating func refuseQuantifier() throws(Unsupported) {
        switch peek() {
        case "*", "+", "?": throw Unsupported()
        case "{":
            // `{` after a quantifier or an assertion would stand for itself.
            guard try quantifierLimits(consuming: false) == nil else { throw Unsupported() }
        default: break
        }
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; nil for any other text.
    private mutating func quantifierLimits(consuming: Bool) throws(Unsupported) -> Limits? {
        let start = index
        var isQuantifier = false
        defer { if !consuming || !isQuantifier { index = start } }
        guard take("{"), let least = try count() else { return nil }
        var most: Int? = least
        if take(",") {
            most = try count()
            guard most ?? least >= least else { throw Unsupported() }
        }
        guard take("}") else { return nil }
        isQuantifier = true
        return (least, most)
    }

    private mutating func count() throws(Unsupported) -> Int? {
        var value: Int?
        while let digit = peek(), PatternClass.digits.contains(digit.value) {
            index += 1
            value = min((value ?? 0) * 10 + Int(digit.value - 0x30), Self.maximumCount + 1)
        }
        guard value ?? 0 <= Self.maximumCount else { throw Unsupported() }
        return value
    }

    // MARK: Escapes

    private mutating func escape() throws(Unsupported) {
        for letter: Unicode.Scalar in ["b", "B"] where take(letter) {
            output += "\\\(letter)"
            return try refuseQuantifier()
        }
        let set = try escapedSet(inClass: false)
        try atom(set.characters, isWritten: set.isCharacter)
    }

    /// Reads what follows a backslash.
    private mutating func escapedSet(
        inClass: Bool
    ) throws(Unsupported) -> (characters: PatternClass, isCharacter: Bool) {
        guard let scalar = take() else { throw Unsupported() }
        func character(_ value: UInt32) -> (PatternClass, Bool) {
            (PatternClass([value...value]), true)
        }
        switch scalar {
        case "d": return (.digits, false)
        case "D": return (PatternClass.digits.inverted, false)
        case "w": return (.wordCharacters, false)
        case "W": return (PatternClass.wordCharacters.inverted, false)
        case "s": return (.blanks, false)
        case "S": return (PatternClass.blanks.inverted, false)
        case "n": return character(0x0A)
        case "t": return character(0x09)
        case "r": return character(0x0D)
        case "f": return character(0x0C)
        case "v": return character(0x0B)
        case "b" where inClass: return character(0x08)
        case "0":
            // More digits would make it octal.
            if let next = peek(), PatternClass.digits.contains(next.value) { throw Unsupported() }
            return character(0)
        case "1"..."9", "p", "P", "k": throw Unsupported()
        case "\\":
            // Most likely a back-reference that was escaped once more for the quotes around it.
            if let next = peek(), ("1"..."9").contains(next) { throw Unsupported() }
        case "c": return character(try control(inClass: inClass))
        case "x":
            if let value = hex(2) { return character(value) }
        case "u":
            if isUnicode, peek() == "{" { return character(try codePoint()) }
            if let value = hex(4) { return character(value) }
        default: break
        }
        // Any other character stands for itself, but with the flag `u` only punctuation does.
        guard
            !isUnicode || "^$\\.*+?()[]{}|/".unicodeScalars.contains(scalar)
                || inClass && scalar == "-"
        else { throw Unsupported() }
        return character(scalar.value)
    }

    /// `\cX`, of which `c` has been taken. Without a letter, the backslash stands for itself.
    private mutating func control(inClass: Bool) throws(Unsupported) -> UInt32 {
        if let next = peek(), next.isASCII {
            let letter = (0x61...0x7A).contains(next.value | 0x20)
            let more = inClass && !isUnicode && PatternClass.wordCharacters.contains(next.value)
            if letter || more {
                index += 1
                return next.value % 32
            }
        }
        guard !isUnicode else { throw Unsupported() }
        index -= 1
        return 0x5C
    }

    /// Reads exactly `count` hexadecimal digits, or nothing.
    private mutating func hex(_ count: Int) -> UInt32? {
        guard text.endIndex - index >= count else { return nil }
        var value: UInt32 = 0
        for scalar in text[index..<(index + count)] {
            guard scalar.isASCII, let digit = UInt8(scalar.value).hexValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        index += count
        return value
    }

    /// Reads `{h…}`.
    private mutating func codePoint() throws(Unsupported) -> UInt32 {
        _ = take("{")
        var value: UInt32?
        while let digit = hex(1) {
            value = (value ?? 0) << 4 | digit
            guard value ?? 0 <= 0x10FFFF else { throw Unsupported() }
        }
        guard let value, take("}") else { throw Unsupported() }
        return value
    }

    // MARK: Classes

    private mutating func characterClass() throws(Unsupported) {
        let isNegated = take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while true {
            guard let first = try classMember() else { break }
            guard peek() == "-", index + 1 < text.endIndex, text[index + 1] != "]" else {
                ranges += first.characters.ranges
                continue
            }
            index += 1
            guard let last = try classMember() else { throw Unsupported() }
            guard first.isCharacter, last.isCharacter else {
                // `[\w-x]`: the hyphen stands for itself.
                guard !isUnicode else { throw Unsupported() }
                ranges += first.characters.ranges + last.characters.ranges + [0x2D...0x2D]
                continue
            }
            guard let low = first.characters.ranges.first?.lowerBound,
                let high = last.characters.ranges.first?.lowerBound, low <= high
            else { throw Unsupported() }
            try check([low...high])
            ranges.append(low...high)
        }
        var set = PatternClass(ranges)
        if ignoresCase { set = set.withBothCases }
        try atom(isNegated ? set.inverted : set)
    }

    /// Returns nil after the end of the class.
    private mutating func classMember() throws(Unsupported) -> (
        characters: PatternClass, isCharacter: Bool
    )? {
        guard let scalar = take() else { throw Unsupported() }
        if scalar == "]" { return nil }
        let member: (characters: PatternClass, isCharacter: Bool) =
            scalar == "\\"
            ? try escapedSet(inClass: true) : (PatternClass([scalar.value...scalar.value]), true)
        if member.isCharacter { try check(member.characters.ranges) }
        return member
    }

    // MARK: Characters

    private func peek() -> Unicode.Scalar? { index < text.endIndex ? text[index] : nil }

    private mutating func take() -> Unicode.Scalar? {
        guard let scalar = peek() else { return nil }
        index += 1
        return scalar
    }

    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        guard peek() == wanted else { return false }
        index += 1
        return true
    }
}
