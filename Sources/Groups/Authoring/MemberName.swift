/// What the names of members may be: they are shown on the terminals of all members.
package enum MemberName {
    /// Returns what is wrong with a name, as a clause; nil if nothing is.
    package static func problem(with name: String) -> String? {
        if name.allSatisfy(\.isWhitespace) { return "is empty" }
        if name.utf8.count > GroupLimits.memberName {
            return "has more than \(GroupLimits.memberName) bytes"
        }
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
                .unassigned:
                false
            default: true
            }
        }
        return isPlain ? nil : "has control characters"
    }
}
