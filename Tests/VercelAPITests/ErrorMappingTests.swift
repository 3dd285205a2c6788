import Foundation
import HTTPClient
import Sealing
import Testing
import VercelAPI

@Suite struct `What errors of the API mean` {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let body: String
        var headers: [String: String] = [:]
        let code: VercelAPIError.Code
        var testDescription: String { "\(status) \(body) is \(code.rawValue)" }

        init(
            _ status: Int, _ body: String, _ code: VercelAPIError.Code,
            headers: [String: String] = [:]
        ) {
            (self.status, self.body, self.code, self.headers) = (status, body, code, headers)
        }
    }

    private func error(
        _ status: Int, _ body: String, headers: [String: String] = [:], sent: [SecretSlice] = []
    ) throws -> VercelAPIError {
        VercelAPIError(
            answer: HTTPResponse(
                status: status, headers: HTTPHeaders(headers.map { ($0, $1) }),
                body: try .holding(body)), secrets: ResponseSecrets(sent))
    }

    @Test(arguments: [
        Case(400, #"{"error":{"code":"bad_request","message":"no"}}"#, .badRequest),
        Case(400, #"{"error":{"code":"INVALID_KEY"}}"#, .badRequest),
        Case(400, #"{"error":{"code":"ENV_CONFLICT"}}"#, .conflict),
        Case(400, #"{"error":{"code":"env_conflict"}}"#, .conflict),
        Case(403, #"{"error":{"code":"ENV_ALREADY_EXISTS"}}"#, .conflict),
        Case(409, #"{"error":{"code":"existing_key_and_target"}}"#, .conflict),
        Case(400, #"{"error":{"code":"existing_key_and_target"}}"#, .conflict),
        Case(409, "", .conflict), Case(409, "{}", .conflict),
        Case(401, "", .tokenInvalid), Case(401, #"{"error":{"code":"forbidden"}}"#, .tokenInvalid),
        Case(403, #"{"error":{"code":"forbidden","invalidToken":true}}"#, .tokenInvalid),
        Case(403, #"{"error":{"code":"forbidden","missingToken":true}}"#, .tokenMissing),
        Case(401, #"{"error":{"code":"forbidden","missingToken":true}}"#, .tokenMissing),
        Case(403, #"{"error":{"code":"team_unauthorized"}}"#, .teamUnauthorized),
        Case(403, #"{"error":{"code":"forbidden","saml":true,"teamId":"team_1"}}"#, .samlRequired),
        Case(403, #"{"error":{"code":"challenge_required"}}"#, .challengeRequired),
        Case(403, #"{"error":{"code":"challenge_required_email_otp"}}"#, .challengeRequired),
        Case(403, #"{"error":{"code":"user_auth_required"}}"#, .challengeRequired),
        Case(
            403, #"{"error":{"code":"forbidden"}}"#, .challengeRequired,
            headers: ["WWW-Authenticate": #"Bearer error="insufficient_user_authentication""#]),
        Case(403, #"{"error":{"code":"forbidden","limited":true}}"#, .limitedUser),
        Case(403, #"{"error":{"code":"forbidden"}}"#, .forbidden), Case(403, "", .forbidden),
        Case(403, #"{"err":{"code":"team_unauthorized"}}"#, .teamUnauthorized),
        Case(403, #"{"code":"team_unauthorized","message":"x"}"#, .teamUnauthorized),
        Case(403, #"{"error":"team_unauthorized"}"#, .teamUnauthorized),
        Case(402, "{}", .paymentRequired), Case(404, "", .notFound),
        Case(404, #"{"error":{"code":"deployment_not_found"}}"#, .notFound),
        Case(405, #"{"error":{"code":"method_unknown"}}"#, .badRequest),
        Case(408, "", .unavailable),
        Case(410, "{}", .gone), Case(413, "", .tooLarge), Case(422, "{}", .notPossible),
        Case(426, "{}", .badRequest), Case(429, "", .rateLimited), Case(500, "", .unavailable),
        Case(503, "{}", .unavailable), Case(599, "", .unavailable), Case(301, "", .redirected),
        Case(307, "<html>", .redirected), Case(418, "{}", .badRequest),
        Case(400, "<html></html>", .unavailable), Case(403, "blocked by proxy", .unavailable),
        Case(404, "<!doctype html>", .unavailable), Case(401, "{", .unavailable),
        Case(400, "[]", .unavailable), Case(404, "null", .unavailable), Case(199, "", .badRequest),
        Case(
            400, #"{"error":{"code":7,"message":[],"key":{},"target":3,"limit":"x"}}"#, .badRequest),
    ])
    func `status and body determine the error`(example: Case) throws {
        let error = try error(example.status, example.body, headers: example.headers)
        #expect(error.code == example.code)
        #expect(error.status == example.status)
        #expect(!error.reason.isEmpty)
    }

    @Test func `a refusal to read the own account is a wrong token`() throws {
        let api = try FakeAPI(.answer(403, #"{"error":{"code":"forbidden"}}"#))
        #expect(api.error { _ = try api.client.user() }?.code == .tokenInvalid)
        let other = try FakeAPI(.answer(403, #"{"error":{"code":"forbidden"}}"#))
        #expect(other.error { _ = try other.client.projects() }?.code == .forbidden)
    }

    @Test(
        "VER-T1: a denied user is no proof of an invalid token",
        arguments: [401, 403, 404])
    func deniedUser(status: Int) throws {
        let api = try FakeAPI(.answer(status, #"{"error":{"code":"forbidden"}}"#))
        let error = try #require(api.error { _ = try api.client.user() })
        #expect(error.code == .tokenInvalid && error.isDenial)
        #expect(error.reason.contains("scope"), "\(error.reason)")
        let flagged = try FakeAPI(
            .answer(status, #"{"error":{"code":"forbidden","invalidToken":true}}"#))
        let plain = try #require(flagged.error { _ = try flagged.client.user() })
        if status != 404 { #expect(plain.reason == "the token is invalid, revoked or expired") }
    }

    @Test(
        "VER-R1: each demand for another proof differs from an invalid token",
        arguments: [
            ("challenge_required", "another proof"),
            ("challenge_required_email_otp", "another proof"),
            ("user_auth_required", "just signed in"),
        ])
    func challenges(code: String, words: String) throws {
        let error = try error(
            403, #"{"error":{"code":"\#(code)","message":"m"}}"#,
            headers: ["WWW-Authenticate": #"Bearer acr_values="urn:vercel:loa:sudo""#])
        #expect(error.code == .challengeRequired && !error.isDenial)
        #expect(error.reason.contains(words) && error.vercelCode == code)
        #expect(error.hint?.contains("create a new one") == true)
    }

    @Test func `an invalid deployment id is not found`() throws {
        let body = #"{"error":{"code":"bad_request","message":"Invalid `id` given"}}"#
        let api = try FakeAPI(.answer(400, body))
        #expect(api.error { _ = try api.client.deployment("x") }?.code == .notFound)
    }

    @Test func `a conflict names the conflicting variable`() throws {
        let error = try error(
            400,
            #"{"error":{"code":"ENV_CONFLICT","message":"taken","envVarKey":"A_B","target":["production","preview"],"gitBranch":"feature/x"}}"#
        )
        #expect(error.conflict?.key == "A_B")
        #expect(error.conflict?.targets == ["production", "preview"])
        #expect(error.conflict?.gitBranch == "feature/x")
        #expect(error.vercelCode == "ENV_CONFLICT")
        #expect(error.vercelMessage == "taken")
    }

    @Test func `a redirect names only its host`() throws {
        let secret = try SecretArena().secret("sekret-sekret-sekret")
        for (location, host) in [
            ("https://evil.example:99/x?y", "evil.example:99"),
            ("https://user:pass@evil.example/", "evil.example"), ("/elsewhere", "another address"),
            ("https://a b\u{1b}[31m/", "another address"), ("", "another address"),
            ("https://sekret-sekret-sekret/", "another address"),
        ] {
            let error = try error(302, "", headers: ["Location": location], sent: [secret])
            #expect(error.reason.contains(host))
            #expect(!error.reason.contains("pass@") && !error.reason.contains("\u{1b}"))
            #expect(!error.reason.contains("sekret"))
        }
    }

    @Test func `messages are cleaned and shortened`() throws {
        let hostile = "a\\u001b[31mb\\u0000\\u202ec\\n\\td\\u2028e\\u200bf"
        let message = try error(400, "{\"error\":{\"message\":\"\(hostile)\"}}").vercelMessage
        #expect(message == "a [31mb c d e f")
        let long = String(repeating: "x", count: 5000)
        let short = try error(400, "{\"error\":{\"message\":\"\(long)\"}}").vercelMessage
        #expect(short?.count == UntrustedText.maximumLength + 1)
        #expect(try error(400, #"{"error":{"message":" \n "}}"#).vercelMessage == nil)
        for code in [#"a b"#, #"\u001b[0m"#, "", String(repeating: "x", count: 500), "é"] {
            #expect(try error(400, "{\"error\":{\"code\":\"\(code)\"}}").vercelCode == nil)
        }
    }

    @Test(arguments: [
        "hunter2", "x", "postgres://user:secret@host/db?x=1", "line one\nline two\nline three",
        "token-0123456789abcdef",
    ])
    func `a message that repeats a value is withheld`(value: String) throws {
        let secret = try SecretArena().secret(value)
        func message(_ text: String) throws -> String? {
            let json = try JSONEncoder().encode(["error": ["message": text, "code": value]])
            return try error(400, String(decoding: json, as: UTF8.self), sent: [secret])
                .vercelMessage
        }
        for text in [value, "Invalid value \"\(value)\" given", "\(value)…"] {
            #expect(try message(text) == UntrustedText.withheld)
        }
        if value.utf8.count > 12 {
            #expect(try message("starts with \(value.prefix(13))…") == UntrustedText.withheld)
            #expect(try message("ends with \(value.suffix(13))") == UntrustedText.withheld)
        }
        #expect(try message("quiet") == "quiet")
    }

    @Test func `sent names are shown even if a value is the same`() throws {
        for (value, targets) in [("production", ["production", "NODE"]), ("NODE", ["production"])] {
            let api = try FakeAPI(
                .answer(
                    400,
                    #"{"error":{"code":"ENV_CONFLICT","message":"for production","envVarKey":"NODE_ENV","target":["production","NODE"],"gitBranch":"dev"}}"#
                ))
            let new = NewEnvironmentVariable(
                key: "NODE_ENV", value: try api.arena.secret(value), targets: [.production])
            let error = api.error {
                _ = try api.client.create(new, inProject: "web")
            }
            #expect(error?.conflict?.key == "NODE_ENV")
            #expect(error?.conflict?.targets == targets)
            #expect(error?.conflict?.gitBranch == "dev")
            #expect(error?.vercelMessage == "for production")
        }
    }

    @Test func `an empty value withholds nothing`() throws {
        let secret = try SecretArena().secret("")
        let error = try error(400, #"{"error":{"message":"no"}}"#, sent: [secret])
        #expect(error.vercelMessage == "no")
    }

    @Test func `nothing printable holds a value or a token`() throws {
        let marker = "MARKER-0123456789-MARKER"
        let body = """
            {"error":{"code":"\(marker)","message":"\(marker)","envVarKey":"\(marker)",
            "target":["\(marker)"],"gitBranch":"\(marker)","value":"\(marker)",
            "link":"\(marker)"},"failed":[{"error":{"code":"ENV_CONFLICT","message":"\(marker)",
            "envVarKey":"\(marker)","gitBranch":"\(marker)","value":"\(marker)"}}]}
            """
        for status in [400, 401, 403, 404, 409, 429, 500] {
            let api = try FakeAPI(.answer(status, body))
            let value = try api.arena.secret(marker)
            let new = NewEnvironmentVariable(key: "K", value: value, targets: [.production])
            var change = EnvironmentVariableChange()
            change.value = value
            var printed = ""
            for attempt in 0..<3 {
                let error = api.error {
                    switch attempt {
                    case 0: _ = try api.client.create(new, inProject: "web")
                    case 1:
                        _ = try api.client.changeEnvironmentVariable(
                            "e1", ofProject: "web", change)
                    default:
                        let batch = try api.client.createEnvironmentVariables(
                            [new, new], inProject: "web")
                        dump(batch, to: &printed)
                    }
                }
                if let error {
                    printed += "\(error) \(String(reflecting: error)) "
                    dump(error, to: &printed)
                }
            }
            dump(new, to: &printed)
            printed += "\(new) \(change)"
            dump(try GuardedBytes.holding(marker), to: &printed)
            dump(api.client, to: &printed)
            #expect(!printed.isEmpty)
            #expect(!printed.contains(marker))
            #expect(!printed.contains(FakeAPI.token))
        }
    }

    @Test func `a token with invalid bytes is refused`() throws {
        let arena = SecretArena()
        for (text, code) in [
            ("", VercelAPIError.Code.tokenMissing), ("a b", .tokenInvalid),
            ("a\r\nb", .tokenInvalid),
            ("a\u{0}", .tokenInvalid), ("é", .tokenInvalid),
            (String(repeating: "a", count: 5000), .tokenInvalid),
        ] {
            let token = try arena.secret(text)
            do throws(VercelAPIError) {
                _ = try VercelClient(
                    transport: FakeTransport(answers: []), origin: .vercel, token: token,
                    waitingRoom: FakeSleeper())
                Issue.record("accepted")
            } catch {
                #expect(error.code == code)
            }
        }
    }
}
