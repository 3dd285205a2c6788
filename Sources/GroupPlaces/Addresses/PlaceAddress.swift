internal import Glibc
internal import SystemFiles

/// The address of a place, as a user gives it and a vault stores it.
package struct PlaceAddress: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// An absolute path of a folder.
        case directory
        /// An absolute path or `file://` URL of a bare git repository.
        case repository
        case https, http, ssh
    }

    package let kind: Kind
    /// What git gets. Begins neither with `-` nor with a space, and contains no
    /// password.
    package let text: String
    /// What a vault stores: of a repository its URL, so that another directory at its path, as where a disk
    /// is not mounted, is not taken for the place.
    package var stored: String { kind == .repository ? "file://\(text)" : text }
    /// The place for people, without a user name in front of a host of HTTPS.
    package let description: String

    private init(_ kind: Kind, _ text: String, description: String? = nil) {
        (self.kind, self.text) = (kind, text)
        self.description = description ?? text
    }

    /// The longest text that a vault stores, in bytes.
    private static let longestText = 4_096

    /// Parses what a user gave, but not `.`: see `ofOrigin`.
    ///
    /// - Parameter directory: The absolute path that relative paths start from.
    /// - Throws: ``PlaceError/Code/invalidAddress``, ``PlaceError/Code/insecureAddress`` or
    ///   ``PlaceError/Code/unreachable`` for a path that does not exist.
    package static func parse(
        _ text: String, relativeTo directory: String
    ) throws(PlaceError) -> PlaceAddress {
        guard !text.isEmpty, text.utf8.count <= longestText,
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F) ~= $0.value })
        else {
            throw PlaceError(
                .invalidAddress,
                "The place is empty, too long, or contains control characters.")
        }
        guard !text.hasPrefix("-"), !text.hasPrefix(" ") else {
            throw PlaceError(
                .invalidAddress,
                "A place cannot begin with a hyphen or a space. Write ./ before a path.")
        }
        if let range = separator("://", in: text) {
            return try url(
                scheme: String(text[..<range.lowerBound]).lowercased(),
                rest: String(text[range.upperBound...]), text, relativeTo: directory)
        }
        if separator("::", in: text) != nil {
            throw PlaceError(
                .insecureAddress,
                "Places with git remote helpers (name::address) are not supported."
                    + " Use https, ssh or a path.")
        }
        // git's rule: a colon before the first slash means a host.
        if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
            return try secureShell(
                authority: String(text[..<colon]), path: String(text[text.index(after: colon)...]),
                text)
        }
        return try path(text.hasPrefix("/") ? text : "\(directory)/\(text)")
    }

    private static func separator(_ mark: String, in text: String) -> Range<String.Index>? {
        var start = text.startIndex
        while start < text.endIndex {
            if text[start...].hasPrefix(mark) {
                return start..<text.index(start, offsetBy: mark.count)
            }
            // After a slash it is part of a path.
            if text[start] == "/" { return nil }
            start = text.index(after: start)
        }
        return nil
    }

    private static func url(
        scheme: String, rest: String, _ text: String, relativeTo directory: String
    ) throws(PlaceError) -> PlaceAddress {
        switch scheme {
        case "file":
            guard rest.hasPrefix("/") else {
                throw PlaceError(
                    .invalidAddress,
                    "A file URL needs an absolute path: file:///path/to/repository.")
            }
            let place = try path(rest)
            guard place.kind == .repository else {
                throw PlaceError(
                    .unreachable, "There is no git repository at \(place.text).")
            }
            return place
        case "https", "http", "ssh": break
        default:
            throw PlaceError(
                .insecureAddress,
                "Places with the scheme \(scheme.filter(\.isLetter).prefix(20)):// are not supported."
                    + " Use https, ssh or a path.")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = String(rest[..<slash])
        if scheme == "ssh" {
            return try secureShell(authority: authority, path: String(rest[slash...]), text)
        }
        let (user, host) = split(authority)
        try checkHost(host)
        if let user {
            guard !user.contains(":"), !looksLikeToken(user) else {
                throw PlaceError(
                    .insecureAddress,
                    "The address contains a password or a token. Remove it, and use a git "
                        + "credential helper or ssh instead.")
            }
            try checkWord(user)
        }
        let shown = "\(scheme)://\(host)\(rest[slash...])"
        guard scheme == "http" else { return PlaceAddress(.https, text, description: shown) }
        guard isLoopback(host) else {
            throw PlaceError(.insecureAddress, "http:// is not encrypted. Use https:// or ssh://.")
        }
        return PlaceAddress(.http, text, description: shown)
    }

    private static func secureShell(
        authority: String, path: String, _ text: String
    ) throws(PlaceError) -> PlaceAddress {
        let (user, host) = split(authority)
        try checkHost(host)
        if let user {
            guard !user.contains(":") else {
                throw PlaceError(
                    .insecureAddress,
                    "The address contains a password. Remove it, and use an SSH key instead.")
            }
            try checkWord(user)
        }
        guard !path.isEmpty, path != "/", !path.hasPrefix("-"), !path.hasPrefix("/-") else {
            throw PlaceError(
                .invalidAddress, "The address does not contain the path of a repository.")
        }
        return PlaceAddress(.ssh, text)
    }

    private static func split(_ authority: String) -> (user: String?, host: String) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, authority) }
        return (String(authority[..<at]), String(authority[authority.index(after: at)...]))
    }

    /// Checks a host with an optional port. ssh takes a host that begins with `-` as an option.
    private static func checkHost(_ host: String) throws(PlaceError) {
        let allowed = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: byte >= 0x80
            }
        }
        guard allowed, !host.isEmpty, !host.hasPrefix("-"), !host.hasPrefix(":") else {
            throw PlaceError(.invalidAddress, "The address has no valid host name.")
        }
    }

    private static func checkWord(_ user: String) throws(PlaceError) {
        let allowed = user.utf8.allSatisfy { $0 > 0x20 && !"/\\?#'\"`$%".utf8.contains($0) }
        guard allowed, !user.isEmpty, !user.hasPrefix("-") else {
            throw PlaceError(.invalidAddress, "The address has no valid user name.")
        }
    }

    /// Hosts accept tokens in place of a user name.
    private static func looksLikeToken(_ user: String) -> Bool {
        user.utf8.count >= 40
            || ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "gl", "ATBB", "ATCTT"]
                .contains { user.hasPrefix($0) && user.utf8.count >= 20 }
    }

    private static func isLoopback(_ host: String) -> Bool {
        let name: Substring
        if host.hasPrefix("[") {
            name = host.prefix { $0 != "]" }.dropFirst()
        } else {
            name = host.prefix { $0 != ":" }
        }
        if name == "localhost" || name == "::1" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func path(_ path: String) throws(PlaceError) -> PlaceAddress {
        let path = normalized(path)
        let facts = try SystemError.mapped(try FileFacts(path)) {
            $0.number == ENOENT
                ? PlaceError(
                    .unreachable,
                    "Cannot open \(path): no such directory. Create it, or mount it.")
                : PlaceError($0, "open \(path)")
        }
        guard facts.kind == .directory else {
            throw PlaceError(.invalidAddress, "\(path) is not a directory.")
        }
        let isRepository =
            (try? FileFacts("\(path)/objects"))?.kind == .directory
            && (try? FileFacts("\(path)/refs"))?.kind == .directory
            && (try? FileFacts("\(path)/HEAD"))?.kind == .regular
        if isRepository { return PlaceAddress(.repository, path) }
        guard (try? FileFacts("\(path)/.git", followsLinks: false)) == nil else {
            throw PlaceError(
                .invalidAddress,
                "The directory is a git work tree. Give a bare repository, a directory outside of"
                    + " it, or . for its origin.")
        }
        return PlaceAddress(.directory, path)
    }

    /// Removes empty parts and `.`. Keeps `..`, which may follow a symbolic link.
    private static func normalized(_ path: String) -> String {
        "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }
}
