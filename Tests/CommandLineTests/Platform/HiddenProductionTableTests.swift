import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// The table of docs/vercel.md: what each command does with a token that may not see production.
@Suite("The table of hidden production variables")
struct HiddenProductionTableTests {
    /// What each command of the table is run as.
    private static let commands: [String: [[String]]] = [
        "pull": [["pull", "-p", "web", "--yes"], ["pull", "-p", "web", "--yes", "--force"]],
        "diff --remote": [["diff", "--remote", "-p", "web"]],
        "list --refresh": [
            ["list", "-p", "web", "--refresh"], ["list", "--all-projects", "--refresh"],
            ["list", "-p", "web", "--refresh", "-t", "production"],
        ],
        "show --refresh": [["show", "PROD", "-p", "web", "--refresh"]],
        "status --refresh": [["status", "-p", "web", "--refresh"]],
        "push": [["push", "-p", "web", "--yes"]],
        "push --force": [["push", "-p", "web", "--yes", "--force"]],
        "push --prune": [["push", "PREVIEW", "-p", "web", "--yes", "--prune"]],
        "push KEY": [["push", "PREVIEW", "-p", "web", "--yes"]],
        "set --push": [["set", "PROD", "-p", "web", "-t", "production", "--push", "--yes"]],
        "rm --push": [["rm", "PROD", "-p", "web", "--push", "--yes"]],
        "harden": [["harden", "-p", "web", "--yes"]],
        "rotate": [["rotate", "PROD", "-p", "web", "--yes", "--generate", "hex:16"]],
        "check --on vercel": [["check", "-p", "web", "--on", "vercel", "-t", "production"]],
        "reveal --remote": [["reveal", "PROD", "-p", "web", "--remote"]],
    ]

    /// The commands in the table with their exit codes.
    private static func table() throws -> [String: Int32] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(
            contentsOf: root.appending(path: "docs/vercel.md"), encoding: .utf8)
        let start = try #require(page.range(of: "## Hidden production variables\n"))
        let section = page[start.upperBound...].prefix { $0 != "#" }
        var codes: [String: Int32] = [:]
        for row in section.split(separator: "\n") where row.hasPrefix("| `") {
            let cells = row.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let code = try #require(Int32(cells[1]), "\(row)")
            for span in cells[0].split(separator: "`").enumerated().filter({ $0.offset % 2 == 0 }) {
                codes[String(span.element)] = code
            }
        }
        return codes
    }

    @Test func `VER-hidden-table the page has a row for each command`() throws {
        #expect(Set(try Self.table().keys) == Set(Self.commands.keys))
    }

    @Test(
        "VER-hidden-table: the exit codes are those of the page", arguments: commands.keys.sorted())
    func row(command: String) throws {
        let expected = try #require(try Self.table()[command])
        for arguments in try #require(Self.commands[command]) {
            let platform = try SandboxHome(
                seed: """
                    {"projects": [{"name": "web", "deployments": [{"target": "production"}]}]}
                    """)
            try platform.set("PROD", "live", "-t", "production")
            try platform.set("PREVIEW", "trial", "-t", "preview")
            try platform.pushed()
            // Something to send, for production and not.
            if expected != 0 || command == "push KEY" {
                try platform.set("PROD", "newer", "-t", "production")
                try platform.set("PREVIEW", "newer", "-t", "preview")
            }
            done(try platform.run("link", "web"))
            try platform.home.directory.write("# @required\nPROD=\n", to: "work/.env.schema")
            try platform.server.perform(try #require(Act("hide-production")))
            let input = command == "set --push" ? "newest" : ""
            let result = try platform.runner(arguments, input: .text(input)).run()
            let said = result.output + result.error
            #expect(result.end == .exited(expected), "\(arguments): \(said)")
            #expect(said.contains("Vercel hides 1 production variable from this token"), "\(said)")
            for word in ["removed on Vercel", "removed  ", "is gone", "no longer"] {
                #expect(!said.contains(word), "\(arguments): \(said)")
            }
            let production = platform.records("PROD")
            #expect(production == ["production=live"])
            let list = try json(platform.run("list", "-p", "web", "--json"))
            if command != "rm --push" {
                #expect(list["variables"]?.elements.allSatisfy { $0["removed"] == false } == true)
            }
            guard ["pull", "diff --remote", "list --refresh", "push KEY"].contains(command)
            else { continue }
            let report = try json(
                platform.runner(arguments + ["--json"], input: .text(input)).run())
            let all = report["projects"]?.elements.first ?? report
            #expect(all["hiddenProduction"] == 1, "\(arguments)")
        }
    }
}
