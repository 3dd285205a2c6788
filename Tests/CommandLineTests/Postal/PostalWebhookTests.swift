import Foundation
import JSON
import PostalProtocol
import Sandbox
import TestSupport
import Testing

/// `webhook create --postal`: Vercel's side of a joined relay.
@Suite("webhook create --postal")
struct PostalWebhookTests {
    private func joined() throws -> (SandboxHome, FakeRelay, String) {
        let (platform, relay) = (try SandboxHome(), try FakeRelay())
        let account = try #require(
            try platform.teammate.send("GET", "/v2/user")["user"]?["id"]?.string)
        done(
            try platform.run(
                "postal", "join", relay.url, input: .text(relay.invite(account) + "\n")))
        return (platform, relay, account)
    }

    private func hooks(_ platform: SandboxHome) throws -> [JSONValue] {
        try platform.teammate.send("GET", "/v1/webhooks").array ?? []
    }

    @Test func `the relay's URL and file are created, and the secret is shown nowhere`() throws {
        let (platform, relay, account) = try joined()
        let dry = done(
            try platform.run("webhook", "create", "--postal", "--all-projects", "--dry-run"))
        #expect(
            dry.output.contains(relay.url) && dry.output.contains("project.env-variable.deleted"))
        #expect(try hooks(platform).isEmpty)
        let result = try platform.run("webhook", "create", "--postal", "--all-projects", "--json")
        let made = try json(result)
        let hook = try #require(made["hook"]?.text)
        #expect(hook.count == 32 && PostalName.isHookOrDevice(hook))
        #expect(made["url"] == .string("\(relay.url)/webhook/\(hook)"))
        #expect(made["relay"] == .string(relay.url) && made["account"] == .string(account))
        #expect(
            Set(made["events"]?.texts ?? []) == Set(PostalEventType.allCases.map(\.rawValue)))
        let path = try #require(made["credentialFile"]?.text)
        #expect(path == platform.home.directory.path("work/webhook.\(hook)"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let file = try JSONDocument(try platform.home.directory.read("work/webhook.\(hook)"))
        #expect(file.names == ["account", "secret"] && file["account"] == .string(account))
        let secret = try #require(file["secret"]?.text)
        // Vercel signs with it, the vault has it too, and it was never printed.
        let key = try #require(made["secret"]?["key"]?.text)
        let revealed = try json(platform.run("reveal", key, "-p", "@webhooks", "--json"))
        #expect(revealed["variables"]?.elements.first?["value"] == .string(secret))
        #expect(secret.count == 24 && !result.output.contains(secret))
        #expect(!result.error.contains(secret))
    }

    @Test func `obstacles are reported before anything is created`() throws {
        let (platform, relay, _) = try joined()
        try platform.home.directory.write("mine", to: "work/taken")
        func expect(_ status: Int32, _ words: String, _ arguments: String...) throws {
            let result = try platform.runner(
                ["webhook", "create", "--all-projects"] + arguments
            ).run()
            #expect(result.end == .exited(status), "\(arguments): \(result.error)")
            #expect(result.error.contains(words), "\(result.error)")
        }
        try expect(5, "already exists", "--postal", "--credential-file", "taken")
        try expect(4, "has not joined", "--postal", "https://other.example")
        try expect(2, "requires --postal", relay.url, "--credential-file", "new")
        try expect(2, "No URL given", "--event", "deployment.ready")
        try expect(1, "webhook was deleted", "--postal", "--credential-file", "no/such/directory")
        #expect(try hooks(platform).isEmpty)
        #expect(try platform.home.directory.read("work/taken") == Array("mine".utf8))
        let list = try json(platform.run("list", "--all-projects", "--json"))
        let kept = list["projects"]?.elements.first { $0["project"] == "@webhooks" }
        #expect(kept?["variables"]?.elements.isEmpty != false)
        done(try platform.run("postal", "leave", "--yes"))
        try expect(4, "has not joined", "--postal")
    }

    @Test func `an account whose events the device does not receive is reported`() throws {
        let (platform, _, account) = try joined()
        let result = done(
            try platform.run(
                "webhook", "create", "--postal", "--all-projects", "--team", "acme",
                "--credential-file", "acme"))
        #expect(result.error.contains("not for team_") && result.error.contains(account))
        let file = try JSONDocument(try platform.home.directory.read("work/acme"))
        #expect(file["account"]?.text?.hasPrefix("team_") == true)
    }
}
