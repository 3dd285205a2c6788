internal import CommandLineKit
internal import JSON

/// One check of `doctor` with its result.
struct Finding: Equatable {
    enum State: String, CaseIterable {
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

    static let fields =
        "check: string; state: \(oneOf: State.self); message: string; remedy: string | null"

    var json: JSONValue {
        [
            "check": .string(check), "state": .string(state.rawValue),
            "message": .string(message), "remedy": .string(orNull: remedy),
        ]
    }

    /// Returns all findings as a table, each remedy below its finding.
    ///
    /// - Parameter width: The columns of the terminal, to which sentences are wrapped; nil for no limit.
    static func table(_ findings: [Finding], width: Int?) -> Table {
        var table = Table([.init("STATE"), .init("CHECK"), .init("RESULT")])
        let left =
            (findings.map(\.state.rawValue) + ["STATE"]).reduce(0) { max($0, $1.count) }
            + (findings.map(\.check) + ["CHECK"]).reduce(0) { max($0, $1.count) } + 2 * Table.gap
        func lines(_ sentence: String) -> [String] {
            let text = DisplayText.safe(sentence: sentence)
            return width.map { DisplayText.wrapped(text, to: max(20, $0 - left)) } ?? [text]
        }
        for finding in findings {
            for (index, line) in lines(finding.message).enumerated() {
                table.append(
                    index > 0
                        ? ["", "", .init(line)]
                        : [
                            .init(finding.state.rawValue, as: finding.state.role),
                            .init(finding.check), .init(line),
                        ])
            }
            for line in finding.remedy.map({ lines("-> \($0)") }) ?? [] {
                table.append(["", "", .init(line, as: .dim)])
            }
        }
        return table
    }
}
