package import VercelAPI

/// Reads the log of one deployment, to where it is or to the end of the deployment.
package struct DeploymentLog {
    /// How often the state is asked for while the log brings nothing new: a platform may keep a
    /// stream open that has nothing left to tell.
    private static let silence = Duration.seconds(5)

    private let client: VercelClient
    private let watcher: VercelClient
    private let waitingRoom: any WaitingRoom

    /// - Parameters:
    ///   - client: Reads the log.
    ///   - watcher: Asks for the state meanwhile, over a connection of its own.
    package init(
        client: VercelClient, watcher: VercelClient, waitingRoom: any WaitingRoom
    ) {
        self.client = client
        self.watcher = watcher
        self.waitingRoom = waitingRoom
    }

    /// What is done with a log.
    package struct Receiver {
        /// Gets each event once. False ends it.
        package var onEvent: (DeploymentEvent) -> Bool
        /// Called after what came together, and some ten times a second while nothing comes. False
        /// ends it.
        package var afterPiece: () -> Bool
        /// Told of events that were too long or broken.
        package var onLoss: (Int) -> Void

        /// Names all parts.
        package init(
            onEvent: @escaping (DeploymentEvent) -> Bool, afterPiece: @escaping () -> Bool,
            onLoss: @escaping (Int) -> Void
        ) {
            self.onEvent = onEvent
            self.afterPiece = afterPiece
            self.onLoss = onLoss
        }
    }

    /// Reads what there is now.
    package func read(
        _ deployment: Deployment, _ receiver: Receiver
    ) throws(VercelAPIError) {
        _ = try client.followEvents(
            ofDeployment: deployment.id, follows: false, onLoss: receiver.onLoss,
            afterPiece: receiver.afterPiece, onEvent: receiver.onEvent)
    }

    /// Reads until the deployment has ended, or the receiver wants no more.
    ///
    /// - Returns: The deployment as it was seen last.
    package func follow(
        _ deployment: Deployment, _ receiver: Receiver
    ) throws(VercelAPIError) -> Deployment {
        // What has ended is read in one go: no stream is kept open for it.
        if deployment.state.isFinal {
            try read(deployment, receiver)
            return deployment
        }
        let cursor = EventCursor()
        var seen = deployment
        var pause = Duration.milliseconds(250)
        while true {
            let wasStopped = try connect(&seen, cursor, receiver)
            if wasStopped { return seen }
            seen = try client.deployment(seen.id)
            if seen.state.isFinal {
                // What was written between the end of the stream and that of the build.
                _ = try client.followEvents(
                    ofDeployment: seen.id, follows: false, cursor: cursor,
                    onLoss: receiver.onLoss, afterPiece: receiver.afterPiece,
                    onEvent: receiver.onEvent)
                return seen
            }
            // The platform ended the stream though the build goes on.
            guard waitingRoom.wait(pause) else { return seen }
            pause = min(pause * 2, .seconds(15))
        }
    }

    /// Follows one stream to its end.
    ///
    /// - Returns: Whether the receiver wanted no more.
    private func connect(
        _ seen: inout Deployment, _ cursor: EventCursor, _ receiver: Receiver
    ) throws(VercelAPIError) -> Bool {
        var wasStopped = false
        var isOver = false
        var lastNews = waitingRoom.elapsed
        var lastLook = lastNews
        let id = seen.id
        var state = seen
        _ = try client.followEvents(
            ofDeployment: id, cursor: cursor, onLoss: receiver.onLoss,
            afterPiece: {
                guard receiver.afterPiece() else {
                    wasStopped = true
                    return false
                }
                let now = waitingRoom.elapsed
                guard now - lastNews > Self.silence, now - lastLook > Self.silence else {
                    return true
                }
                lastLook = now
                // Not to know it for once is no harm: the next look is soon.
                guard let found = try? watcher.deployment(id) else { return true }
                state = found
                isOver = found.state.isFinal
                return !isOver
            },
            onEvent: { event in
                lastNews = waitingRoom.elapsed
                wasStopped = !receiver.onEvent(event)
                return !wasStopped
            })
        seen = state
        return wasStopped
    }
}

extension VercelClient {
    /// Whether a cancelled deployment was cancelled by its project's ignored-build step: the
    /// platform says it in the log and nowhere else. Nil where nothing can be read.
    package func wasIgnored(_ deployment: Deployment) -> Bool? {
        guard deployment.state == .canceled,
            let events = try? latestEvents(ofDeployment: deployment.id, limit: 50)
        else { return nil }
        return events.contains { event in
            let text = (event.text ?? "").lowercased()
            return text.contains("ignored build step") || text.contains("ignored-build step")
        }
    }
}
