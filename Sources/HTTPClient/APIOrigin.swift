/// The API's scheme, host and port, checked so that a token may be sent there.
///
/// Plain `http` is accepted for loopback addresses only.
package struct APIOrigin: Hashable, Sendable, CustomStringConvertible {
    package static var vercel: APIOrigin {
        APIOrigin(isSecure: true, host: "api.vercel.com", port: 443)
    }

    /// Why a text is not a valid origin.
    package enum Problem: Error, Equatable, Sendable {
        /// It starts with neither `https://` nor `http://`.
        case noScheme
        /// It has a user name or password, or a path, query or fragment.
        case notAnOrigin
        /// The host is missing or has an invalid character.
        case invalidHost
        /// The port is not in 1 to 65535.
        case invalidPort
        /// It is plain `http` to another machine.
        case notSecure
    }

    package let isSecure: Bool
    /// A name or address in lower case; an IPv6 address has no brackets.
    package let host: String
    package let port: Int

    private init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// Parses `https://host`, `https://host:port`, or the same with `http` and a loopback address.
    /// One trailing slash is allowed.
    package init(_ text: String) throws(Problem) {
        let isSecure: Bool
        var rest: Substring
        if text.prefix(8).lowercased() == "https://" {
            (isSecure, rest) = (true, text.dropFirst(8))
        } else if text.prefix(7).lowercased() == "http://" {
            (isSecure, rest) = (false, text.dropFirst(7))
        } else {
            throw .noScheme
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains(where: { "@/?#\\".contains($0) }) else { throw .notAnOrigin }
        var port = isSecure ? 443 : 80
        let host: String
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw .invalidHost }
            host = rest[rest.index(after: rest.startIndex)..<end].lowercased()
            guard Self.isIPv6(host) else { throw .invalidHost }
            let tail = rest[rest.index(after: end)...]
            if !tail.isEmpty {
                guard tail.hasPrefix(":") else { throw .invalidHost }
                port = try Self.port(tail.dropFirst())
            }
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2, let name = parts.first else { throw .invalidHost }
            host = name.lowercased()
            guard Self.isHost(host) else { throw .invalidHost }
            if parts.count == 2 { port = try Self.port(parts[1]) }
        }
        guard isSecure || Self.isLoopback(host) else { throw .notSecure }
        self.init(isSecure: isSecure, host: host, port: port)
    }

    /// The origin as a URL, without the scheme's default port. Parses back to an equal origin.
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let scheme = isSecure ? "https" : "http"
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }

    private static func port(_ text: Substring) throws(Problem) -> Int {
        guard !text.isEmpty, text.utf8.count <= 5, text.utf8.allSatisfy(\.isASCIIDigit),
            let port = Int(text), (1...65535).contains(port)
        else { throw .invalidPort }
        return port
    }

    private static func isHost(_ host: String) -> Bool {
        let bytes = host.utf8
        guard (1...253).contains(bytes.count), !host.hasPrefix("."), !host.hasPrefix("-"),
            !host.contains("..")
        else { return false }
        return bytes.allSatisfy {
            $0.isASCIIDigit || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z"))
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
        }
    }

    private static func isIPv6(_ host: String) -> Bool {
        (2...45).contains(host.utf8.count) && host.contains(":")
            && host.utf8.allSatisfy {
                $0.isASCIIDigit || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
                    || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
    }

    /// Returns whether `host` always means this machine. libcurl resolves `localhost` itself; any
    /// other name would go through DNS and is not trusted.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "127" else { return false }
        return parts.allSatisfy {
            $0.utf8.count <= 3 && $0.utf8.allSatisfy(\.isASCIIDigit) && (Int($0) ?? 256) < 256
                && ($0 == "0" || !$0.hasPrefix("0"))
        }
    }
}
