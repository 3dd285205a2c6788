import CSecret
import Glibc
import Vault

/// Why a session could not do what it was asked to.
enum SecretServiceFailure: Error {
    /// A call reported this, with what the library or the service said, made safe to show.
    case reported(zg_secret_status, message: String?)
    /// The user was, or would have had to be, asked, and no answer came in time.
    case unanswered
    /// The service answered, but not as it should.
    case keyring(KeyringError)

    /// Throws unless `result` says that the call is done, and frees its message.
    ///
    /// - Parameter mayPrompt: Whether the call waits for the user.
    static func check(
        _ result: zg_secret_result, mayPrompt: Bool = false
    ) throws(SecretServiceFailure) {
        let text = unsafe result.message
        defer { unsafe free(text) }
        let status = unsafe result.status
        guard status != ZG_SECRET_DONE else { return }
        if mayPrompt, status == ZG_SECRET_TIMED_OUT { throw .unanswered }
        throw .reported(status, message: unsafe text.map { unsafe shown(String(cString: $0)) })
    }

    /// Whether the session, if it was opened for an earlier call, may be what failed: the service
    /// went away or started anew since then.
    var mayBeStale: Bool {
        guard case .reported(let status, _) = self else { return false }
        return status != ZG_SECRET_TIMED_OUT && status != ZG_SECRET_DISMISSED
            && status != ZG_SECRET_LOCKED
    }

    /// Whether an item, or the session, was not there any more.
    var isGone: Bool {
        guard case .reported(let status, _) = self else { return false }
        return status == ZG_SECRET_GONE
    }

    /// The error to hand on.
    var keyringError: KeyringError {
        switch self {
        case .keyring(let error): error
        case .unanswered:
            KeyringError(.locked, "the keyring is locked, and nobody answered its question in time")
        case .reported(let status, let message): Self.keyringError(status, message)
        }
    }

    private static func keyringError(
        _ status: zg_secret_status, _ message: String?
    ) -> KeyringError {
        let detail = message.map { " (\($0))" } ?? ""
        return switch status {
        case ZG_SECRET_LIBRARY_MISSING:
            KeyringError(
                .libraryMissing, "libsecret (libsecret-1.so.0) is not installed or is too old")
        case ZG_SECRET_NO_BUS:
            KeyringError(.noBus, "the session bus cannot be reached" + detail)
        case ZG_SECRET_NO_PROVIDER:
            KeyringError(.noProvider, "no Secret Service is on the session bus" + detail)
        case ZG_SECRET_LOCKED: KeyringError(.locked, "the keyring is locked")
        case ZG_SECRET_DISMISSED:
            KeyringError(
                .locked, "the keyring is locked: its question was declined or could not be shown")
        case ZG_SECRET_TIMED_OUT:
            KeyringError(.failed, "the Secret Service did not answer in time")
        case ZG_SECRET_GONE:
            KeyringError(.failed, "the Secret Service lost what it was asked about" + detail)
        case ZG_SECRET_DISCONNECTED:
            KeyringError(.failed, "the Secret Service went away during the call" + detail)
        default: KeyringError(.failed, "the Secret Service reported a failure" + detail)
        }
    }

    /// Foreign text, cut to 200 characters, without control characters.
    private static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar in
            scalar.properties.generalCategory == .control ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
