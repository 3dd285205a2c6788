/// A message for the desktop. Its texts are untrusted and made safe when it is sent.
package struct DesktopMessage: Equatable, Sendable {
    /// An action that can be chosen on a message.
    package struct Action: Equatable, Sendable {
        /// The identifier that is returned when it is chosen: at most 31 bytes of ASCII.
        package let name: String
        /// The text on the button.
        package let label: String

        package init(_ name: String, label: String) {
            self.name = name
            self.label = label
        }
    }

    /// The urgency level of the notification specification.
    package enum Urgency: UInt8, Sendable {
        case low = 0
        case normal = 1
        /// Stays until it is dismissed.
        case critical = 2
    }

    /// What it is about: a newer message with the same subject replaces it.
    package let subject: String
    /// A single line.
    package let title: String
    /// Any number of lines.
    package let body: String
    package let urgency: Urgency
    /// A category of the notification specification.
    package let category: String
    /// The group it belongs to, such as a project.
    package let group: String?
    /// The actions, if the server supports them. The one named `default` is what a click on the
    /// message does.
    package let actions: [Action]

    package init(
        subject: String, title: String, body: String, urgency: Urgency = .normal,
        category: String = "transfer", group: String? = nil, actions: [Action] = []
    ) {
        self.subject = subject
        self.title = title
        self.body = body
        self.urgency = urgency
        self.category = category
        self.group = group
        self.actions = actions
    }
}

/// Makes untrusted texts safe for a notification server.
package enum SafeText {
    /// The maximum length of a line, in Unicode scalars.
    package static let lineLimit = 160
    /// The maximum number of lines.
    package static let lineCount = 6

    /// Returns the text as one shortened line, without characters that control, hide or reverse
    /// what is beside them.
    package static func line(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < lineLimit else {
                kept.append("…")
                break
            }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator:
                if kept.last != " ", !kept.isEmpty {
                    kept.append(" ")
                    count += 1
                }
            case .format, .surrogate, .privateUse, .unassigned:
                // Joiners stay: scripts and emoji need them.
                guard scalar.value == 0x200C || scalar.value == 0x200D else { continue }
                kept.append(scalar)
                count += 1
            default:
                kept.append(scalar)
                count += 1
            }
        }
        return String(kept)
    }

    /// Returns the text with each of its lines made safe.
    ///
    /// - Parameter escapingMarkup: Whether the server interprets markup, which is then escaped.
    package static func body(_ text: String, escapingMarkup: Bool) -> String {
        let lines = text.split(separator: "\n").prefix(lineCount).map { line(String($0)) }
        let joined = lines.joined(separator: "\n")
        return escapingMarkup ? escaped(joined) : joined
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
