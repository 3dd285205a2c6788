internal import CommandLineKit
internal import DotEnv
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault
internal import VercelAPI

extension CommandError {
    /// Translates any error of the layers below into the contract's codes.
    package init(mapping error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as UsageError: self.init(.usage, error.message, hint: error.hint)
        case let error as VaultError: self.init(mapping: error)
        case let error as KeyringError: self.init(mapping: error)
        case let error as SealingError:
            self.init(mapping: VaultError(error, damaged: .tag, "A seal does not hold"))
        case let error as VercelAPIError: self.init(mapping: error)
        case let error as TransportError:
            self.init(mapping: VercelAPIError(transport: error, isRepeatable: true))
        case is APIOrigin.Problem:
            self.init(.failed, "The vault holds an address that is none.")
        case is GitProgram.NoAnswer:
            self.init(
                .failed, "Git gave no answer.",
                hint: "It may wait for a file that is a pipe: check .gitignore, and include.path "
                    + "in git's settings.")
        case let error as TerminalError: self.init(mapping: error)
        case let error as DotEnvError: self.init(mapping: error)
        case OutputError.system(let number):
            self.init(.failed, "The output cannot be written: \(SystemError(number).reason).")
        case let error as ChildProcess.Failure:
            self.init(
                .failed,
                error.program.map { "\($0) cannot be started: \(error.error.reason)." }
                    ?? "No pipe could be made.")
        case is OutputError: self.init(.failed, "The output cannot be written.")
        default: self.init(.failed, "Something unexpected failed: \(type(of: error)).")
        }
    }

    private init(mapping error: VaultError) {
        let reason = Self.sentence(error.reason)
        let remedy = error.remedy.map { "Run: \($0.command) \(word: $0.path)" }
        switch error.code {
        case .notFound: self.init(.notFound, reason, hint: "Make one with: zg-env init")
        case .exists:
            self.init(
                .conflict, reason,
                hint: "Nothing was changed. Use it, or name another place with --vault.")
        case .insecure:
            self.init(
                .failed, reason,
                hint: ["Nothing was changed.", remedy].compactMap(\.self).joined(separator: " "))
        case .damaged:
            self.init(
                .damaged, reason,
                hint: "Nothing was changed. Put a backup in its place; zg-env never writes over it."
            )
        case .newerFormat: self.init(.failed, reason, hint: "Install that version or a later one.")
        case .preReleaseFormat:
            self.init(
                .failed, reason,
                hint:
                    "With that version, run zg-env export for each project; then make a new vault with "
                    + "zg-env init, and zg-env import the files.")
        case .notAccepted:
            self.init(
                .usage, reason,
                hint:
                    "Nothing was given out. If the change is yours: zg-env unlock --accept-changes")
        case .wrongPassphrase: self.init(.locked, reason, hint: "Nothing was changed; try again.")
        case .busy:
            self.init(.conflict, reason, hint: "Nothing was changed; run the command again.")
        case .epochChanged:
            self.init(.conflict, reason, hint: "Nothing was changed; run the command again.")
        case .slotsChanged:
            self.init(.conflict, reason, hint: "Nothing was changed; run the command again.")
        case .lastSlot:
            self.init(.conflict, reason, hint: "Nothing was changed. Add another slot first.")
        case .tooLarge: self.init(.usage, reason, hint: "Nothing was changed.")
        case .outOfMemory:
            self.init(.failed, reason, hint: "End other programs, or raise the memory limit.")
        case .auditLog:
            self.init(
                .failed, reason,
                hint: "Nothing is given out that cannot be logged. "
                    + (remedy.map { "\($0). Or place" } ?? "Place")
                    + " the log elsewhere with --audit-log FILE or ZG_ENV_AUDIT_LOG.")
        case .notConfirmed: self.init(.failed, reason)
        case .inputOutput:
            self.init(
                .failed, reason,
                hint: "The vault is as it was. Mend the place, or name another with --vault.")
        }
    }

    private init(mapping error: KeyringError) {
        let hint =
            switch error.code {
            case .libraryMissing: "Install libsecret (libsecret-1.so.0)."
            case .noBus, .noProvider:
                "Log in to a desktop with a keyring, or use a key file: zg-env slot add file PATH."
            case .locked: "Unlock the keyring and run the command again."
            case .malformed, .failed: "Look at the keyring with its own program."
            }
        self.init(.failed, Self.sentence(error.reason), hint: hint)
    }

    private init(mapping error: VercelAPIError) {
        let code: ExitCode =
            switch error.code {
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
        let wait = error.wait.map { "Vercel asks to wait \($0); try again after that." }
        self.init(
            code, Self.sentence(error.description),
            hint: wait ?? error.hint.map { Self.sentence($0) })
    }

    private init(mapping error: DotEnvError) {
        let formats = error.formats.map(\.rawValue)
        let hint =
            formats.isEmpty
            ? nil : "Formats that can carry it: \(formats.joined(separator: ", ")) (--format)."
        // A key that begins the sentence stays as it is written.
        let isKeyFirst = error.key != nil && error.position == nil
        self.init(
            .usage,
            isKeyFirst ? Self.ending(error.description) : Self.sentence(error.description),
            hint: hint)
    }

    private init(mapping error: TerminalError) {
        switch error {
        case .noTerminal: self.init(.usage, "There is no terminal to ask at.")
        case .system(let number): self.init(.failed, "The terminal failed (error \(number)).")
        case .tooLong: self.init(.usage, "What was typed is too long.")
        case .severalLines:
            self.init(
                .usage, "Several lines came at once where one was asked for.",
                hint: "Give a value of several lines on stdin or with --from-file.")
        case .endOfInput: self.init(.usage, "The input ended before anything was typed.")
        case .interrupted: self.init(.failed, "Interrupted.")
        }
    }

    /// A text as the end of a sentence: the platform's own words may bring a full stop along.
    static func ending(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

    /// A reason of a library as a sentence: capital first, full stop last.
    static func sentence(_ reason: String) -> String {
        guard let first = reason.first else { return reason }
        // A path or a name in front keeps its letters: only a plain word begins the sentence.
        let isWord = reason.prefix { $0 != " " }.allSatisfy(\.isLetter)
        let head = isWord ? first.uppercased() : String(first)
        return head + reason.dropFirst() + (reason.hasSuffix(".") ? "" : ".")
    }
}

extension VercelAPIError {
    /// How long the platform wants to be left alone, in words; nil where it does not say.
    var wait: String? {
        guard code == .rateLimited, let retryAfter, retryAfter > .zero else { return nil }
        return DurationText.words(retryAfter)
    }
}
