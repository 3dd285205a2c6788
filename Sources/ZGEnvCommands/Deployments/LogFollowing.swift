internal import EnvOperations
internal import VercelAPI

/// Shows a log as it comes.
struct LogFollowing {
    let client: VercelClient
    let output: any LogOutput
    let workspace: Workspace
    /// The longest time to follow it; nil for as long as it takes.
    var limit: Duration?

    /// Shows what there is of a log, and with `follows` what comes until the deployment has ended.
    ///
    /// - Returns: The deployment as it was seen last.
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
        // Whoever reads the output and is gone has ended it: the platform's answer is no failure.
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
    /// A result of which everything was shown already.
    static func shown(failure: CommandError? = nil) -> CommandResult {
        var result = CommandResult(writingSecrets: {})
        result.failure = failure
        return result
    }
}
