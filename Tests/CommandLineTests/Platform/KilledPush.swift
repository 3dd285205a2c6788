import Glibc
import Sandbox
import TestSupport
import Testing

/// A push that is killed at each of its requests, and run again.
enum KilledPush {
    /// Kills a push of `web` while each of its requests in turn is under way (some by the seed; all of them with
    /// ZG_ENV_PROOF=full), pushes again to the end, and has that looked at; then there is nothing left to push.
    ///
    /// - Parameters:
    ///   - prepared: Makes a platform and a vault, the same each time.
    ///   - count: How many requests a whole push has at least.
    ///   - look: At what the platform has in the end.
    static func everywhere(
        prepared: () throws -> PlatformHome, atLeast count: Int,
        look: (PlatformHome, Comment) throws -> Void
    ) throws {
        // How many requests there are, from a push that nobody stops.
        let whole = try prepared()
        let requests = try whole.requests { try whole.pushed() }
        #expect(requests.count >= count, "\(requests)")
        var random = ProofRandom(46)
        let boundaries = Proof.sample(Array(requests.indices), short: 9, using: &random)
        let platforms = try boundaries.map { boundary in
            let platform = try prepared()
            // Those before pass; this one is carried out, and nobody hears of it.
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
