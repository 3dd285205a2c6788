internal import JSON
import Sandbox
import TestSupport
import Testing

/// A pull and a push of one project at the same time.
@Suite("A pull during a push")
struct PullLockTests {
    @Test func `a pull waits for the push in progress before it applies changes`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "here")
        try platform.pushed()
        try platform.change("KEY", ["value": "there"])
        let lock = try HeldLock(ofFile: platform.home.vaultPath + ".push.lock")
        // Reading takes no lock.
        #expect(try platform.pulled("--dry-run").keys("updated") == ["KEY"])
        let before = try platform.home.vaultBytes()
        var seen: [UInt8]?
        var runner = platform.runner(["pull", "-p", "web", "--yes"])
        runner.script = [
            (
                .error("Waiting for another push or pull"),
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
