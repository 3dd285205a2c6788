/// Why a request is refused. Messages never contain anything from the request.
enum Refusal: String, CaseIterable, Sendable {
    case invalidEvent = "invalid_event"
    case signature = "signature_refused"
    case account = "account_refused"
    case tooOld = "too_old"
    case tooLong = "too_long"
    case store = "store_unavailable"
    case invite = "invite_refused"
    case device = "device_refused"
    case invalidRequest = "invalid_request"
    case tooManyAttempts = "too_many_attempts"
    case busy = "busy"
    case notFound = "not_found"
    case method = "method_not_allowed"

    var status: UInt32 {
        switch self {
        case .invalidEvent, .invalidRequest: 400
        case .signature, .device: 401
        case .account, .invite: 403
        case .notFound: 404
        case .method: 405
        case .tooOld: 410
        case .tooLong: 413
        case .tooManyAttempts: 429
        case .store, .busy: 503
        }
    }

    var message: String {
        switch self {
        case .invalidEvent: "The body is not a Vercel event."
        case .signature: "The signature is invalid, or the webhook does not exist."
        case .account: "The event and the webhook belong to different accounts."
        case .tooOld: "The event is too old or in the future."
        case .tooLong: "The body is too large."
        case .store: "The event could not be stored. Send it again."
        case .invite: "The invite is unknown, used or expired."
        case .device: "The token is invalid."
        case .invalidRequest: "The request is malformed."
        case .tooManyAttempts: "Too many failed attempts. Try again later."
        case .busy: "The relay is overloaded. Try again later."
        case .notFound: "Not found."
        case .method: "Method not allowed."
        }
    }

    /// Seconds until the client should retry.
    var retryAfter: Int? {
        switch self {
        case .tooManyAttempts: 60
        case .store, .busy: 5
        default: nil
        }
    }
}
