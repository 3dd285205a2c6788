/// The failure of a command: what failed, about what, and what to do next. Never contains a value.
package struct CommandError: Error, Equatable {
    package var code: ExitCode
    /// One or two sentences.
    package var message: String
    /// What to do next, if the message does not say it.
    package var hint: String?

    package init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Returns the error with a further sentence, and with another hint if one is given.
    func adding(_ sentence: String, hint: String? = nil) -> CommandError {
        CommandError(code, "\(message) \(sentence)", hint: hint ?? self.hint)
    }
}
