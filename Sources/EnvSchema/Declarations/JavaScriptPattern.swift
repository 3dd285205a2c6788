/// The part of JavaScript's regular expressions that means the same everywhere, with Unicode flag
/// and without.
enum JavaScriptPattern {
    /// Returns a pattern that finds exactly this text.
    static func escaped(_ text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars {
            if special.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern
    }

    /// Returns what an option `matches` says without slashes, if it is valid and needs no flags.
    static func plain(_ option: String) -> String? {
        var scalars = Array(option.unicodeScalars)
        if scalars.count > 1, scalars.first == "/",
            let end = scalars.lastIndex(of: "/"), end > 0
        {
            // These change nothing about whether something is found.
            guard scalars[(end + 1)...].allSatisfy({ $0 == "g" || $0 == "u" || $0 == "y" }) else {
                return nil
            }
            scalars = Array(scalars[1..<end])
        }
        var check = Check(scalars: scalars)
        guard check.isValid() else { return nil }
        return String(String.UnicodeScalarView(scalars))
    }

    private static let special: Set<Unicode.Scalar> = [
        "^", "$", "\\", ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/",
    ]

    /// Refuses what it does not know: look-around, back-references, properties.
    private struct Check {
        let scalars: [Unicode.Scalar]
        var index = 0

        private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

        mutating func isValid() -> Bool {
            var depth = 0
            var canRepeat = false
            while let scalar = next {
                index += 1
                switch scalar {
                case "(":
                    if next == "?" {
                        guard index + 1 < scalars.count, scalars[index + 1] == ":" else {
                            return false
                        }
                        index += 2
                    }
                    depth += 1
                    canRepeat = false
                case ")":
                    guard depth > 0 else { return false }
                    depth -= 1
                    canRepeat = true
                case "|", "^", "$": canRepeat = false
                case "*", "+", "?", "{":
                    guard canRepeat, scalar != "{" || isCount() else { return false }
                    if next == "?" { index += 1 }
                    canRepeat = false
                case "[":
                    guard isClass() else { return false }
                    canRepeat = true
                case "]", "}": return false
                case "\\":
                    guard let escaped = next else { return false }
                    index += 1
                    guard isEscape(escaped) else { return false }
                    canRepeat = escaped != "b" && escaped != "B"
                default: canRepeat = true
                }
            }
            return depth == 0
        }

        private func isEscape(_ scalar: Unicode.Scalar) -> Bool {
            "dDwWsSbBnrtfv".unicodeScalars.contains(scalar)
                || JavaScriptPattern.special.contains(scalar)
        }

        /// Reads a count after its brace.
        private mutating func isCount() -> Bool {
            guard let least = count() else { return false }
            if next == "," {
                index += 1
                if next != "}" {
                    guard let most = count(), most >= least else { return false }
                }
            }
            guard next == "}" else { return false }
            index += 1
            return true
        }

        private mutating func count() -> Int? {
            let start = index
            while let scalar = next, ("0"..."9").contains(scalar) { index += 1 }
            // Engines differ in how large a count may be.
            guard index - start <= 4 else { return nil }
            let digits = String(String.UnicodeScalarView(scalars[start..<index]))
            return Int(digits).flatMap { $0 <= 1000 ? $0 : nil }
        }

        /// Reads a class after its bracket.
        private mutating func isClass() -> Bool {
            if next == "^" { index += 1 }
            let start = index
            while let scalar = next {
                if scalar == "]" {
                    index += 1
                    // An empty class is one thing in JavaScript and another elsewhere.
                    return index - 1 > start
                }
                guard let first = classMember() else { return false }
                guard next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                    continue
                }
                index += 1
                guard case .one(let low) = first, case .one(let high) = classMember(), low <= high
                else { return false }
            }
            return false
        }

        private enum ClassMember {
            case one(Unicode.Scalar), several
        }

        private mutating func classMember() -> ClassMember? {
            guard let scalar = next else { return nil }
            index += 1
            // Nested classes and operators of newer JavaScript and of other engines.
            if scalar == "[" || "&-~|".unicodeScalars.contains(scalar) && next == scalar {
                return nil
            }
            guard scalar == "\\" else { return .one(scalar) }
            guard let escaped = next else { return nil }
            index += 1
            if escaped == "-" || JavaScriptPattern.special.contains(escaped) {
                return .one(escaped)
            }
            return "dDwWsSnrtfv".unicodeScalars.contains(escaped) ? .several : nil
        }
    }
}
