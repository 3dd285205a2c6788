/// A parsed `http` URL on this machine.
struct WebhookAddress: Sendable, Equatable {
    let host: String
    let port: UInt16
    /// The path with its query, at least `/`.
    let target: String

    init?(_ url: String) {
        guard url.lowercased().hasPrefix("http://"),
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        let rest = url.dropFirst(7)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let parts = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, ["127.0.0.1", "localhost"].contains(parts[0].lowercased()) else {
            return nil
        }
        host = String(parts[0])
        guard let port = parts.count == 2 ? UInt16(parts[1]) : 80, port > 0 else { return nil }
        self.port = port
        let path = String(rest[end...])
        target = path.hasPrefix("/") ? path : "/" + path
    }
}
