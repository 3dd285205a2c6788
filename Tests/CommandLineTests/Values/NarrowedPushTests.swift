import TestSupport
import Testing

/// `--push` beside changes that were not sent: Vercel's older value stays where it was meant for.
@Suite("A push of one target beside unsent ones")
struct NarrowedPushTests {
    private let sandbox: SandboxHome

    init() throws { sandbox = try SandboxHome() }

    /// Vercel has `old` for some targets, the vault `new` for others too.
    private func widen(_ before: String, to after: String) throws {
        try sandbox.set("K", "old", "-t", before)
        try sandbox.pushed()
        try sandbox.set("K", "new", "-t", after)
    }

    @Test func `rm --push of a target sends no older value to a target that is new`() throws {
        try widen("qa", to: "production,development,qa")
        done(try sandbox.run("rm", "K", "-p", "web", "-t", "development", "--push", "--yes"))
        #expect(sandbox.records("K") == ["qa=old"])
        try sandbox.pushed()
        #expect(sandbox.records("K") == ["production,qa=new"])
    }

    @Test func `rm --push of the only target that Vercel has sends the new value`() throws {
        try widen("development", to: "preview,development")
        done(try sandbox.run("rm", "K", "-p", "web", "-t", "development", "--push", "--yes"))
        #expect(sandbox.records("K") == ["preview=new"])
        #expect(try sandbox.sync("K") == "synced")
    }

    @Test func `set --push of the target that Vercel has sends no older value elsewhere`() throws {
        try widen("qa", to: "production,development,qa")
        done(
            try sandbox.run(
                "set", "K", "-p", "web", "-t", "qa", "--push", "--yes", input: .text("newest")))
        #expect(sandbox.records("K") == ["production,development=new", "qa=newest"])
        #expect(try sandbox.syncs("K") == ["synced", "synced"])
    }
}
