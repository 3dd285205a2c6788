internal import EnvOperations
internal import HTTPClient
internal import VercelAPI

/// Shows a deployment's log.
struct LogFollower {
    let client: VercelClient
    let output: any LogOutput
    let workspace: Workspace
    /// The time limit; nil for none.
    var limit: Duration?

    /// Shows the log so far, or with `follows` until the deployment ends.
    ///
    /// - Returns: The last seen state of the deployment.
    func show(_ deployment: Deployment, follows: Bool) throws -> Deployment {
        let waitingRoom = workspace.context.waitingRoom
        let log = DeploymentLog(
            client: client,
            watcher: client.connected(through: try workspace.context.transport()),
            waitingRoom: waitingRoom)
        let start = waitingRoom.elapsed
        var failure: (any Error)?
        func attempt(_ work: () throws -> Void) -> Bool {
            do {
                try work()
                return limit.map { waitingRoom.elapsed - start < $0 } ?? true
            } catch {
                failure = failure ?? error
                return false
            }
        }
        var last = deployment
        // If the reader of the output is gone, that error is thrown instead of Vercel's.
        let thrown: (any Error)?
        do throws(VercelAPIError) {
            let receiver = DeploymentLog.Receiver(
                onEvent: { event in attempt { try output.take(event) } },
                afterPiece: { attempt { try output.flush() } },
                onLoss: { count in _ = attempt { try output.lost(count) } })
            if follows {
                last = try log.follow(deployment, receiver)
            } else {
                try log.read(deployment, receiver)
            }
            thrown = nil
        } catch {
            thrown = error
        }
        if let failure { throw failure }
        try output.finish(failed: last.state.isFinal && last.state != .ready)
        if let thrown { throw thrown }
        return last
    }
}

extension CommandResult {
    /// Returns a result whose output was already written.
    static func shown(failure: CommandError? = nil) -> CommandResult {
        var result = CommandResult(writingSecrets: {})
        result.failure = failure
        return result
    }
}
