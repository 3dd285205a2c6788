import Sandbox
import TestSupport
import Testing

/// What a push records in the audit log.
@Suite("A push's audit log")
struct PushAuditTests {
    private func entries(_ platform: SandboxHome) throws -> [[String?]] {
        let log = try json(platform.run("log", "--json"))
        return (log["entries"]?.elements ?? []).filter {
            ["push", "set --push", "harden", "rotate"].contains($0["command"]?.text)
        }.map { entry in
            [
                entry["command"]?.text, entry["names"]?.texts.joined(separator: ","),
                entry["outcome"]?.text,
            ]
        }
    }

    @Test func `a push that sends is an act; an empty one is not`() throws {
        let platform = try SandboxHome()
        try platform.set("B", "1")
        try platform.set("A", "2")
        done(try platform.run("push", "-p", "web", "--dry-run"))
        #expect(try entries(platform) == [])
        try platform.pushed()
        try platform.pushed().expectNothing()
        // The first push also links the project.
        #expect(
            try entries(platform) == [["push", "web", "done"], ["push", "A,B", "done"]])
        done(
            try platform.run("set", "C", "-p", "web", "--push", "--yes", input: .text("3")))
        #expect(
            try entries(platform).suffix(1) == [["set --push", "C", "done"]])
    }

    @Test func `a push within another command is logged under the command that was typed`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1", "-t", "production")
        try platform.pushed()
        let seen = try entries(platform).count
        done(try platform.run("harden", "A", "-p", "web", "--yes"))
        done(
            try platform.run(
                "rotate", "A", "-p", "web", "--yes", "--allow-missing", input: .text("2")))
        let commands = try entries(platform).dropFirst(seen).map { $0[0] }
        #expect(Set(commands) == ["harden", "rotate"], "\(commands)")
    }

    @Test func `a failed push is logged as failed`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1")
        try platform.setFaults("POST /v10/projects/*/env 400")
        #expect(try platform.push().status != 0)
        #expect(try entries(platform).suffix(1) == [["push", "A", "failed"]])
    }

    @Test(arguments: [["push"], ["set", "A"]])
    func `nothing is sent while the log cannot be written`(words: [String]) throws {
        let platform = try SandboxHome()
        try platform.set("A", "1")
        let more = words == ["push"] ? ["--yes"] : ["--push", "--yes"]
        var seen: [String] = []
        seen = try platform.requests {
            let result = try platform.runner(
                words + ["-p", "web", "--audit-log", "/dev/full"] + more, input: .text("2")
            ).run()
            #expect(result.end == .exited(1), "\(result.error)")
            #expect(result.error.contains("--audit-log"))
        }
        #expect(words != ["push"] || !seen.isEmpty)
        #expect(seen.allSatisfy { $0.hasPrefix("GET ") }, "\(seen)")
        #expect(platform.records("A") == [])
    }
}
