import Sandbox
import TestSupport
import Testing

/// Vercel's limits, which a push checks before it sends anything.
@Suite("Limits of Vercel")
struct PushLimitTests {
    /// The input of `set`, and a part of the push's error message.
    static let refused: [(key: String, value: String, options: [String], says: String)] = [
        ("TZ", "v", [], "reserves this name"),
        ("AWS_SECRET_KEY", "v", ["-t", "production"], "reserves this name"),
        ("LAMBDA_TASK_ROOT", "v", [], "reserves this name"),
        (String(repeating: "K", count: 257), "v", [], "at most 256 characters"),
        ("KEY", "v", ["-t", "preview", "-b", "main"], "production branch"),
        ("KEY", "v", ["-t", "preview", "-b", String(repeating: "b", count: 251)], "1 to 250"),
        ("KEY", "v", ["-t", "nowhere"], "no custom environment nowhere"),
        ("KEY", "v", ["--comment", String(repeating: "c", count: 501)], "at most 500"),
        (
            "KEY", String(repeating: "v", count: 65_537), [],
            "the value is 65537 bytes long; Vercel's limit is 65536"
        ),
    ]

    @Test func `each exceeded limit is an error, and nothing is sent`() throws {
        let platform = try SandboxHome()
        try platform.set("GOOD", "v")
        try platform.pushed()
        for entry in Self.refused {
            let set = platform.runner(
                ["set", entry.key, "-p", "web", "--raw"] + entry.options,
                input: .text(entry.value))
            done(try set.run())
            let before = platform.stored
            let writes = try platform.writes {
                // A variable that Vercel would reject is left out; a project without that
                // environment stops everything.
                let message =
                    entry.says.contains("no custom environment")
                    ? try failedAsJSON(platform.push(), 2, "usage")
                    : try failedReport(platform.push(), 1, "failed").message
                #expect(message.contains(entry.says), "\(entry.key): \(message)")
                #expect(message.contains("Nothing was sent"))
                // No message contains the value.
                #expect(!message.contains(String(repeating: "v", count: 100)))
            }
            #expect(writes == [])
            #expect(platform.stored == before)
            done(try platform.run("rm", entry.key, "-p", "web", "--yes", "--all"))
        }
        try platform.pushed().expectNothing()
    }

    @Test func `values just within the limits arrive`() throws {
        let platform = try SandboxHome()
        let accepted: [(String, String, [String])] = [
            ("AWS_ACCESS_KEY_ID", "v", []),
            (String(repeating: "K", count: 256), "v", []),
            ("BRANCH", "v", ["-t", "preview", "-b", String(repeating: "b", count: 250)]),
            ("NOTE", "v", ["--comment", String(repeating: "c", count: 500)]),
            ("QA", "v", ["-t", "qa"]),
        ]
        for (key, value, options) in accepted {
            let set = platform.runner(
                ["set", key, "-p", "web", "--raw"] + options, input: .text(value))
            done(try set.run())
        }
        #expect(try platform.pushed().keys("created").count == accepted.count)
        try platform.pushed().expectNothing()
    }

    @Test func `a sensitive variable is for development only if that is named`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "v")
        let later = try platform.run(
            "set", "KEY", "-p", "web", "--type", "sensitive", "--json", input: .text("v"))
        #expect(try failedAsJSON(later, 2, "usage").contains("development"))
        try platform.pushed()
        #expect(platform.records("KEY") == ["production,preview,development=v"])
    }

    @Test func `uncertain limits are left to Vercel, and its refusal is reported`() throws {
        let platform = try SandboxHome()
        try platform.set("_UNDERSCORE", "a long enough value")
        try platform.set("GOOD", "v")
        let (report, message) = try failedReport(platform.push(), 1, "failed")
        #expect(report.keys("created") == ["GOOD"] && report.keys("failed") == ["_UNDERSCORE"])
        #expect(message.contains("_UNDERSCORE") && message.contains("KEY_INVALID_CHARACTERS"))
    }
}
