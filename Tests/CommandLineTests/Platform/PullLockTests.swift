internal import JSON
import Sandbox
import TestSupport
import Testing

/// A pull and a push of one project, one beside the other.
@Suite("A pull beside a push")
struct PullLockTests {
    @Test func `what is applied waits for the push that is under way`() throws {
        let platform = try PlatformHome()
        try platform.set("KEY", "here")
        try platform.pushed()
        try platform.change("KEY", ["value": "there"])
        let lock = try HeldLock(ofFile: platform.home.vaultPath + ".push.lock")
        // Looking takes no lock.
        #expect(try platform.pulled("--dry-run").keys("updated") == ["KEY"])
        let before = try platform.home.vaultBytes()
        var seen: [UInt8]?
        var runner = platform.runner(["pull", "-p", "web", "--yes"])
        runner.script = [
            (
                .error("waiting for it"),
                .call { _, _ in
                    seen = try? platform.home.vaultBytes()
                    lock.release()
                }
            )
        ]
        let result = try runner.run()
        #expect(result.stepsDone == 1)
        #expect(seen == before)
        done(result)
        #expect(try platform.home.revealed("KEY") == Array("there".utf8))
    }
}
