internal import CommandLineKit
internal import JSON

/// One thing that `doctor` looked at, and what it found.
struct Finding: Equatable {
    /// How it stands.
    enum State: String {
        case ok
        /// Something works less well, or is missing that others may need.
        case warning
        /// Something does not work.
        case failed
        /// It could not, or was not to be, looked at.
        case skipped

        /// How it is shown.
        var role: Style.Role {
            switch self {
            case .ok: .good
            case .warning: .warning
            case .failed: .bad
            case .skipped: .dim
            }
        }
    }

    /// What was looked at, in words joined by hyphens.
    let check: String
    let state: State
    /// What was found, as a sentence.
    let message: String
    /// What to do; nil where nothing is to be done.
    let remedy: String?

    init(_ check: String, _ state: State, _ message: String, remedy: String? = nil) {
        self.check = check
        self.state = state
        self.message = message
        self.remedy = remedy
    }

    /// `{"check","state","message","remedy"}`.
    var json: JSONValue {
        [
            "check": .string(check), "state": .string(state.rawValue),
            "message": .string(message), "remedy": .string(orNull: remedy),
        ]
    }

    /// All findings as a table, each remedy below its finding.
    static func table(_ findings: [Finding]) -> Table {
        var table = Table([.init("STATE"), .init("CHECK"), .init("FOUND")])
        for finding in findings {
            table.append([
                .init(finding.state.rawValue, as: finding.state.role), .init(finding.check),
                .init(DisplayText.safe(sentence: finding.message)),
            ])
            if let remedy = finding.remedy {
                table.append(["", "", .init(DisplayText.safe(sentence: "-> \(remedy)"), as: .dim)])
            }
        }
        return table
    }
}
