internal import CommandLineKit

/// The values that `scan` searches for.
struct ScanOptions {
    /// Whether to include earlier versions.
    let history: Bool
    /// Whether to include all projects.
    let allProjects: Bool
    /// Keys to skip.
    let except: [String]
    /// The minimum length in bytes; nil for the default.
    let minimumLength: String?

    init(_ command: ParsedCommand) {
        history = command.has("history")
        allProjects = command.has("all-projects")
        except = command.values("except")
        minimumLength = command.value("min-length")
    }

    /// The arguments of `scan` that select these values.
    var words: [String] {
        (allProjects ? ["--all-projects"] : []) + (history ? ["--history"] : [])
            + (minimumLength.map { ["--min-length", $0] } ?? [])
            + except.flatMap { ["--except", $0] }
    }
}
