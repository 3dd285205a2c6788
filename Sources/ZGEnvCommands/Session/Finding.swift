internal import CommandLineKit
internal import JSON

/// One check of `doctor` with its result.
struct Finding: Equatable {
    enum State: String {
        case ok
        /// Something works less well, or something optional is missing.
        case warning
        /// Something does not work.
        case failed
        /// The check was not possible or not wanted.
        case skipped

        var role: Style.Role {
            switch self {
            case .ok: .good
            case .warning: .warning
            case .failed: .bad
            case .skipped: .dim
            }
        }
    }

    /// The name of the check, in words joined by hyphens.
    let check: String
    let state: State
    /// One or two sentences.
    let message: String
    /// What to do, if anything.
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

    /// Returns all findings as a table, each remedy below its finding.
    static func table(_ findings: [Finding]) -> Table {
        var table = Table([.init("STATE"), .init("CHECK"), .init("RESULT")])
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
