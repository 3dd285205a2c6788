internal import JSON
import TestSupport
import Testing

/// What groups learn of one command that pushes to several of their projects.
@Suite("VAL-CLAIMS: what groups learn of a push")
struct GroupClaimTests {
    @Test func `rotate over four shared projects tells each`() throws {
        let names = ["web", "p1", "p2", "p3"]
        let seed = names.map { #"{"name": "\#($0)", "deployments": [{"target": "production"}]}"# }
        let home = try RotationHome(
            seed: #"{"projects": [\#(seed.joined(separator: ","))]}"#, projects: names)
        // Two groups with two projects each.
        for (place, name) in names.enumerated() {
            let group = place < 2 ? "acme" : "other"
            let new = place % 2 == 0
            let at =
                new
                ? ["--at", try home.platform.home.directory.makeDirectory(group), "--as", "alice"]
                : []
            done(try home.platform.runner(["share", name, "--group", group, "--yes"] + at).run())
        }
        #expect(
            try json(home.rotate("--also-project", "p1,p2,p3", redeploys: false))["outcome"]
                == "done")
        var told: [String: Int] = [:]
        for group in ["acme", "other"] {
            let log = try json(home.platform.run("log", "--group", group, "--json"))
            for change in log["changes"]?.elements ?? [] {
                let claims = change["operations"]?.texts.count { $0 == "pushed KEY" } ?? 0
                told[change["project"]?.text ?? "", default: 0] += claims
            }
        }
        #expect(told == Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
    }
}
