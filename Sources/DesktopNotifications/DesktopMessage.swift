/// A message for the desktop. Texts may come from anywhere: they are made safe when they are sent.
package struct DesktopMessage: Equatable, Sendable {
    /// Something that can be chosen on a message.
    package struct Action: Equatable, Sendable {
        /// What comes back when it is chosen: at most 31 bytes of ASCII.
        package let name: String
        /// What people read.
        package let label: String

        /// Names both.
        package init(_ name: String, label: String) {
            self.name = name
            self.label = label
        }
    }

    /// How much it matters.
    package enum Urgency: UInt8, Sendable {
        /// Need not be seen.
        case low = 0
        /// Shown for a while.
        case normal = 1
        /// Stays until it was seen.
        case critical = 2
    }

    /// What it is about: a newer message about the same takes its place.
    package let subject: String
    /// One line.
    package let title: String
    /// Some lines, maybe none.
    package let body: String
    /// How much it matters.
    package let urgency: Urgency
    /// What kind of message it is, by the standard's names.
    package let category: String
    /// What it belongs to, such as a project.
    package let group: String?
    /// What can be chosen, where the server shows that. The first one that is called `default` is what
    /// a click on the message does.
    package let actions: [Action]

    /// Names all parts.
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

/// Makes texts fit to be shown by a server of notifications.
package enum SafeText {
    /// The longest line, in characters of Unicode.
    package static let lineLimit = 160
    /// The most lines.
    package static let lineCount = 6

    /// The text on one line, without characters that control, hide or turn round what is beside them,
    /// and shortened.
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

    /// The text with its lines made safe one by one.
    ///
    /// - Parameter escapingMarkup: Whether the server reads markup: then none is left of the text's own.
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
