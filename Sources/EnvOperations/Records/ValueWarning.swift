internal import Sealing

/// A likely mistake in a value, found without keeping any of it.
package struct ValueWarning: Equatable, Sendable {
    /// The kind of warning, for scripts.
    package enum Code: String, Sendable {
        case blankAtEnds = "blank-at-ends"
        case quotesAround = "quotes-around"
        case placeholder
        case cutPEM = "cut-pem"
        case publicPrefix = "public-prefix"
        case overPlatformLimit = "over-platform-limit"
        case emptyValue = "empty-value"
    }

    package let code: Code
    /// One sentence with the key.
    package let message: String

    /// Prefixes of variables that build tools embed in what browsers load.
    private static let publicPrefixes = [
        "NEXT_PUBLIC_", "VITE_", "REACT_APP_", "PUBLIC_", "NUXT_PUBLIC_", "EXPO_PUBLIC_", "GATSBY_",
        "VUE_APP_",
    ]

    /// Whether a build tool embeds the variable in what browsers load.
    package static func hasPublicPrefix(_ name: String) -> Bool {
        publicPrefixes.contains { name.hasPrefix($0) }
    }

    /// Whether a build tool embeds the variable in what browsers load, and its name does not look
    /// like that of a secret.
    package static func isPublic(_ name: String) -> Bool {
        hasPublicPrefix(name) && !looksSecret(name)
    }

    /// Returns the warnings about a value for the key `name`.
    package static func warnings(about value: RawSpan, of name: String) -> [ValueWarning] {
        var found: [ValueWarning] = []
        func add(_ code: Code, _ message: String) {
            found.append(ValueWarning(code: code, message: message))
        }
        let count = value.byteCount
        if count == 0 { add(.emptyValue, "\(name) has an empty value.") }
        if count > 0, isBlank(value.byte(at: 0)) || isBlank(value.byte(at: count - 1)) {
            add(
                .blankAtEnds,
                "The value of \(name) starts or ends with a space, a tab or a line break.")
        }
        if count >= 2, value.byte(at: 0) == value.byte(at: count - 1),
            [0x22, 0x27, 0x60].contains(value.byte(at: 0))
        {
            add(
                .quotesAround,
                "The value of \(name) has quotes around it, which become part of the value.")
        }
        if equals(value, "[SENSITIVE]") {
            add(
                .placeholder,
                "The value of \(name) is the placeholder that Vercel shows for a sensitive value.")
        }
        if contains(value, "-----BEGIN "), !contains(value, "-----END ") {
            add(.cutPEM, "The value of \(name) contains a PEM block without an end line.")
        }
        if let tooLong = sizeWarning(byteCount: count, of: name) { found.append(tooLong) }
        if hasPublicPrefix(name), looksSecret(name) {
            add(.publicPrefix, "\(name) looks like a secret, but its prefix makes it public.")
        }
        return found
    }

    /// Returns a warning if a value alone exceeds Vercel's total limit of 64 KiB.
    package static func sizeWarning(byteCount: Int, of name: String) -> ValueWarning? {
        byteCount > 64 << 10
            ? ValueWarning(
                code: .overPlatformLimit,
                message: "The value of \(name) is over 64 KiB and cannot be pushed.") : nil
    }

    /// Returns whether a name contains a word that is typical for secrets.
    static func looksSecret(_ name: String) -> Bool {
        let words = ["SECRET", "PASSWORD", "PRIVATE", "TOKEN", "CREDENTIAL"]
        return words.contains { name.contains($0) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func equals(_ value: RawSpan, _ text: StaticString) -> Bool {
        value.byteCount == text.utf8CodeUnitCount && contains(value, text)
    }

    private static func contains(_ value: RawSpan, _ text: StaticString) -> Bool {
        let wanted = Array(text.description.utf8)
        return (0..<max(value.byteCount - wanted.count + 1, 0)).contains { start in
            wanted.indices.allSatisfy { value.byte(at: start + $0) == wanted[$0] }
        }
    }
}
