import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// A redeploy whose answer is lost, while somebody else redeploys the same source: its deployment
/// marker tells them apart.
@Suite("A redeploy whose answer is lost")
struct LostRedeployTests {
    /// Runs `redeploy` with a fault at the request that creates the deployment. A colleague creates
    /// another one of the same source before zg-env searches for its own.
    ///
    /// - Returns: Also the ids of the new deployments, newest first, and the colleague's.
    private func run(
        _ fault: String
    ) throws -> (result: ProgramResult, made: ArraySlice<String>, theirs: String) {
        let platform = try SandboxHome()
        let before = try platform.deployments()
        let source = try #require(try platform.current())
        // The first list searches for the source. The second one waits a second, for the colleague.
        try platform.setFaults(
            "POST /v13/deployments \(fault) x1", "GET /v6/deployments 429:1 x1 @2")
        let colleague = Colleague(platform, source)
        var runner = platform.runner(["redeploy", "-p", "web", "--yes", "--json"])
        runner.script = [
            (.now, .call { _, _ in Thread.detachNewThread { colleague.redeploy() } })
        ]
        let result = try runner.run()
        let theirs = try #require(colleague.made())
        // Otherwise the test proves nothing: the colleague was first.
        let requests = platform.server.requests
        let request = try #require(requests.lastIndex { $0.method == "POST" })
        let look = requests.lastIndex { $0.path.hasPrefix("/v6/deployments?") }
        #expect(request < (try #require(look)))
        let made = try platform.deployments().dropLast(before.count)
        return (result, made, theirs)
    }

    /// Redeploys once the sandbox has seen a redeploy request.
    private final class Colleague: @unchecked Sendable {
        private let platform: SandboxHome
        private let source: String
        private let passed: Int
        private let isDone = DispatchSemaphore(value: 0)
        private var id: String?

        init(_ platform: SandboxHome, _ source: String) {
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

        /// The new deployments, once they exist.
        func made() -> String? {
            isDone.wait()
            return id
        }
    }

    @Test func `it is found by its marker, though a colleague's is newer`() throws {
        let (result, made, theirs) = try run("lost-answer")
        let report = try json(result)
        #expect(made.count == 2)
        #expect(made.first == theirs)
        #expect(report["id"]?.text == made.last)
    }

    @Test func `a colleague's is not mistaken for one that was never created`() throws {
        let (result, made, theirs) = try run("reset")
        #expect(Array(made) == [theirs])
        let text = try failedAsJSON(result, 7, "unavailable")
        #expect(text.contains("found no new deployment"), "\(text)")
    }

    @Test func `the outcome is unknown if the search fails too`() throws {
        let platform = try SandboxHome()
        try platform.setFaults(
            "POST /v13/deployments lost-answer x1", "GET /v6/deployments html @2")
        let result = try platform.run("redeploy", "-p", "web", "--yes", "--json")
        let text = try failedAsJSON(result, 7, "unavailable")
        #expect(text.contains("may have created"), "\(text)")
    }
}
