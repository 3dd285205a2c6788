internal import CommandLineKit
internal import HTTPClient
internal import VercelAPI

extension VercelAPIError: CommandErrorConvertible {
    var commandError: CommandError {
        let code: ExitCode =
            switch self.code {
            case .tokenMissing, .tokenInvalid, .teamUnauthorized, .samlRequired, .challengeRequired,
                .limitedUser, .forbidden:
                .unauthorized
            case .notFound: .notFound
            case .conflict, .notSent: .conflict
            case .rateLimited, .unavailable, .redirected, .malformedAnswer, .outcomeUnknown:
                .unavailable
            case .invalidRequest: .usage
            case .badRequest, .notPossible, .paymentRequired, .gone, .tooLarge, .cancelled,
                .libraryMissing, .outOfMemory:
                .failed
            }
        let wait = self.wait.map { "Try again in \($0)." }
        return CommandError(
            code, CommandError.sentence(description),
            hint: wait ?? hint.map { CommandError.sentence($0) })
    }

    /// The time that Vercel asks to wait, in words; nil unless it is given.
    var wait: String? {
        guard code == .rateLimited, let retryAfter, retryAfter > .zero else { return nil }
        return DurationText.words(retryAfter)
    }
}

extension TransportError: CommandErrorConvertible {
    var commandError: CommandError {
        VercelAPIError(transport: self, isRepeatable: true).commandError
    }
}

extension APIOrigin.Problem: CommandErrorConvertible {
    var commandError: CommandError {
        CommandError(.failed, "The vault contains an invalid API URL.")
    }
}
