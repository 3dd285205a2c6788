import Foundation

/// Replaces the desktop's password dialog (`org.gnome.keyring.SystemPrompter`) with a user who
/// declines every question.
package final class DecliningPrompter {
    private static let callback = "org.gnome.keyring.internal.Prompter.Callback"
    private let client: BusClient

    /// Starts answering on the bus of `keyring`.
    package init(for keyring: PrivateKeyring) throws {
        let client = try keyring.bus.client()
        try client.own("org.gnome.keyring.SystemPrompter")
        self.client = client
        Thread.detachNewThread {
            // Ends with the connection.
            while let message = try? client.receiveMessage() {
                if message.isCall { try? Self.answer(message, client) }
            }
        }
    }

    deinit {
        client.disconnect()
    }

    private static func answer(_ message: BusClient.Message, _ client: BusClient) throws {
        var body = message.body
        let path = body.text()
        try client.reply(to: message)
        switch message.member {
        case "BeginPrompting":
            // "Ready" for the first question: there is no answer yet.
            try client.send(
                message.sender, path, callback, "PromptReady",
                [.string(""), .noProperties, .string("")])
        case "PerformPrompt":
            try client.send(
                message.sender, path, callback, "PromptReady",
                [.string("no"), .noProperties, .string("")])
        default:
            try client.send(message.sender, path, callback, "PromptDone", [])
        }
    }
}
