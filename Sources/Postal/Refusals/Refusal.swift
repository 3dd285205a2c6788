/// Why a request is refused. The words are the same for everybody, and hold nothing of the request.
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
        case .invalidEvent: "The body is no event of the platform."
        case .signature: "The signature does not fit, or there is no such hook."
        case .account: "The event is of another account than the hook."
        case .tooOld: "The event is too old, or of the future."
        case .tooLong: "The body is too long."
        case .store: "It could not be kept. Send it again."
        case .invite: "The invite is unknown, used or expired."
        case .device: "The token is refused."
        case .invalidRequest: "The request has another form than it must have."
        case .tooManyAttempts: "Too many attempts were refused. Try again later."
        case .busy: "The relay has too much to do. Try again later."
        case .notFound: "There is nothing here."
        case .method: "This cannot be done here."
        }
    }

    /// When to come again, in seconds.
    var retryAfter: Int? {
        switch self {
        case .tooManyAttempts: 60
        case .store, .busy: 5
        default: nil
        }
    }
}
