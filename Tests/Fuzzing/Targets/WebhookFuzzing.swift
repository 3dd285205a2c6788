import Postal
import PostalProtocol

/// Properties of reading any webhook body.
enum WebhookFuzzing {
    /// An accepted body makes an event that a device reads back unchanged, that is not too long,
    /// and whose texts are cut and plain.
    static func exercise(_ input: [UInt8]) throws {
        guard let webhook = WebhookEvent(body: input) else { return }
        guard !webhook.id.isEmpty, webhook.id.unicodeScalars.count <= PostalEvent.textLimit else {
            throw FuzzFinding("an id is too long")
        }
        guard let event = webhook.event(account: "team_a") else { return }
        guard let text = event.shortenedSealedText else {
            throw FuzzFinding("an event does not fit")
        }
        guard text.count <= PostalEvent.byteLimit, text.count % PostalEvent.padding == 0 else {
            throw FuzzFinding("an event has \(text.count) bytes")
        }
        guard let read = PostalEvent(sealedText: text) else {
            throw FuzzFinding("an event cannot be read back")
        }
        guard read.id == event.id, read.type == event.type, read.createdAt == event.createdAt,
            read.deployment?.id == event.deployment?.id, read.project?.id == event.project?.id,
            read.variable?.key == event.variable?.key
        else { throw FuzzFinding("an event is read back as another") }
    }
}
