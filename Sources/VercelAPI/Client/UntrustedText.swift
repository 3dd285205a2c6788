/// Makes text from the network fit to be shown.
package enum UntrustedText {
    /// What stands in place of a text that repeats a value.
    package static let withheld = "(withheld, for it repeats a value)"
    /// What stands in place of a text that could not be held against the values.
    package static let unchecked = "(not shown, for it may repeat a value)"
    /// The longest message that is kept, in characters of Unicode.
    package static let maximumLength = 300

    /// The text without control, format and direction characters, on one line, and shortened; withheld
    /// if it repeats a secret, or could not be held against those that it may repeat.
    static func message(_ text: String, _ secrets: AnswerSecrets) -> String? {
        let clean = cleaned(text)
        guard !clean.isEmpty else { return nil }
        guard secrets.canCheck else { return unchecked }
        // What is shown is the text without signs that nobody sees: they could stand between its letters.
        if secrets.repeats(text) || secrets.repeats(clean) { return withheld }
        var scalars = clean.unicodeScalars
        guard scalars.count > maximumLength else { return clean }
        scalars.removeLast(scalars.count - maximumLength)
        return String(scalars) + "…"
    }

    /// The text if it is a name that was sent, or a plain word such as a host's name that repeats no
    /// secret.
    static func word(_ text: String, _ secrets: AnswerSecrets) -> String? {
        if secrets.names.contains(text) { return text }
        let isPlain = text.utf8.allSatisfy { byte in
            isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ":")
        }
        guard isPlain, (1...250).contains(text.utf8.count), secrets.canCheck,
            !secrets.repeats(text)
        else { return nil }
        return text
    }

    /// Codes that Vercel is known to answer with. Where a code cannot be held against the values, one of
    /// these is shown and no other: a value may look like a code.
    private static let knownCodes: Set<String> = [
        "alias_failed", "bad_request", "challenge_required", "conflict", "deployment_not_found",
        "env_already_exists", "env_conflict", "existing_key_and_target", "forbidden", "gone",
        "insufficient_user_authentication", "internal_server_error", "invalid_event", "invalid_url",
        "max_envs_exceeded", "missing_id", "not_found", "payment_required", "rate_limited",
        "request_entity_too_large", "service_unavailable", "team_unauthorized", "too_many_ids",
        "too_many_keys", "unauthorized", "unprocessable_entity", "user_auth_required",
    ]

    /// An error's code such as `ENV_CONFLICT`.
    static func code(_ text: String, _ secrets: AnswerSecrets) -> String? {
        if secrets.canCheck { return word(text, secrets) }
        return knownCodes.contains(text.lowercased()) && !secrets.repeats(text) ? text : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    /// The text if it is a name that was sent; else as a message, if it could be checked.
    static func name(_ text: String, _ secrets: AnswerSecrets) -> String? {
        if secrets.names.contains(text) { return text }
        return secrets.canCheck ? message(text, secrets) : nil
    }

    private static func cleaned(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(8 * maximumLength) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
                .privateUse, .surrogate, .unassigned:
                // A blank in its place keeps words apart; two in a row are one too many.
                if let last = clean.last, last != " " { clean.append(" ") }
            default: clean.append(scalar)
            }
        }
        while clean.last == " " { clean.removeLast() }
        return String(clean)
    }
}
