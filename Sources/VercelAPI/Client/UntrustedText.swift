internal import HTTPClient

/// Sanitizes text from the network for display.
package enum UntrustedText {
    /// Replaces a text that contains a value.
    package static let withheld = "(withheld: it contains a value)"
    /// Replaces a text that could not be checked for values.
    package static let unchecked = "(withheld: it may contain a value)"
    /// The longest message, in Unicode scalars.
    package static let maximumLength = 300

    /// Returns `text` on one line, shortened and without control, format and direction characters.
    /// Returns a placeholder if it contains a secret, or could not be checked for all secrets that
    /// it may contain.
    static func message(_ text: String, _ secrets: ResponseSecrets) -> String? {
        let clean = cleaned(text)
        guard !clean.isEmpty else { return nil }
        guard secrets.canCheck else { return unchecked }
        // Both forms are checked: invisible characters could separate the letters of a value.
        if secrets.repeats(text) || secrets.repeats(clean) { return withheld }
        var scalars = clean.unicodeScalars
        guard scalars.count > maximumLength else { return clean }
        scalars.removeLast(scalars.count - maximumLength)
        return String(scalars) + "…"
    }

    /// Returns `text` if it is a name that was sent, or a plain word, such as a host name, without
    /// a secret.
    static func word(_ text: String, _ secrets: ResponseSecrets) -> String? {
        if secrets.names.contains(text) { return text }
        let isPlain = text.utf8.allSatisfy { byte in
            byte.isASCIILetter || byte.isASCIIDigit || "_-./:".utf8.contains(byte)
        }
        guard isPlain, (1...250).contains(text.utf8.count), secrets.canCheck,
            !secrets.repeats(text)
        else { return nil }
        return text
    }

    /// Known error codes of Vercel. If the values are locked, only these are shown, because a value
    /// may look like a code.
    private static let knownCodes: Set<String> = [
        "alias_failed", "bad_request", "challenge_required", "challenge_required_email_otp",
        "conflict", "deployment_not_found", "env_already_exists", "env_conflict",
        "existing_key_and_target", "forbidden", "gone",
        "insufficient_user_authentication", "internal_server_error", "invalid_event", "invalid_url",
        "max_envs_exceeded", "missing_id", "not_found", "payment_required", "rate_limited",
        "request_entity_too_large", "service_unavailable", "team_unauthorized", "too_many_ids",
        "too_many_keys", "unauthorized", "unprocessable_entity", "user_auth_required",
    ]

    /// Returns an error code such as `ENV_CONFLICT` if it may be shown.
    static func code(_ text: String, _ secrets: ResponseSecrets) -> String? {
        if secrets.canCheck { return word(text, secrets) }
        return knownCodes.contains(text.lowercased()) && !secrets.repeats(text) ? text : nil
    }

    /// Returns `text` if it is a name that was sent, else its sanitized form if it could be
    /// checked.
    static func name(_ text: String, _ secrets: ResponseSecrets) -> String? {
        if secrets.names.contains(text) { return text }
        return secrets.canCheck ? message(text, secrets) : nil
    }

    private static func cleaned(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * maximumLength) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
                .privateUse, .surrogate, .unassigned:
                // A space in its place keeps words apart; a second one is left out.
                if let last = clean.last, last != " " { clean.append(" ") }
            default: clean.append(scalar)
            }
        }
        while clean.last == " " { clean.removeLast() }
        return String(clean)
    }
}
