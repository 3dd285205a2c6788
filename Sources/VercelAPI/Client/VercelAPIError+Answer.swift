package import HTTPClient

extension VercelAPIError {
    /// Creates the error of a response other than 2xx.
    ///
    /// - Parameter secrets: What no text of the error may contain.
    package init(answer: HTTPResponse, secrets: ResponseSecrets) {
        self.init(
            status: answer.status, headers: answer.headers,
            body: answer.body.withBytes { JSONDecoding.value(APIErrorBody.self, from: $0) },
            isBodyEmpty: answer.body.count == 0, secrets: secrets)
    }

    /// Creates the error of one failed item of a batch.
    init(item: APIErrorBody, status: Int, secrets: ResponseSecrets) {
        self.init(
            status: (200..<300).contains(status) ? 400 : status, headers: HTTPHeaders(),
            body: item, isBodyEmpty: false, secrets: secrets)
    }

    private init(
        status: Int, headers: HTTPHeaders, body: APIErrorBody?, isBodyEmpty: Bool,
        secrets: ResponseSecrets
    ) {
        let (code, reason, hint) = Self.meaning(
            status: status, headers: headers, body: body, isBodyEmpty: isBodyEmpty, secrets: secrets
        )
        self.init(code, reason: reason, hint: hint)
        self.status = status
        vercelCode = body?.code.flatMap { UntrustedText.code($0, secrets) }
        vercelMessage = body?.message.flatMap { UntrustedText.message($0, secrets) }
        failedVariables = (body?.failed ?? []).map {
            FailedVariable($0, status: status, secrets: secrets)
        }
        if code == .conflict {
            conflict = Conflict(
                key: body?.key.flatMap { UntrustedText.word($0, secrets) },
                targets: body?.targets.prefix(20).compactMap {
                    UntrustedText.word($0, secrets)
                } ?? [],
                gitBranch: body?.gitBranch.flatMap { UntrustedText.name($0, secrets) })
        }
    }

    private static let challenges: Set<String> = [
        "challenge_required", "challenge_required_email_otp", "user_auth_required",
    ]
    private static let conflicts: Set<String> = [
        "env_conflict", "env_already_exists", "existing_key_and_target",
    ]

    /// Whether a variable with that name and scope already exists. Other conflicts are temporary.
    package var isExistingVariable: Bool {
        code == .conflict && Self.conflicts.contains(vercelCode?.lowercased() ?? "")
    }

    private static func meaning(
        status: Int, headers: HTTPHeaders, body: APIErrorBody?, isBodyEmpty: Bool,
        secrets: ResponseSecrets
    ) -> (Code, String, String?) {
        if (300..<400).contains(status) {
            let named = headers[name: "Location"].flatMap { Self.host(ofLocation: $0) }
            let place =
                named.flatMap { UntrustedText.word($0, secrets) } ?? "another address"
            return (
                .redirected, "the API redirected to \(place); the redirect was not followed",
                "check --api-url"
            )
        }
        // A body that is neither JSON nor empty comes from something between here and the API, so
        // its status means little.
        guard let body = body ?? (isBodyEmpty ? APIErrorBody() : nil) else {
            return (.unavailable, "the response has status \(status) and is not JSON", nil)
        }
        let word = body.code?.lowercased() ?? ""
        switch status {
        case _ where conflicts.contains(word):
            return (.conflict, "a variable with this name and scope already exists", nil)
        case 401, 403: return refusal(status: status, headers: headers, body: body, code: word)
        case 402:
            return (
                .paymentRequired, "the account is blocked until a payment is made",
                "see the account's billing page"
            )
        case 404: return (.notFound, "not found, or not visible to this account or team", nil)
        case 408: return (.unavailable, "the API timed out waiting for the request", nil)
        case 409: return (.conflict, "another operation is in progress", "try again later")
        case 410:
            return (.gone, "Vercel no longer supports this", "check for a newer version of zg-env")
        case 413: return (.tooLarge, "too large for Vercel", nil)
        case 422: return (.notPossible, "Vercel cannot do this in the current state", nil)
        case 429:
            return (.rateLimited, "too many requests", "wait until Vercel's rate limit resets")
        case 500...: return (.unavailable, "the API failed with status \(status)", nil)
        default: return (.badRequest, "the API rejected the request", nil)
        }
    }

    private static func refusal(
        status: Int, headers: HTTPHeaders, body: APIErrorBody, code: String
    ) -> (Code, String, String?) {
        if body.missingToken {
            return (.tokenMissing, "the request had no token", "log in with 'zg-env login'")
        }
        if body.saml {
            return (
                .samlRequired, "the team requires a new login through its identity provider",
                "log in to the team in the browser, then use a token created after that"
            )
        }
        let challenge = headers[name: "WWW-Authenticate"] ?? ""
        if challenges.contains(code) || challenge.contains("insufficient_user_authentication") {
            return (
                .challengeRequired,
                code == "user_auth_required"
                    ? "Vercel does this only for a user who has just signed in"
                    : "Vercel does this only after another proof of the user's identity",
                "sign in on Vercel's website and confirm your identity there; if the token is "
                    + "still refused, create a new one and log in with it"
            )
        }
        if code == "team_unauthorized" {
            return (
                .teamUnauthorized, "the token does not have access to that team",
                "use a token whose scope includes the team; if the team requires single sign-on or "
                    + "two-factor authentication, create it after signing in that way"
            )
        }
        if body.limited {
            return (
                .limitedUser, "the account has restricted access",
                "finish setting up the account in the browser"
            )
        }
        if body.invalidToken {
            return (
                .tokenInvalid, "the token is invalid, revoked or expired",
                "log in again with 'zg-env login'"
            )
        }
        if status == 401 {
            return (
                .tokenInvalid,
                "Vercel did not accept the token: it is invalid, revoked or expired, or its "
                    + "scope does not include this",
                "log in again with 'zg-env login'"
            )
        }
        return (
            .forbidden, "the token does not have permission to do this",
            "check the account's role, and whether the token's scope is one team or project"
        )
    }

    private static func host(ofLocation location: String) -> String? {
        guard let separator = location.firstRange(of: "://") else { return nil }
        let host = location[separator.upperBound...].prefix { !"/?#".contains($0) }
        // The part before an @ is not a host and may be a password.
        return host.split(separator: "@").last.map(String.init)
    }
}
