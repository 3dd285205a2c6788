internal import DotEnv

extension DotEnvError: CommandErrorConvertible {
    var commandError: CommandError {
        let formats = self.formats.map(\.rawValue)
        let hint =
            formats.isEmpty
            ? nil : "Formats that can contain it: \(formats.joined(separator: ", ")) (--format)."
        // A key at the beginning of the sentence keeps its letters.
        let isKeyFirst = key != nil && position == nil
        return CommandError(
            .usage,
            isKeyFirst ? CommandError.ending(description) : CommandError.sentence(description),
            hint: hint)
    }
}
