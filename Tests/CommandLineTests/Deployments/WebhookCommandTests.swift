internal import JSON
import Sandbox
import TestSupport
import Testing

/// `webhook list`, `create` and `delete`: the secret goes into the vault and nowhere else.
@Suite("webhook")
struct WebhookCommandTests {
    private let url = "https://relay.example/hook"

    /// The ids of the webhooks on Vercel.
    private func webhooks(_ platform: SandboxHome) throws -> [String] {
        try platform.teammate.send("GET", "/v1/webhooks").array?.compactMap { $0["id"]?.string }
            ?? []
    }

    private func secrets(_ platform: SandboxHome) throws -> [String] {
        let list = try json(platform.run("list", "--all-projects", "--json"))
        let projects = list["projects"]?.elements ?? []
        let kept = projects.first { $0["project"] == "@webhooks" }
        return kept?["variables"]?.elements.compactMap { $0["key"]?.text } ?? []
    }

    @Test func `a webhook is created, its secret stored, and both are deleted`() throws {
        let platform = try SandboxHome()
        let made = try json(
            platform.run("webhook", "create", url, "-p", "web", "--json", unlocked: true))
        let id = try #require(made["id"]?.text)
        #expect(
            made.names == ["id", "url", "events", "projectIds", "createdAt", "secret"])
        #expect(made["url"] == .string(url) && made["projectIds"]?.elements.count == 1)
        #expect(made["events"]?.texts.contains("deployment.error") == true)
        let key = try #require(made["secret"]?["key"]?.text)
        #expect(made["secret"]?["project"] == "@webhooks" && key == "WEBHOOK_SECRET_\(id)")
        #expect(try webhooks(platform) == [id])

        // Vercel signs with the secret in the vault.
        let revealed = try json(platform.run("reveal", key, "-p", "@webhooks", "--json"))
        let secret = try #require(revealed["variables"]?.elements.first?["value"]?.text)
        #expect(secret.count == 24)
        #expect(try secrets(platform) == [key])
        // A push would send it nowhere: no project on Vercel has such a name.
        let pushed = try platform.run("push", "-p", "@webhooks", "--yes", "--json")
        #expect(pushed.status == 4)

        let list = try json(platform.run("webhook", "list", "--json"))
        #expect(list["webhooks"]?.elements.map { $0["id"]?.text } == [id])
        #expect(list["webhooks"]?.elements.first?["secret"]?["key"] == .string(key))
        let text = done(try platform.run("webhook", "list", "-p", "web"))
        #expect(text.output.contains(id) && text.output.contains("in the vault"))
        #expect(!text.output.contains(secret) && !text.error.contains(secret))
        #expect(done(try platform.run("webhook", "list", "-p", "bare")).output == "")

        try failedAsJSON(platform.run("webhook", "delete", id, "--json"), 2, "usage")
        #expect(done(try platform.run("webhook", "delete", id, "--dry-run")).output.contains(url))
        done(try platform.run("webhook", "delete", id, "--dry-run", "--json"))
        #expect(try webhooks(platform) == [id])
        #expect(try json(platform.run("webhook", "rm", id, "--yes", "--json"))["id"] == made["id"])
        #expect(try webhooks(platform) == [])
        #expect(try secrets(platform) == [])
        try failedAsJSON(platform.run("webhook", "delete", id, "--yes", "--json"), 4, "not_found")
    }

    @Test func `all projects need an explicit option, and events are validated`() throws {
        let platform = try SandboxHome()
        let writes = try platform.writes {
            failed(try platform.run("webhook", "create", url), 2, "--all-projects")
            for address in [
                "relay.example", "ftp://relay.example", "https://", "https://a:b@relay.example",
                "https://relay.example/a b", "https://relay.example/\u{E9}",
            ] {
                failed(try platform.run("webhook", "create", address, "-p", "web"), 2)
            }
            failed(
                try platform.run("webhook", "create", url, "-p", "web", "--event", "a b"), 2)
            failed(
                try platform.run("webhook", "create", url, "-p", "web", "--all-projects"), 2)
            done(try platform.run("webhook", "create", url, "-p", "web", "--dry-run"))
        }
        #expect(writes == [])
        let unknown = try failedAsJSON(
            platform.run(
                "webhook", "create", url, "-p", "web", "--event", "deployment.exploded", "--json"),
            2, "usage")
        #expect(unknown.contains("event names"))
        let all = try json(
            platform.run(
                "webhook", "create", "http://relay.example/x", "--all-projects", "--event",
                "deployment.error,deployment.created", "--event", "project.created", "--json"))
        #expect(all["projectIds"] == [] && all["events"]?.texts.count == 3)
        #expect(all["warnings"]?.elements.map { $0["code"] } == ["not-encrypted"])
    }

    @Test func `a secret that was not received leaves no webhook behind`() throws {
        let platform = try SandboxHome()
        for fault in ["lost-answer", "truncate", "html"] {
            try platform.setFaults("POST */webhooks \(fault) x1")
            let text = try failedAsJSON(
                platform.run("webhook", "create", url, "-p", "web", "--json"), 7, "unavailable")
            #expect(text.contains("Run the command again"), "\(fault): \(text)")
            #expect(try webhooks(platform) == [], "\(fault)")
        }
        #expect(try secrets(platform) == [])
        // Nor does an unwritable vault: it is checked first.
        let bare = try SandboxHome(hasVault: false, isLoggedIn: false)
        let token = ["VERCEL_TOKEN": bare.token]
        let writes = try bare.writes {
            let text = try failedAsJSON(
                bare.run(
                    "webhook", "create", url, "--all-projects", "--json", environment: token), 4,
                "not_found")
            #expect(text.contains("no vault"))
        }
        #expect(writes == [])
        // Listing and deleting need no vault.
        let made = try bare.teammate.send(
            "POST", "/v1/webhooks", ["url": .string(url), "events": ["deployment.created"]])
        let id = try #require(made["id"]?.string)
        let list = try json(bare.run("webhook", "list", "--json", environment: token))
        #expect(list["webhooks"]?.elements.map { $0["secret"] } == [.null])
        done(try bare.run("webhook", "delete", id, "--yes", environment: token))
        #expect(try webhooks(bare) == [])
    }

    @Test func `refusals have a hint`() throws {
        let platform = try SandboxHome()
        for (fault, status, code, words) in [
            ("403", 6, "unauthorized", "plan"), ("402", 1, "failed", "plan"),
            ("500", 7, "unavailable", ""), ("400", 2, "usage", "event names"),
        ] {
            try platform.setFaults("POST */webhooks \(fault)")
            let text = try failedAsJSON(
                platform.run("webhook", "create", url, "-p", "web", "--json"), Int32(status), code)
            #expect(text.contains(words), "\(fault): \(text)")
        }
        #expect(try webhooks(platform) == [])
    }
}
