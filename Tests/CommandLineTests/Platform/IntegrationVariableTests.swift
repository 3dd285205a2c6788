import JSON
import Sandbox
import TestSupport
import Testing

/// Variables that an integration of Vercel's put into a project and may write again.
@Suite("Variables of integrations")
struct IntegrationVariableTests {
    private static let kind = "integration-store-secret"

    /// A pulled project with `STORE`, which an integration manages, and `OWN`.
    private func pulled() throws -> SandboxHome {
        let platform = try SandboxHome(
            seed: """
                {"projects": [{"name": "web", "deployments": [{"target": "production"}],
                  "env": [{"key": "STORE", "value": "theirs", "target": ["production"],
                           "integration": "\(Self.kind)"},
                          {"key": "OWN", "value": "mine", "target": ["production"]}]}]}
                """)
        done(try platform.run("pull", "-p", "web", "--yes"))
        return platform
    }

    private let place = "Integrations, the resource, Settings, Rotate Secrets"

    @Test func `VER-integration list and show say which ones they are`() throws {
        let platform = try pulled()
        let list = try json(platform.run("list", "-p", "web", "--json"))
        let labels = list["variables"]?.elements.map {
            "\($0["key"]?.text ?? "") \($0["integration"]?.text ?? "none")"
        }
        #expect(labels == ["OWN none", "STORE \(Self.kind)"])
        let table = done(try platform.run("list", "-p", "web")).output
        #expect(table.contains("encrypted, integration"), "\(table)")
        let shown = done(try platform.run("show", "STORE", "-p", "web")).output
        #expect(shown.contains("by an integration (\(Self.kind))"), "\(shown)")
        #expect(!done(try platform.run("show", "OWN", "-p", "web")).output.contains("integration"))
        // Once it is the project's alone, the label goes.
        try platform.server.perform(try #require(Act("remove,key=STORE")))
        let after = try json(platform.run("list", "-p", "web", "--refresh", "--json"))
        #expect(
            after["variables"]?.elements.allSatisfy { $0["integration"] == .null } == true)
    }

    @Test func `VER-integration nothing changes it without --force`() throws {
        let platform = try pulled()
        try platform.set("STORE", "changed", "-t", "production")
        try platform.set("OWN", "changed", "-t", "production")
        let (report, message) = try failedReport(platform.push(), 5, "conflict")
        // The others are sent.
        #expect(report.keys("managed") == ["STORE"] && report.keys("updated") == ["OWN"])
        #expect(
            message.contains(place) && message.contains("zg-env push STORE -p web --force"),
            "\(message)")
        #expect(platform.records("STORE") == ["production=theirs"])
        #expect(platform.records("OWN") == ["production=changed"])
        let removed = try platform.run("rm", "STORE", "-p", "web", "--yes", "--push")
        #expect(removed.status == 5 && removed.error.contains(place), "\(removed.error)")
        #expect(platform.records("STORE") == ["production=theirs"])
        done(try platform.run("push", "STORE", "-p", "web", "--force", "--yes"))
        #expect(platform.records("STORE").isEmpty)
    }

    @Test func `VER-integration one that was renamed is named as in the vault`() throws {
        let platform = try pulled()
        try platform.set("STORE", "changed", "-t", "production")
        done(try platform.run("rename", "STORE", "SHOP", "-p", "web"))
        let (_, message) = try failedReport(platform.push(), 5, "conflict")
        #expect(message.contains("zg-env push SHOP -p web --force"), "\(message)")
        done(try platform.run("push", "SHOP", "-p", "web", "--force", "--yes"))
        #expect(platform.records("SHOP") == ["production=changed"])
    }

    @Test func `VER-integration what needs the place of one is left out`() throws {
        let platform = try pulled()
        try platform.set("FREE", "1", "-t", "production")
        try platform.set("STORE", "changed", "-t", "production")
        done(try platform.run("rename", "STORE", "SHOP", "-p", "web"))
        done(try platform.run("rename", "OWN", "STORE", "-p", "web"))
        let dry = try platform.run("push", "-p", "web", "--dry-run")
        let reason = "an integration manages it on Vercel"
        #expect(dry.output.contains("STORE (production) is left out: \(reason)"), "\(dry.output)")
        let (report, message) = try failedReport(platform.push(), 5, "conflict")
        // A new name changes nothing of the integration's.
        #expect(report.keys("managed") == ["STORE"] && report.keys("created") == ["FREE", "SHOP"])
        #expect(report.reasons("managed") == [reason])
        #expect(report.keys("conflicts").isEmpty && report.keys("failed").isEmpty, "\(report)")
        #expect(message.contains("zg-env push STORE -p web --force"), "\(message)")
        #expect(platform.records("STORE") == ["production=theirs"])
        // It keeps its old name until the new one is there.
        #expect(platform.records("OWN") == ["production=mine"])
        done(try platform.run("push", "STORE", "-p", "web", "--force", "--yes"))
        #expect(platform.records("SHOP") == ["production=changed"])
        #expect(platform.records("STORE") == ["production=mine"])
        #expect(platform.records("OWN").isEmpty)
    }

    @Test func `VER-integration two exchanged names wait for each other`() throws {
        let platform = try pulled()
        try platform.set("STORE", "changed", "-t", "production")
        for (old, new) in [("STORE", "OTHER"), ("OWN", "STORE"), ("OTHER", "OWN")] {
            done(try platform.run("rename", old, new, "-p", "web"))
        }
        for _ in 0..<2 {
            let writes = try platform.writes {
                let (report, _) = try failedReport(platform.push(), 5, "conflict")
                #expect(report.keys("managed").sorted() == ["OWN", "STORE"])
            }
            #expect(writes == [])
        }
        done(try platform.run("push", "-p", "web", "--force", "--yes"))
        #expect(platform.records("STORE") == ["production=mine"])
        #expect(platform.records("OWN") == ["production=changed"])
    }

    @Test func `VER-integration harden and rotate leave it to the integration`() throws {
        let platform = try pulled()
        let all = try platform.run("harden", "-p", "web", "--yes", "--json")
        let report = try JSONDocument(all.standardOutput)
        #expect(all.status == 0, "\(all.error)")
        #expect(report["managed"]?.elements.compactMap(\.text) == ["STORE"])
        #expect(report.keys("hardened") == ["OWN"])
        let named = try platform.run("harden", "STORE", "-p", "web", "--yes")
        #expect(named.status == 5 && named.error.contains(place), "\(named.error)")
        // The vault must have a value to rotate.
        try platform.set("STORE", "theirs", "-t", "production")
        let writes = try platform.writes {
            let result = try platform.run(
                "rotate", "STORE", "-p", "web", "--yes", input: .text("new"))
            #expect(result.status == 5 && result.error.contains(place), "\(result.error)")
        }
        #expect(writes == [])
        #expect(platform.stored.first { $0.key == "STORE" }?.type == "encrypted")
    }

    @Test func `VER-integration a value that it replaced is left to it, and stops nothing`() throws
    {
        let platform = try SandboxHome(
            seed: """
                {"projects": [{"name": "web", "deployments": [{"target": "production"}],
                  "env": [{"key": "STORE", "value": "old", "target": ["production"]}]}]}
                """)
        done(try platform.run("pull", "-p", "web", "--yes"))
        let change = "set,key=STORE,value=theirs,integration=\(Self.kind),by=nobody"
        try platform.server.perform(try #require(Act(change)))
        let pulled = done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(pulled.output.contains("an integration changed it"), "\(pulled.output)")
        #expect(!pulled.output.contains("--force"), "\(pulled.output)")
        try platform.set("OWN", "1", "-t", "production")
        try platform.pushed()
        #expect(platform.records("STORE") == ["production=theirs"])
        #expect(platform.records("OWN") == ["production=1"])
        // Neither is it deleted by a push that prunes.
        let other = "create,key=OTHER,value=x,targets=production,integration=\(Self.kind)"
        try platform.server.perform(try #require(Act(other)))
        let (report, message) = try failedReport(platform.push("--prune"), 5, "conflict")
        #expect(report.keys("managed").contains("OTHER"))
        #expect(message.contains("zg-env push -p web --prune --force"), "\(message)")
        #expect(platform.records("OTHER") == ["production=x"])
    }
}
