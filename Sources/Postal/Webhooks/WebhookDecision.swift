/// What a signed webhook leads to.
enum WebhookDecision: Sendable {
    /// It is to be kept for the account's devices.
    case accept(AcceptedEvent)
    /// Its type is none that devices are told of.
    case unknownType
    /// It is refused, always with the same answer.
    case refuse(Refusal)

    /// The longest time that a webhook may be under way.
    static let oldestMilliseconds: Int64 = 24 * 3_600_000
    /// How far the platform's clock may be ahead of the relay's.
    static let aheadMilliseconds: Int64 = 10 * 60_000

    /// Looks at a body whose signature holds.
    ///
    /// - Parameters:
    ///   - account: Whose the hook is.
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
        // The number has at most 18 digits, so that no sum here is too large.
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
        guard let text = event.fittingText else {
            self = .refuse(.invalidEvent)
            return
        }
        self = .accept(
            AcceptedEvent(account: account, id: webhook.id, acceptedAt: now, text: text))
    }
}
