internal import Sealing
package import Vault
internal import VercelAPI

/// A likely mistake in a value or a name, found without keeping any of the value. The one place for
/// all commands that store values: `set`, `edit`, `import`, `pull`, `rotate`, `doctor`.
package struct ValueWarning: Hashable, Sendable {
    /// The kind of warning, for scripts; the worst first.
    package enum Code: String, CaseIterable, Sendable {
        case placeholder
        case ciphertext = "encrypted-value"
        case cutPEM = "cut-pem"
        case publicPrefix = "public-prefix"
        case overPlatformLimit = "over-platform-limit"
        case reservedName = "reserved-name"
        case nodeEnvironment = "node-env"
        case unfitForHeader = "unfit-for-header"
        case quotesAround = "quotes-around"
        case blankAtEnds = "blank-at-ends"
        case invisibleAtEnds = "invisible-at-ends"
        case emptyValue = "empty-value"
    }

    package let code: Code
    /// One sentence with the key.
    package let message: String

    /// Whether a build tool embeds the variable in what browsers load.
    package static func hasPublicPrefix(_ name: String) -> Bool {
        PublicPrefix(of: name) != nil
    }

    /// Whether a build tool embeds the variable in what browsers load, and its name does not look
    /// like that of a secret.
    package static func isPublic(_ name: String) -> Bool {
        hasPublicPrefix(name) && !looksSecret(name)
    }

    /// Returns the warnings about a value of a variable.
    ///
    /// - Parameters:
    ///   - label: How the messages call the variable; nil for its name.
    ///   - scope: Where the value applies; nil if that is not known.
    package static func warnings(
        about value: RawSpan, of name: String, label: String? = nil, in scope: Scope? = nil
    ) -> [ValueWarning] {
        let label = label ?? name
        var found = ofContent(value, name, label)
        found += ofEnds(value, label)
        if let reserved = reservedName(name, label: label) { found.append(reserved) }
        if let tooLong = sizeWarning(byteCount: value.byteCount, of: label) {
            found.append(tooLong)
        }
        if name == "NODE_ENV", scope?.targets.contains(.production) ?? false,
            !value.equals("production")
        {
            found.append(
                .init(
                    code: .nodeEnvironment,
                    message:
                        "The value of \(label) is not production, so frameworks run in another mode in production."
                ))
        }
        if name == "CRON_SECRET", !canBeInHeader(value) {
            found.append(
                .init(
                    code: .unfitForHeader,
                    message:
                        "The value of \(label) contains a character that no HTTP header can carry, so Vercel cannot send it to cron jobs."
                ))
        }
        return found
    }

    private static func ofContent(
        _ value: RawSpan, _ name: String, _ label: String
    ) -> [ValueWarning] {
        var found: [ValueWarning] = []
        func add(_ code: Code, _ message: String) {
            found.append(ValueWarning(code: code, message: message))
        }
        if value.byteCount == 0 { add(.emptyValue, "\(label) has an empty value.") }
        if FileStandIns.isPlaceholder(value) {
            add(
                .placeholder,
                "The value of \(label) is a placeholder that programs show for a sensitive value.")
        }
        if isCiphertextOrReference(value, of: name) {
            add(
                .ciphertext,
                "The value of \(label) is encrypted, or refers to a secret elsewhere; programs get it unchanged."
            )
        }
        if value.contains("-----BEGIN "), !value.contains("-----END ") {
            add(.cutPEM, "The value of \(label) contains a PEM block without an end line.")
        }
        if hasPublicPrefix(name), looksSecret(name) {
            add(.publicPrefix, "\(label) looks like a secret, but its prefix makes it public.")
        }
        return found
    }

    private static func ofEnds(_ value: RawSpan, _ label: String) -> [ValueWarning] {
        let count = value.byteCount
        guard count > 0 else { return [] }
        var found: [ValueWarning] = []
        func add(_ code: Code, _ message: String) {
            found.append(ValueWarning(code: code, message: message))
        }
        if isBlank(value.byte(at: 0)) || isBlank(value.byte(at: count - 1)) {
            add(
                .blankAtEnds,
                "The value of \(label) starts or ends with a space, a tab or a line break.")
        }
        if invisible.contains(where: { value.starts(with: $0) || value.ends(with: $0) }) {
            add(
                .invisibleAtEnds,
                "The value of \(label) starts or ends with an invisible character or a typographic quote."
            )
        }
        if count >= 2, value.byte(at: 0) == value.byte(at: count - 1),
            [0x22, 0x27, 0x60].contains(value.byte(at: 0))
        {
            add(
                .quotesAround,
                "The value of \(label) has quotes around it, which become part of the value.")
        }
        return found
    }

    /// Returns a warning if Vercel reserves a name, so that no push can send the variable.
    package static func reservedName(_ name: String, label: String? = nil) -> ValueWarning? {
        EnvironmentVariableRules.reservedKeys.contains(name)
            ? ValueWarning(
                code: .reservedName,
                message: "Vercel reserves the name \(label ?? name), so it cannot be pushed.") : nil
    }

    /// Returns a warning if a value alone exceeds Vercel's total limit of 64 KiB.
    package static func sizeWarning(byteCount: Int, of name: String) -> ValueWarning? {
        byteCount > 64 << 10
            ? ValueWarning(
                code: .overPlatformLimit,
                message: "The value of \(name) is over 64 KiB and cannot be pushed.") : nil
    }

    /// Returns whether a value is not the secret itself: ciphertext of dotenvx, sops or Jasypt, a
    /// reference of 1Password or vals, or a variable that sops or dotenv-vault keep for themselves.
    package static func isCiphertextOrReference(_ value: RawSpan, of name: String) -> Bool {
        if name.utf8.starts(with: "sops_".utf8) || name.utf8.starts(with: "DOTENV_VAULT".utf8) {
            return true
        }
        return value.starts(with: "encrypted:") && value.byteCount > 10
            || value.starts(with: "ENC[") && value.ends(with: "]")
            || value.starts(with: "ENC(") && value.ends(with: ")")
            || value.starts(with: "op://") && value.byteCount > 5
            || value.starts(with: "ref+") && value.contains("://")
    }

    /// Returns whether a name contains a word that is typical for secrets.
    static func looksSecret(_ name: String) -> Bool {
        let words = ["SECRET", "PASSWORD", "PRIVATE", "TOKEN", "CREDENTIAL"]
        return words.contains { name.contains($0) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// Characters that copying from a page or a chat adds, and that no one sees.
    private static let invisible: [StaticString] = [
        "\u{A0}", "\u{AD}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{2018}",
        "\u{2019}", "\u{201C}", "\u{201D}", "\u{2028}", "\u{2029}", "\u{202F}", "\u{2060}",
        "\u{3000}", "\u{FEFF}",
    ]

    private static func canBeInHeader(_ value: RawSpan) -> Bool {
        (0..<value.byteCount).allSatisfy { (0x20...0x7E).contains(value.byte(at: $0)) }
            && !(value.byteCount > 0
                && (isBlank(value.byte(at: 0)) || isBlank(value.byte(at: value.byteCount - 1))))
    }
}

extension RawSpan {
    func equals(_ text: StaticString) -> Bool {
        byteCount == text.utf8CodeUnitCount && starts(with: text)
    }

    func starts(with text: StaticString) -> Bool { has(text, at: 0) }

    func ends(with text: StaticString) -> Bool {
        has(text, at: byteCount - text.utf8CodeUnitCount)
    }

    func contains(_ text: StaticString) -> Bool {
        (0..<max(byteCount - text.utf8CodeUnitCount + 1, 0)).contains { has(text, at: $0) }
    }

    /// Returns whether `text` is at an offset, which need not be in bounds.
    private func has(_ text: StaticString, at start: Int) -> Bool {
        guard start >= 0, start + text.utf8CodeUnitCount <= byteCount else { return false }
        return text.withUTF8Buffer { wanted in
            for offset in 0..<wanted.count
            where unsafe byte(at: start + offset) != wanted[offset] {
                return false
            }
            return true
        }
    }
}
