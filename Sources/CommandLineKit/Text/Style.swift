/// Colors of terminal text. The caller decides whether they are used.
package struct Style: Sendable, Equatable {
    /// The kind of a text, which determines its color.
    package enum Role: Sendable, Equatable, CaseIterable {
        case plain, heading, dim, good, warning, bad
        /// The selected row, in reverse video.
        case selected
    }

    package let usesColor: Bool

    package init(usesColor: Bool) {
        self.usesColor = usesColor
    }

    /// Text without escape sequences.
    package static let plain = Style(usesColor: false)

    /// Returns the text in the color of its role. It must be sanitized: see ``DisplayText/safe(_:)``.
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
            case .selected: "7"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
