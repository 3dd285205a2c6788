import Glibc
import Sandbox
import TestSupport
import Testing

/// Kills a push at each of its requests, and runs it again.
enum KilledPush {
    /// Kills a push of `web` during each of its requests in turn (some chosen by the seed; all of
    /// them with ZG_ENV_PROOF=full), pushes again to the end, and checks the result; then nothing
    /// may be left to push.
    ///
    /// - Parameters:
    ///   - prepared: Creates a sandbox and a vault, the same each time.
    ///   - count: The least number of requests of a complete push.
    ///   - look: Checks the final state of the sandbox.
    static func everywhere(
        prepared: () throws -> SandboxHome, atLeast count: Int,
        look: (SandboxHome, Comment) throws -> Void
    ) throws {
        // The number of requests of an undisturbed push.
        let whole = try prepared()
        let requests = try whole.requests { try whole.pushed() }
        #expect(requests.count >= count, "\(requests)")
        var random = ProofRandom(46)
        let boundaries = Proof.sample(Array(requests.indices), short: 9, using: &random)
        let platforms = try boundaries.map { boundary in
            let platform = try prepared()
            // Earlier requests pass; this one is carried out without an answer.
            let passing = boundary == 0 ? [] : ["* * slow:0 x\(boundary)"]
            platform.server.setFaults((passing + ["* * slow:20"]).compactMap { Fault($0) })
            return platform
        }
        let results = try Together.run(
            zip(boundaries, platforms).map { boundary, platform in
                platform.signalled(
                    platform.runner(["push", "-p", "web", "--yes"]), by: SIGKILL,
                    afterRequests: boundary + 1)
            })
        for (boundary, (platform, result)) in zip(boundaries, zip(platforms, results)) {
            let comment: Comment = "\(boundary): \(requests[boundary]) \(result.error)"
            #expect(result.end == .signalled(SIGKILL), comment)
            platform.server.setFaults([])
            try platform.pushed()
            try look(platform, comment)
            try platform.pushed().expectNothing()
        }
    }
}
