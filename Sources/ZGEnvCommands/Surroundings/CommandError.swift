/// The failure of a command: what failed, about what, and what to do next. Never contains a value.
package struct CommandError: Error, Equatable {
    package var code: ExitCode
    /// What failed, in one or two sentences.
    private var reason: String
    /// What the command changed nevertheless, as far as the message says it.
    package var effect: Effect?
    /// What to do next, if the message does not say it.
    package var hint: String?

    /// What a command that failed has changed.
    package enum Effect: String, Sendable {
        case nothing = "Nothing was changed."
        case mayBeSent = "Some changes may already have been sent."
        case inVaultMayBeSent =
            "Some changes may already have been sent. The change is in the vault."
        case inVaultOnly = "The change is in the vault; Vercel was not updated."
        case everywhere = "The change is in the vault and on Vercel."
    }

    package init(_ code: ExitCode, _ message: String, effect: Effect? = nil, hint: String? = nil) {
        (self.code, reason, self.effect, self.hint) = (code, message, effect, hint)
    }

    /// What failed, and what was changed.
    package var message: String {
        get { effect.map { "\(reason) \($0.rawValue)" } ?? reason }
        set { (reason, effect) = (newValue, nil) }
    }

    /// Returns the error with a further sentence, and with another hint if one is given.
    func adding(_ sentence: String, hint: String? = nil) -> CommandError {
        CommandError(code, "\(message) \(sentence)", hint: hint ?? self.hint)
    }
}
