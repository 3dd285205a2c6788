import JSON
import Sandbox
import TestSupport
import Testing

/// What a push leaves out because Vercel would reject it, and what cannot be sent without it.
@Suite("What a push leaves out")
struct LeftOutPushTests {
    @Test func `VER-left-out what needs the place of a rejected variable waits for it`() throws {
        let platform = try SandboxHome(seed: SandboxHome.bareSeed)
        try platform.set("A", "1", "-t", "production")
        try platform.set("B", "2", "-t", "production")
        try platform.pushed()
        try platform.set("A", "3", "-t", "production")
        done(try platform.run("rename", "A", "TZ", "-p", "web"))
        done(try platform.run("rename", "B", "A", "-p", "web"))
        try platform.set("FREE", "4", "-t", "production")
        let (report, message) = try failedReport(platform.push(), 1, "failed")
        #expect(report.keys("created") == ["FREE"] && report.keys("updated").isEmpty)
        #expect(report.keys("failed") == ["TZ", "A"] && report.keys("conflicts").isEmpty)
        #expect(
            report.reasons("failed").last
                == "left out: it needs the place that TZ has on Vercel, but that variable is not "
                + "sent")
        // Only the rejected one is to be removed.
        #expect(
            message.contains("2 variables were not sent. TZ: left out: Vercel reserves this name")
                && message.contains("Or remove TZ with: zg-env rm TZ -p web"), "\(message)")
        #expect(platform.records("A") == ["production=1"])
        #expect(platform.records("B") == ["production=2"])
        done(try platform.run("rename", "TZ", "C", "-p", "web"))
        try platform.pushed()
        #expect(platform.records("C") == ["production=3"])
        #expect(platform.records("A") == ["production=2"])
        #expect(platform.records("B").isEmpty)
    }

    /// A Secret and a readable variable exchange names, and the value for the Secret's place is one
    /// that a push does not send.
    @Test func `VER-left-out exchanged names stay as they are until both can be sent`() throws {
        let platform = try SandboxHome(seed: SandboxHome.bareSeed)
        try platform.set("A", "1", "-t", "production")
        try platform.set("B", "2", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("A", "op://vault/item/field", "-t", "production")
        for (old, new) in [("A", "X"), ("B", "A"), ("X", "B")] {
            done(try platform.run("rename", old, new, "-p", "web"))
        }
        for _ in 0..<2 {
            let writes = try platform.writes {
                let (report, _) = try failedReport(
                    platform.push("--allow-weaker"), 1, "failed")
                #expect(report.keys("failed").sorted() == ["A", "B"])
            }
            #expect(writes == [])
        }
        #expect(try platform.syncs("A").count == 1 && platform.syncs("B").count == 1)
        try platform.set("B", "3", "-t", "production")
        try platform.pushed("--allow-weaker")
        #expect(platform.records("A") == ["production=2"])
        #expect(platform.records("B") == ["production=3"])
        try platform.pushed().expectNothing()
    }
}
