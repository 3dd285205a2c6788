internal import CommandLineKit

/// Which values `scan` looks for.
struct ScanChoice {
    /// Earlier values too.
    let history: Bool
    /// Those of all projects, not of one.
    let allProjects: Bool
    /// Keys to leave out.
    let except: [String]
    /// Shorter ones are left out; a number, or nil for the usual one.
    let minimumLength: String?

    init(_ command: ParsedCommand) {
        history = command.has("history")
        allProjects = command.has("all-projects")
        except = command.values("except")
        minimumLength = command.value("min-length")
    }

    /// The same as words of `scan`.
    var words: [String] {
        (allProjects ? ["--all-projects"] : []) + (history ? ["--history"] : [])
            + (minimumLength.map { ["--min-length", $0] } ?? [])
            + except.flatMap { ["--except", $0] }
    }
}
