import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// A redeploy whose answer is lost, while somebody else redeploys the same source: its mark tells which of
/// the two it is.
@Suite("A redeploy whose answer is lost")
struct LostRedeployTests {
    /// Runs `redeploy` with a fault at the request that makes the deployment. Before it looks what became of
    /// that a colleague makes another one of the same source.
    ///
    /// - Returns: Also the ids of what was made, newest first, and the colleague's.
    private func run(
        _ fault: String
    ) throws -> (result: ProgramResult, made: ArraySlice<String>, theirs: String) {
        let platform = try PlatformHome()
        let before = try platform.deployments()
        let source = try #require(try platform.current())
        // The first list is the search for the source. The second one has to wait for a second, which is
        // the colleague's.
        try platform.setFaults(
            "POST /v13/deployments \(fault) x1", "GET /v6/deployments 429:1 x1 @2")
        let colleague = Colleague(platform, source)
        var runner = platform.runner(["redeploy", "-p", "web", "--yes", "--json"])
        runner.script = [
            (.now, .call { _, _ in Thread.detachNewThread { colleague.redeploy() } })
        ]
        let result = try runner.run()
        let theirs = try #require(colleague.made())
        // Otherwise nothing would be proved: the colleague came before the look.
        let requests = platform.server.requests
        let request = try #require(requests.lastIndex { $0.method == "POST" })
        let look = requests.lastIndex { $0.path.hasPrefix("/v6/deployments?") }
        #expect(request < (try #require(look)))
        let made = try platform.deployments().dropLast(before.count)
        return (result, made, theirs)
    }

    /// Redeploys once the platform has seen a request to do so.
    private final class Colleague: @unchecked Sendable {
        private let platform: PlatformHome
        private let source: String
        private let passed: Int
        private let isDone = DispatchSemaphore(value: 0)
        private var id: String?

        init(_ platform: PlatformHome, _ source: String) {
            (self.platform, self.source) = (platform, source)
            passed = platform.server.requests.count
        }

        func redeploy() {
            platform.server.waits(after: passed) { requests in
                requests.contains { $0.method == "POST" }
            }
            let answer = try? platform.teammate.send(
                "POST", "/v13/deployments?forceNew=1",
                [
                    "deploymentId": .string(source), "name": "web", "target": "production",
                    "meta": ["action": "redeploy"],
                ])
            id = answer?["id"]?.string
            isDone.signal()
        }

        /// What was made, once it was.
        func made() -> String? {
            isDone.wait()
            return id
        }
    }

    @Test func `is found by its mark, though a colleague's is newer`() throws {
        let (result, made, theirs) = try run("lost-answer")
        let report = try json(result)
        #expect(made.count == 2)
        #expect(made.first == theirs)
        #expect(report["id"]?.text == made.last)
    }

    @Test func `is not taken to be a colleague's where it was never made`() throws {
        let (result, made, theirs) = try run("reset")
        #expect(Array(made) == [theirs])
        let text = try failedAsJSON(result, 7, "unavailable")
        #expect(text.contains("shows no new deployment"), "\(text)")
    }

    @Test func `is not known where the look is lost too`() throws {
        let platform = try PlatformHome()
        try platform.setFaults(
            "POST /v13/deployments lost-answer x1", "GET /v6/deployments html @2")
        let result = try platform.run("redeploy", "-p", "web", "--yes", "--json")
        let text = try failedAsJSON(result, 7, "unavailable")
        #expect(text.contains("cannot be seen"), "\(text)")
    }
}
