internal import CMicroHTTPD

/// Addresses of those who connect, as texts of one form.
enum PeerAddress {
    static func isLoopback(_ address: String) -> Bool {
        address == "::1" || address.hasPrefix("127.")
    }

    /// An address as somebody wrote it in its one form; nil for what is none.
    static func normal(_ written: String) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe zg_normal_address(written, &text, 64) != 0 else { return nil }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Who is behind a proxy, by its `X-Forwarded-For`: the last entry is the proxy's own, whatever
    /// stands before may be made up.
    static func client(of field: String) -> String? {
        guard let last = field.split(separator: ",").last else { return nil }
        return normal(String(last.filter { $0 != " " }))
    }
}
