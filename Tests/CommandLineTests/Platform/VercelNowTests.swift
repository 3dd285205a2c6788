internal import JSON
import Sandbox
import TestSupport
import Testing

/// Limits, refusals and webhooks as Vercel's documentation of 2026 has them.
@Suite("Vercel as it is now")
struct VercelNowTests {
    @Test("VER-L3: a push that would exceed the variables of an environment sends nothing")
    func tooManyVariables() throws {
        let variables = (0..<999).map {
            #"{"key": "K\#($0)", "value": "v", "target": ["production"]}"#
        }.joined(separator: ",")
        let platform = try SandboxHome(
            seed: #"{"projects": [{"name": "web", "env": [\#(variables)]}]}"#)
        for key in ["ONE", "TWO"] { try platform.set(key, "v", "-t", "production,preview") }
        let writes = try platform.writes {
            let message = try failedAsJSON(platform.push(), 2, "usage")
            #expect(message.contains("production would have 1001 variables"), "\(message)")
            #expect(message.contains("1000") && message.contains("Nothing was sent"))
            #expect(message.contains("zg-env rm KEY -p web --push"), "\(message)")
            #expect(!message.contains("preview would"))
        }
        #expect(writes == [])
        #expect(try platform.pushed("ONE").keys("created") == ["ONE"])
        // A change of one that is there adds nothing.
        try platform.set("ONE", "other", "-t", "production,preview")
        #expect(try platform.pushed("ONE").keys("updated") == ["ONE"])
    }

    @Test("VER-B1: an answer that drips ends with 7 after seconds")
    func dripping() throws {
        let platform = try SandboxHome()
        try platform.setFaults("GET /v9/projects/web drip", "GET /v10/projects/*/env drip")
        let clock = ContinuousClock()
        let time = try clock.measure {
            let message = try failedAsJSON(
                platform.run("pull", "-p", "web", "--yes", "--json"), 7, "unavailable")
            #expect(message.contains("too slowly"), "\(message)")
        }
        #expect(time < .seconds(40), "\(time)")
    }

    @Test(
        "VER-R1: a demand for another proof of identity is not called an invalid token",
        arguments: ["challenge_required", "challenge_required_email_otp", "user_auth_required"])
    func challenged(code: String) throws {
        let platform = try SandboxHome()
        try platform.setFaults("GET /v10/projects/*/env challenge:\(code)")
        let message = try failedAsJSON(
            platform.run("pull", "-p", "web", "--yes", "--json"), 6, "unauthorized")
        #expect(message.contains(code) && message.contains("confirm your identity"), "\(message)")
        #expect(!message.contains("invalid"))
        try platform.setFaults("GET /v2/user challenge:\(code)")
        let login = try failedAsJSON(
            platform.run("login", "--name", "x", "--json", input: .text(platform.token)), 6,
            "unauthorized")
        #expect(login.contains(code) && !login.contains("invalid"), "\(login)")
    }

    @Test("VER-R2: a team that shuts the token out is named, with its reason")
    func limitedTeam() throws {
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme"}, {"slug": "shut", "limitedBy": ["mfa"]},
                           {"slug": "saml", "limitedBy": ["scope"]}],
                 "projects": [{"name": "web"}, {"name": "closed", "team": "shut"}]}
                """, isLoggedIn: false)
        let result = try platform.run("login", "--json", input: .text(platform.token))
        let login = try json(result)
        let warnings = login["warnings"]?.elements ?? []
        #expect(warnings.map { $0["code"] } == ["limited-team", "limited-team"])
        let text = warnings.compactMap { $0["message"]?.text }.joined(separator: "\n")
        #expect(text.contains("shut") && text.contains("two-factor"), "\(text)")
        #expect(text.contains("saml") && text.contains("single sign-on"), "\(text)")
        #expect(
            Set(login["teams"]?.elements.map { $0["limitedBy"]?.texts ?? [] } ?? [])
                == [[], ["mfa"], ["scope"]])
        let message = try failedAsJSON(
            platform.run("link", "closed", "--team", "shut", "--json"), 6, "unauthorized")
        #expect(message.contains("two-factor") && message.contains("new token"), "\(message)")
        let used = try json(platform.run("account", "use", "dev", "--team", "saml", "--json"))
        #expect(used["warnings"]?.elements.map { $0["code"] } == ["limited-team"])
    }

    @Test("VER-W6: webhook create warns of events that a webhook of one project never gets")
    func projectEvents() throws {
        let platform = try SandboxHome()
        func warnings(_ arguments: String...) throws -> [String?] {
            let made = try json(
                platform.runner(
                    ["webhook", "create", "https://relay.example/x", "--json"] + arguments
                ).run())
            return made["warnings"]?.elements.map { $0["code"]?.text } ?? []
        }
        let events = "deployment.error,project.env-variable.updated"
        #expect(try warnings("-p", "web", "--event", events) == ["project-events"])
        #expect(try warnings("-p", "web", "--event", events, "--dry-run") == ["project-events"])
        #expect(try warnings("-p", "web") == [])
        #expect(try warnings("--all-projects", "--event", events) == [])
        #expect(try warnings("-p", "web", "--event", "project.renamed") == ["project-events"])
    }

    @Test("VER-W1: the twenty-first webhook is refused with the limit")
    func webhookLimit() throws {
        let platform = try SandboxHome()
        for _ in 0..<20 {
            try platform.teammate.send(
                "POST", "/v1/webhooks",
                ["url": "https://relay.example/x", "events": ["deployment.error"]])
        }
        let message = try failedAsJSON(
            platform.run(
                "webhook", "create", "https://relay.example/y", "-p", "web", "--json"), 1,
            "failed")
        #expect(message.contains("20") && message.contains("webhook delete"), "\(message)")
    }
}
