internal import CommandLineKit
internal import EnvOperations

extension RefreshIntervals {
    static let options = [
        OptionSpec(
            "every", value: "DURATION", "Ask so often while nothing builds: 60s by default",
            form: .duration),
        OptionSpec(
            "every-building", value: "DURATION",
            "Ask so often while something builds: 15s by default", form: .duration),
    ]

    /// - Throws: ``ExitCode/usage`` for intervals that are out of bounds.
    init(_ command: ParsedCommand) throws {
        func seconds(_ option: String, _ standard: Int) throws -> Int {
            guard let duration = command.duration(option) else { return standard }
            let seconds = Int(duration.components.seconds)
            guard Self.bounds.contains(seconds) else {
                throw CommandError(
                    .usage,
                    "--\(option) is from \(Self.bounds.lowerBound)s to \(Self.bounds.upperBound)s."
                )
            }
            return seconds
        }
        self.init(
            buildingSeconds: try seconds("every-building", 15),
            idleSeconds: try seconds("every", 60))
    }
}
