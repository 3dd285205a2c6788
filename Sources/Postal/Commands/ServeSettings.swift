internal import CommandLineKit

/// What the options of `serve` say.
struct ServeSettings {
    let location: StoreLocation
    let secrets: String
    var server: HTTPServer.Settings
    /// Whether somebody asked for just so many connections.
    let wantsConnections: Bool
    /// As it stands in an address of the web.
    let host: String

    var shownAddress: String { "\(host):\(server.port)" }

    init(_ command: ParsedCommand, _ context: PostalContext) throws {
        location = try StoreLocation(command, context)
        guard
            let secrets = command.value("webhook-secrets")
                ?? context.variable("CREDENTIALS_DIRECTORY")
        else {
            throw PostalError(
                .usage, "It is not said where the secrets of webhooks are.",
                hint: "Name their directory with --webhook-secrets.")
        }
        self.secrets = secrets
        let written = command.value("listen") ?? "127.0.0.1:8787"
        guard let colon = written.lastIndex(of: ":"),
            let port = UInt16(written[written.index(after: colon)...]),
            let address = PeerAddress.normal(Self.withoutBrackets(written[..<colon]))
        else {
            throw PostalError(
                .usage, "--listen wants an address of this machine and a port.",
                hint: "As in 127.0.0.1:8787 or [::1]:8787.")
        }
        var proxies: Set<String> = []
        for proxy in command.values("behind-proxy") {
            guard let proxy = PeerAddress.normal(proxy) else {
                throw PostalError(.usage, "--behind-proxy wants the addresses of proxies.")
            }
            proxies.insert(proxy)
        }
        guard PeerAddress.isLoopback(address) || !proxies.isEmpty else {
            throw PostalError(
                .usage,
                "Tokens would cross the network in clear: this address is not the machine's own.",
                hint: "Put a TLS proxy before it and name it with --behind-proxy ADDR.")
        }
        host = address.contains(":") ? "[\(address)]" : address
        var server = HTTPServer.Settings(address: address, port: port, peers: proxies)
        wantsConnections = command.has("connections")
        if let limit = command.integer("connections") { server.connectionLimit = UInt32(limit) }
        self.server = server
    }

    private static func withoutBrackets(_ text: Substring) -> String {
        text.hasPrefix("[") && text.hasSuffix("]")
            ? String(text.dropFirst().dropLast()) : String(text)
    }
}
