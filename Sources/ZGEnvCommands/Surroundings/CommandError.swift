/// A command that did not do what it was asked to: what happened, to what, and what to do next.
///
/// No value is ever in it.
package struct CommandError: Error, Equatable {
    /// The exit code of the contract.
    package var code: ExitCode
    /// One or two sentences.
    package var message: String
    /// What to do next, where the message does not say it.
    package var hint: String?

    /// Makes an error.
    package init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
