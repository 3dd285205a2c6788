extension VercelAPIError {
    /// What an answer of a status other than 2xx means.
    ///
    /// - Parameter secrets: What no text of the error may repeat.
    package init(answer: HTTPResponse, secrets: AnswerSecrets) {
        self.init(
            status: answer.status, headers: answer.headers,
            body: answer.body.withBytes { JSONDecoding.value(APIErrorBody.self, from: $0) },
            isBodyEmpty: answer.body.count == 0, secrets: secrets)
    }

    /// What one failed item of a batch means.
    init(item: APIErrorBody, status: Int, secrets: AnswerSecrets) {
        self.init(
            status: (200..<300).contains(status) ? 400 : status, headers: HTTPHeaders(),
            body: item, isBodyEmpty: false, secrets: secrets)
    }

    private init(
        status: Int, headers: HTTPHeaders, body: APIErrorBody?, isBodyEmpty: Bool,
        secrets: AnswerSecrets
    ) {
        let (code, reason, hint) = Self.meaning(
            status: status, headers: headers, body: body, isBodyEmpty: isBodyEmpty, secrets: secrets
        )
        self.init(code, reason: reason, hint: hint)
        self.status = status
        platformCode = body?.code.flatMap { UntrustedText.code($0, secrets) }
        platformMessage = body?.message.flatMap { UntrustedText.message($0, secrets) }
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

    /// Whether a variable of that name and scope was there already. Other conflicts pass by themselves.
    package var isExistingVariable: Bool {
        code == .conflict && Self.conflicts.contains(platformCode?.lowercased() ?? "")
    }

    private static func meaning(
        status: Int, headers: HTTPHeaders, body: APIErrorBody?, isBodyEmpty: Bool,
        secrets: AnswerSecrets
    ) -> (Code, String, String?) {
        if (300..<400).contains(status) {
            let named = headers[name: "Location"].flatMap { Self.host(ofLocation: $0) }
            let place =
                named.flatMap { UntrustedText.word($0, secrets) } ?? "another address"
            return (
                .redirected, "the API answered with a redirect to \(place), not followed",
                "check --api-url"
            )
        }
        // What is neither JSON nor nothing does not come from the API but from something in
        // between, so its status says little.
        guard let body = body ?? (isBodyEmpty ? APIErrorBody() : nil) else {
            return (.unavailable, "status \(status) with something that is not JSON", nil)
        }
        let word = body.code?.lowercased() ?? ""
        switch status {
        case 401, 403: return refusal(status: status, headers: headers, body: body, code: word)
        case _ where conflicts.contains(word):
            return (.conflict, "a variable of this name and scope exists already", nil)
        case 402:
            return (
                .paymentRequired, "the account is blocked until it is paid for",
                "see the billing page of the account"
            )
        case 404: return (.notFound, "not found, or not visible to this account or team", nil)
        case 408: return (.unavailable, "the API gave up waiting for the request", nil)
        case 409: return (.conflict, "something else is under way there", "try again later")
        case 410:
            return (.gone, "the platform has retired this", "look for a newer version of zg-env")
        case 413: return (.tooLarge, "too large for the platform", nil)
        case 422: return (.notPossible, "the platform cannot do this as things are", nil)
        case 429:
            return (.rateLimited, "too many requests", "wait until the platform's limit is over")
        case 500...: return (.unavailable, "the API failed with status \(status)", nil)
        default: return (.badRequest, "the API did not accept the request", nil)
        }
    }

    private static func refusal(
        status: Int, headers: HTTPHeaders, body: APIErrorBody, code: String
    ) -> (Code, String, String?) {
        if conflicts.contains(code) {
            return (.conflict, "a variable of this name and scope exists already", nil)
        }
        if body.missingToken {
            return (.tokenMissing, "the API got no token", "log in with 'zg-env login'")
        }
        if body.saml {
            return (
                .samlRequired, "the team wants a fresh login through its identity provider",
                "log in to the team in the browser, then use a token made after that"
            )
        }
        let challenge = headers[name: "WWW-Authenticate"] ?? ""
        if challenges.contains(code) || challenge.contains("insufficient_user_authentication") {
            return (
                .challengeRequired, "the platform wants you to prove who you are once more",
                "confirm it in the browser on the platform's page, then try again"
            )
        }
        if code == "team_unauthorized" {
            return (
                .teamUnauthorized, "the token is not allowed for that team",
                "use a token whose scope includes the team"
            )
        }
        if body.limited {
            return (
                .limitedUser, "the account has restricted access",
                "finish setting up the account in the browser"
            )
        }
        if body.invalidToken || status == 401 {
            return (
                .tokenInvalid, "the token is wrong, revoked or expired",
                "log in again with 'zg-env login'"
            )
        }
        return (
            .forbidden, "the token is not allowed to do this",
            "check the role of the account and the scope of the token"
        )
    }

    private static func host(ofLocation location: String) -> String? {
        guard let start = location.range(ofScheme: "://") else { return nil }
        let host = location[start...].prefix { !"/?#".contains($0) }
        // What stands before an @ is no host and may be a password.
        return host.split(separator: "@").last.map(String.init)
    }
}

extension String {
    /// Where the text behind the first `separator` begins.
    fileprivate func range(ofScheme separator: String) -> String.Index? {
        var start = startIndex
        while start < endIndex {
            let rest = self[start...]
            if rest.hasPrefix(separator) { return index(start, offsetBy: separator.count) }
            start = index(after: start)
        }
        return nil
    }
}
