import Sandbox
import TestSupport
import Testing

/// The platform's limits, of which a push tells before it sends anything.
@Suite("Limits of the platform")
struct PushLimitTests {
    /// What `set` is given, and a part of the sentence that the push ends with.
    static let refused: [(key: String, value: String, options: [String], says: String)] = [
        ("TZ", "v", [], "keeps this name for itself"),
        ("AWS_SECRET_KEY", "v", ["-t", "production"], "keeps this name for itself"),
        ("LAMBDA_TASK_ROOT", "v", [], "keeps this name for itself"),
        (String(repeating: "K", count: 257), "v", [], "at most 256 characters"),
        ("KEY", "v", ["-t", "preview", "-b", "main"], "production branch"),
        ("KEY", "v", ["-t", "preview", "-b", String(repeating: "b", count: 251)], "1 to 250"),
        ("KEY", "v", ["-t", "nowhere"], "no environment nowhere"),
        ("KEY", "v", ["--comment", String(repeating: "c", count: 501)], "at most 500"),
        ("KEY", String(repeating: "v", count: 65_537), [], "the platform takes 65536"),
    ]

    @Test func `each is told with exit 2, and nothing is sent`() throws {
        let platform = try PlatformHome()
        try platform.set("GOOD", "v")
        try platform.pushed()
        for entry in Self.refused {
            let set = platform.runner(
                ["set", entry.key, "-p", "web", "--raw"] + entry.options,
                input: .text(entry.value))
            done(try set.run())
            let before = platform.stored
            let writes = try platform.writes {
                let message = try failedAsJSON(platform.push(), 2, "usage")
                #expect(message.contains(entry.says), "\(entry.key): \(message)")
                #expect(message.contains("Nothing was sent"))
                // The value is in no sentence.
                #expect(!message.contains(String(repeating: "v", count: 100)))
            }
            #expect(writes == [])
            #expect(platform.stored == before)
            done(try platform.run("rm", entry.key, "-p", "web", "--yes", "--all"))
        }
        try platform.pushed().expectNothing()
    }

    @Test func `what is just within the limits arrives`() throws {
        let platform = try PlatformHome()
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

    @Test func `a sensitive variable is never one of development`() throws {
        let platform = try PlatformHome()
        let set = try platform.run(
            "set", "KEY", "-p", "web", "--type", "sensitive", "-t", "development", "--json",
            input: .text("v"))
        #expect(try failedAsJSON(set, 2, "usage").contains("development"))
        // Also where the type comes later.
        try platform.set("KEY", "v")
        let later = try platform.run(
            "set", "KEY", "-p", "web", "--type", "sensitive", "--json", input: .text("v"))
        #expect(try failedAsJSON(later, 2, "usage").contains("development"))
        try platform.pushed()
        #expect(platform.records("KEY") == ["production,preview,development=v"])
    }

    @Test func `what nobody is sure of is left to the platform, whose refusal is passed on`() throws
    {
        let platform = try PlatformHome()
        try platform.set("_UNDERSCORE", "a long enough value")
        try platform.set("GOOD", "v")
        let (report, message) = try failedReport(platform.push(), 1, "failed")
        #expect(report.keys("created") == ["GOOD"] && report.keys("failed") == ["_UNDERSCORE"])
        #expect(message.contains("_UNDERSCORE") && message.contains("KEY_INVALID_CHARACTERS"))
    }
}
