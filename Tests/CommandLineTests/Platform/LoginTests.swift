import Foundation
import Sandbox
import TestSupport
import Testing

/// Which token is used and stored, and where it is sent.
@Suite("Accounts and tokens")
struct LoginTests {
    /// A sandbox whose user has two tokens with marker values.
    private func platform(loggedIn: Bool = false, keyring: PrivateKeyring? = nil) throws
        -> SandboxHome
    {
        try SandboxHome(
            seed: """
                {"token": "marker-token-9f3c2a71d0", "teams": [{"slug": "acme", "name": "Acme"}],
                 "projects": [{"name": "web", "deployments": [{"target": "production"}]},
                              {"name": "api", "team": "acme"}],
                 "tokens": [{"name": "second", "token": "marker-second-77aa01bc"}]}
                """, keyring: keyring, isLoggedIn: loggedIn)
    }

    @Test func `a token is checked, stored and used, without surrounding blanks`() throws {
        let platform = try platform()
        let login = try json(
            platform.run("login", "--json", input: .text(" \t\(platform.token) \r\n\n")))
        #expect(login["account"] == "dev")
        #expect(login["origin"]?.text == platform.url)
        #expect(login["protected"] == false)
        let list = try json(platform.run("project", "list", "--json"))
        #expect(list["projects"]?.elements.map { $0["name"] } == ["web"])
        // The account's own origin is the default.
        let unnamed = try json(
            platform.run("project", "list", "--json", environment: ["ZG_ENV_API_URL": ""]))
        #expect(unnamed == list)
        let out = try json(platform.run("logout", "--json"))
        #expect(out["loggedOut"] == ["dev"])
        try failedAsJSON(platform.run("project", "list", "--json"), 6, "unauthorized")
        try failedAsJSON(platform.run("logout", "--json"), 4, "not_found")
    }

    @Test(arguments: ["wrong-token-123456", "two words", "", " \n", "new\nline", "ümlaut"])
    func `a bad token is refused and nothing is stored`(token: String) throws {
        let platform = try platform()
        let before = try platform.home.vaultBytes()
        let result = try platform.run("login", input: .text(token))
        #expect([2, 6].contains(result.status), "\(result.error)")
        if token.hasPrefix("wrong") {
            failed(result, 6, "Copy the whole token again, or create a new one")
            #expect(!result.error.contains("zg-env login"))
        }
        #expect(!result.error.contains("wrong-token"))
        #expect(try platform.home.vaultBytes() == before)
        try failedAsJSON(platform.run("project", "list", "--json"), 6, "unauthorized")
    }

    @Test func `names keep accounts apart, and a used name is a conflict`() throws {
        let platform = try platform()
        done(try platform.run("login", "--name", "work", input: .text(platform.token)))
        done(try platform.run("login", "--name", "home", input: .text("marker-second-77aa01bc")))
        #expect(try json(platform.run("status", "--json"))["account"] == "work")
        // The same account again: a new token for it.
        done(try platform.run("login", "--name", "work", input: .text("marker-second-77aa01bc")))
        let other = try SandboxHome(hasVault: false, isLoggedIn: false)
        let before = try platform.home.vaultBytes()
        try failedAsJSON(
            platform.run(
                "login", "--name", "work", "--json", "--api-url", other.url,
                input: .text(other.token)), 5, "conflict")
        #expect(try platform.home.vaultBytes() == before)
        done(try platform.run("project", "list", "--account", "home"))
        try failedAsJSON(
            platform.run("project", "list", "--account", "none", "--json"), 6, "unauthorized")
        done(try platform.run("logout", "--account", "work"))
        #expect(try json(platform.run("status", "--json"))["account"] == "home")
        done(try platform.run("login", "--name", "work", input: .text(platform.token)))
        let all = try json(platform.run("logout", "--all", "--json"))
        #expect(Set(all["loggedOut"]?.texts ?? []) == ["home", "work"])
    }

    @Test func `a stored token is sent to its own origin and nowhere else`() throws {
        let platform = try platform(loggedIn: true)
        let other = try SandboxHome(hasVault: false, isLoggedIn: false)
        let requests = try other.requests {
            for arguments in [
                ["project", "list"], ["redeploy", "-p", "web", "--yes"], ["link", "web"],
            ] {
                let result = try platform.runner(
                    arguments + ["--json", "--api-url", other.url]
                ).run()
                let message = try failedAsJSON(result, 6, "unauthorized")
                #expect(message.contains(platform.url) && message.contains(other.url))
            }
            // Redirects are not followed.
            try platform.setFaults("GET * redirect:\(other.url)/v9/projects")
            let message = try failedAsJSON(
                platform.run("project", "list", "--json"), 7, "unavailable")
            #expect(message.contains("redirect"))
        }
        #expect(requests == [])
        platform.server.setFaults([])
        for address in ["http://192.0.2.1", "ftp://localhost", "https://user:pw@host", "x"] {
            let result = try platform.run("project", "list", "--json", "--api-url", address)
            #expect([2, 6].contains(result.status), "\(address): \(result.error)")
        }
    }

    @Test func `a token in the environment wins and is not stored`() throws {
        let platform = try platform(loggedIn: true)
        let before = try platform.home.vaultBytes()
        let wrong = ["VERCEL_TOKEN": "marker-wrong-0000000000"]
        try failedAsJSON(
            platform.run("project", "list", "--json", environment: wrong), 6, "unauthorized")
        done(try platform.run("project", "list", "--account", "dev", environment: wrong))
        #expect(try platform.home.vaultBytes() == before)
        done(try platform.run("logout"))
        let right = ["VERCEL_TOKEN": platform.token]
        done(try platform.run("project", "list", environment: right))
        try platform.set("KEY", "value")
        done(try platform.run("push", "-p", "web", "--yes", environment: right))
        #expect(platform.records("KEY") == ["production,preview,development=value"])
        try failedAsJSON(platform.run("push", "-p", "web", "--json"), 6, "unauthorized")
    }

    @Test func `a protected token needs the passphrase, the vault's lists do not`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try platform(keyring: keyring)
        let login = try json(
            platform.run("login", "--protect", "--json", input: .text(platform.token)))
        #expect(login["protected"] == true)
        try platform.set("KEY", "value")
        done(try platform.run("list", "-p", "web", unlocked: false))
        try failedAsJSON(
            platform.run("push", "-p", "web", "--yes", "--json", unlocked: false), 3, "locked")
        try failedAsJSON(
            platform.run("project", "list", "--json", unlocked: false), 3, "locked")
        done(try platform.run("push", "-p", "web", "--yes"))
        #expect(platform.records("KEY") == ["production,preview,development=value"])
        done(try platform.run("logout"))
        // Without --protect the keyring is enough.
        done(try platform.run("login", input: .text(platform.token)))
        done(try platform.run("project", "list", unlocked: false))
    }

    @Test func `faults during the login exit with the right code and store nothing`() throws {
        let cases: [(String, Int32)] = [
            ("GET /v2/user 500", 7), ("GET /v2/user html", 7), ("GET /v2/user challenge", 6),
            ("GET /v2/user 401", 6), ("GET /v2/user 429:600", 7), ("GET /v2/teams truncate", 7),
        ]
        let platforms = try cases.map { entry in
            let platform = try platform()
            try platform.setFaults(entry.0)
            return platform
        }
        let results = try Together.run(
            platforms.map { $0.runner(["login", "--json"], input: .text($0.token)) })
        for ((entry, platform), result) in zip(zip(cases, platforms), results) {
            #expect(result.status == entry.1, "\(entry): \(result.error)\(result.output)")
            platform.server.setFaults([])
            #expect(try json(platform.run("status", "--json"))["account"] == .null)
        }
        for faults in [["429", "lost-answer", "truncate"], ["500", "reset", "html"]] {
            for platform in platforms {
                platform.server.setFaults(
                    try faults.map { try #require(Fault("GET * \($0) x1")) })
            }
            let logins = try Together.run(
                platforms.map { $0.runner(["login"], input: .text($0.token)) })
            for login in logins { done(login) }
        }
        let first = platforms[0]
        try first.setFaults("GET * 429:1 x1", "GET * slow:0.2 x1", "GET * reset x1")
        let list = try json(first.run("project", "list", "--json"))
        #expect(list["projects"]?.elements.count == 1)
        try first.setFaults("GET * 429:600")
        let refused = try first.run("project", "list", "--json", "--refresh")
        try failedAsJSON(refused, 7, "unavailable")
        #expect(refused.duration < .seconds(30))
    }

    @Test func `the token is nowhere in clear`() throws {
        let platform = try platform()
        let token = platform.token
        var said = ""
        for (arguments, input, environment) in [
            (["login", "--json", "--verbose"], token, [:]),
            (["login", "--name", "p", "--protect"], token, [:]),
            (["login", "--name", "wrong"], token + "x", [:]),
            (["project", "list", "--json", "--verbose"], "", [:]),
            (["set", "KEY", "-p", "web", "--push", "--yes"], "value", [:]),
            (["push", "-p", "web", "--yes"], "", ["VERCEL_TOKEN": token]),
            (["push", "-p", "web", "--yes"], "", ["VERCEL_TOKEN": token + "y"]),
            (["redeploy", "-p", "web", "--yes", "--wait"], "", [:]),
            (["link", "web"], "", [:]), (["status", "--json"], "", [:]),
            (["project", "list", "--api-url", "http://127.0.0.1:1"], "", ["VERCEL_TOKEN": token]),
            (["logout", "--account", "p"], "", [:]),
        ] as [([String], String, [String: String])] {
            let result = try platform.runner(
                arguments, input: .text(input), environment: environment
            ).run()
            said += result.output + result.error
        }
        let bytes = Array(token.utf8)
        let forms = [
            token, Data(bytes).base64EncodedString(),
            bytes.map { String($0, radix: 16) }.joined(),
        ]
        for form in forms { #expect(!said.contains(form)) }
        let root = platform.home.directory.path
        let files = FileManager.default.enumerator(atPath: root)
        var count = 0
        for case let name as String in files ?? .init() {
            guard let data = FileManager.default.contents(atPath: "\(root)/\(name)") else {
                continue
            }
            count += 1
            for form in forms { #expect(data.firstRange(of: Data(form.utf8)) == nil, "\(name)") }
        }
        #expect(count >= 3)
    }
}
