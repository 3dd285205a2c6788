/// The outcome of a correctly signed webhook.
enum WebhookDecision: Sendable {
    /// Store it for the account's devices.
    case accept(AcceptedEvent)
    /// Devices do not receive events of this type.
    case unknownType
    case refuse(Refusal)

    /// How old a webhook may be.
    static let oldestMilliseconds: Int64 = 24 * 3_600_000
    /// How far Vercel's clock may be ahead of the relay's.
    static let aheadMilliseconds: Int64 = 10 * 60_000

    /// - Parameters:
    ///   - account: The webhook's account.
    ///   - now: The relay's clock, in milliseconds since 1970.
    init(body: [UInt8], account: String, now: Int64) {
        guard let webhook = WebhookEvent(body: body) else {
            self = .refuse(.invalidEvent)
            return
        }
        guard webhook.account == account else {
            self = .refuse(.account)
            return
        }
        // The number has at most 18 digits, so that no sum here overflows.
        guard webhook.createdAt >= now - Self.oldestMilliseconds,
            webhook.createdAt <= now + Self.aheadMilliseconds
        else {
            self = .refuse(.tooOld)
            return
        }
        guard let event = webhook.event(account: account) else {
            self = .unknownType
            return
        }
        guard let text = event.shortenedSealedText else {
            self = .refuse(.invalidEvent)
            return
        }
        self = .accept(
            AcceptedEvent(account: account, id: webhook.id, acceptedAt: now, text: text))
    }
}
