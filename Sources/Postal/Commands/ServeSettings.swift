internal import CommandLineKit

/// The parsed options of `serve`.
struct ServeSettings {
    let location: StoreLocation
    let secrets: String
    var server: HTTPServer.Settings
    /// Whether the user chose the number of connections.
    let choosesConnectionCount: Bool
    /// The host in URL notation.
    let host: String

    var shownAddress: String { "\(host):\(server.port)" }

    init(_ command: ParsedCommand, _ context: PostalContext) throws {
        location = try StoreLocation(command, context)
        guard
            let secrets = command.value("webhook-secrets")
                ?? context.variable("CREDENTIALS_DIRECTORY")
        else {
            throw PostalError(
                .usage, "No directory of webhook secrets given.",
                hint: "Specify the directory with --webhook-secrets DIR.")
        }
        self.secrets = secrets
        let written = command.value("listen") ?? "127.0.0.1:8787"
        guard let colon = written.lastIndex(of: ":"),
            let port = UInt16(written[written.index(after: colon)...]),
            let address = PeerAddress.normal(Self.withoutBrackets(written[..<colon]))
        else {
            throw PostalError(
                .usage, "--listen needs an IP address of this machine and a port.",
                hint: "For example 127.0.0.1:8787 or [::1]:8787.")
        }
        var proxies: Set<String> = []
        for proxy in command.values("behind-proxy") {
            guard let proxy = PeerAddress.normal(proxy) else {
                throw PostalError(.usage, "--behind-proxy needs the IP address of a proxy.")
            }
            proxies.insert(proxy)
        }
        guard PeerAddress.isLoopback(address) || !proxies.isEmpty else {
            throw PostalError(
                .usage,
                "This is not a local address, so tokens would cross the network in the clear.",
                hint: "Use a TLS proxy and specify its address with --behind-proxy ADDR.")
        }
        host = address.contains(":") ? "[\(address)]" : address
        var server = HTTPServer.Settings(address: address, port: port, peers: proxies)
        choosesConnectionCount = command.has("connections")
        if let limit = command.integer("connections") { server.connectionLimit = UInt32(limit) }
        self.server = server
    }

    private static func withoutBrackets(_ text: Substring) -> String {
        text.hasPrefix("[") && text.hasSuffix("]")
            ? String(text.dropFirst().dropLast()) : String(text)
    }
}
