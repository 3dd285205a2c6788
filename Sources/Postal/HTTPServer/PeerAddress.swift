internal import CMicroHTTPD

/// Client addresses in canonical text form.
enum PeerAddress {
    static func isLoopback(_ address: String) -> Bool {
        address == "::1" || address.hasPrefix("127.")
    }

    /// Returns an address in canonical form; nil if it is invalid.
    static func normal(_ written: String) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe zg_normal_address(written, &text, 64) != 0 else { return nil }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the client behind a proxy, from `X-Forwarded-For`. Only the last entry comes from
    /// the proxy; earlier ones may be forged.
    static func client(of field: String) -> String? {
        guard let last = field.split(separator: ",").last else { return nil }
        return normal(String(last.filter { $0 != " " }))
    }
}
