import CSecret
import Glibc
import Vault

/// A failed call to the Secret Service.
enum SecretServiceFailure: Error {
    /// The library or the service reported this status, with a message made safe to show.
    case reported(zg_secret_status, message: String?)
    /// A required prompt was not answered in time.
    case unanswered
    /// The service gave an unusable answer.
    case keyring(KeyringError)

    /// Throws unless `result` is a success, and frees its message.
    ///
    /// - Parameter mayPrompt: Whether the call can wait for the user.
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

    /// Whether a session kept from an earlier call may be the cause: the service may have quit or
    /// restarted since.
    var mayBeStale: Bool {
        guard case .reported(let status, _) = self else { return false }
        return status != ZG_SECRET_TIMED_OUT && status != ZG_SECRET_DISMISSED
            && status != ZG_SECRET_LOCKED
    }

    /// Whether an item, or the session, no longer exists.
    var isGone: Bool {
        guard case .reported(let status, _) = self else { return false }
        return status == ZG_SECRET_GONE
    }

    var keyringError: KeyringError {
        switch self {
        case .keyring(let error): error
        case .unanswered:
            KeyringError(.locked, "the keyring is locked, and its prompt was not answered in time")
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
            KeyringError(.noBus, "cannot connect to the session bus" + detail)
        case ZG_SECRET_NO_PROVIDER:
            KeyringError(.noProvider, "there is no Secret Service on the session bus" + detail)
        case ZG_SECRET_LOCKED: KeyringError(.locked, "the keyring is locked")
        case ZG_SECRET_DISMISSED:
            KeyringError(
                .locked, "the keyring is locked: its prompt was dismissed or could not be shown")
        case ZG_SECRET_TIMED_OUT:
            KeyringError(.failed, "the Secret Service did not respond in time")
        case ZG_SECRET_GONE:
            KeyringError(.failed, "the Secret Service no longer has the item" + detail)
        case ZG_SECRET_DISCONNECTED:
            KeyringError(.failed, "the Secret Service quit during the call" + detail)
        default: KeyringError(.failed, "the Secret Service reported a failure" + detail)
        }
    }

    /// Returns foreign text without control characters, truncated to 200 characters.
    private static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar in
            scalar.properties.generalCategory == .control ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
