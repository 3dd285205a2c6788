/// Colours of terminal text, or none. Whether there are any, the caller decides.
package struct Style: Sendable, Equatable {
    /// What a text is, from which its colour follows.
    package enum Role: Sendable, Equatable, CaseIterable {
        case plain, heading, dim, good, warning, bad
    }

    /// Whether texts get escape sequences.
    package let usesColor: Bool

    /// Makes a style.
    package init(usesColor: Bool) {
        self.usesColor = usesColor
    }

    /// Text as it is.
    package static let plain = Style(usesColor: false)

    /// The text with the colour of its role. It must be safe already: see ``DisplayText/safe(_:)``.
    package func text(_ text: String, as role: Role) -> String {
        guard usesColor, role != .plain, !text.isEmpty else { return text }
        let code =
            switch role {
            case .plain: "0"
            case .heading: "1"
            case .dim: "2"
            case .good: "32"
            case .warning: "33"
            case .bad: "31"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
