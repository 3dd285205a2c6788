internal import CommandLineKit
internal import EnvOperations

extension RefreshIntervals {
    static let options = [
        OptionSpec(
            "every", value: "DURATION", "Poll interval while nothing is building (default 60s)",
            form: .duration),
        OptionSpec(
            "every-building", value: "DURATION",
            "Poll interval while a deployment builds (default 15s)", form: .duration),
    ]

    /// - Throws: ``ExitCode/usage`` for an interval out of range.
    init(_ command: ParsedCommand) throws {
        func seconds(_ option: String, _ standard: Int) throws -> Int {
            guard let duration = command.duration(option) else { return standard }
            let seconds = Int(duration.components.seconds)
            guard Self.bounds.contains(seconds) else {
                throw CommandError(
                    .usage,
                    "--\(option) must be from \(Self.bounds.lowerBound)s to \(Self.bounds.upperBound)s."
                )
            }
            return seconds
        }
        self.init(
            buildingSeconds: try seconds("every-building", 15),
            idleSeconds: try seconds("every", 60))
    }
}
