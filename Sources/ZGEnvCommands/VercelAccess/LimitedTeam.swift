internal import CommandLineKit
internal import JSON
internal import VercelAPI

/// A team that shuts the token out because of how its user signed in.
extension Team {
    /// Why and what to do; nil for an ordinary team.
    var limitation: (reason: String, remedy: String)? {
        guard let limitedBy else { return nil }
        let reasons = limitedBy.map { word in
            switch word {
            case "scope": "it requires single sign-on (SAML)"
            case "mfa": "it requires two-factor authentication"
            default: String(word.prefix(64))
            }
        }
        let why = reasons.isEmpty ? "" : " (limited: \(reasons.joined(separator: ", ")))"
        return (
            "The team \(slug) does not accept this token\(why).",
            "Sign in to the team on Vercel as it requires, then create a new token there and log in with it."
        )
    }

    /// The words of Vercel, or null for an ordinary team.
    var limitedByJSON: JSONValue { limitedBy.map { .strings($0) } ?? .null }

    func warnIfLimited(_ context: Context) {
        guard let limitation else { return }
        context.warn("limited-team", "\(limitation.reason) \(limitation.remedy)")
    }
}

extension VercelSession.Access {
    /// Returns the refusal by a limited team; nil if the team is not limited, or unknown.
    ///
    /// - Parameter team: Its slug or id.
    func limitation(ofTeam team: String) -> CommandError? {
        let teams = try? client.scoped(to: .personal).teams()
        let found = teams?.first { $0.slug == team || $0.id == team }
        return found?.limitation.map {
            CommandError(.unauthorized, $0.reason, hint: $0.remedy)
        }
    }
}
