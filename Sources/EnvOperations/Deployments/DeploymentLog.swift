package import HTTPClient
package import VercelAPI

/// Reads the log of one deployment, either up to now or until the deployment ends.
package struct DeploymentLog {
    /// How long the log may be silent before the state is requested: Vercel may keep a stream open
    /// that has ended.
    private static let silence = Duration.seconds(5)

    private let client: VercelClient
    private let watcher: VercelClient
    private let waitingRoom: any Sleeper

    /// - Parameters:
    ///   - client: Reads the log.
    ///   - watcher: Requests the state meanwhile, over its own connection.
    package init(
        client: VercelClient, watcher: VercelClient, waitingRoom: any Sleeper
    ) {
        self.client = client
        self.watcher = watcher
        self.waitingRoom = waitingRoom
    }

    /// The callbacks for a log.
    package struct Receiver {
        /// Called once for each event. False ends the call.
        package var onEvent: (DeploymentEvent) -> Bool
        /// Called after each piece, and about ten times a second while nothing arrives. False ends
        /// the call.
        package var afterPiece: () -> Bool
        /// Called with the number of events that were too long or malformed.
        package var onLoss: (Int) -> Void

        package init(
            onEvent: @escaping (DeploymentEvent) -> Bool, afterPiece: @escaping () -> Bool,
            onLoss: @escaping (Int) -> Void
        ) {
            self.onEvent = onEvent
            self.afterPiece = afterPiece
            self.onLoss = onLoss
        }
    }

    /// Reads the log up to now.
    package func read(
        _ deployment: Deployment, _ receiver: Receiver, after cursor: EventCursor = EventCursor()
    ) throws(VercelAPIError) {
        _ = try client.followEvents(
            ofDeployment: deployment.id, follows: false, cursor: cursor, onLoss: receiver.onLoss,
            afterPiece: receiver.afterPiece, onEvent: receiver.onEvent)
    }

    /// Reads the log until the deployment has ended or the receiver stops.
    ///
    /// - Returns: The deployment as last seen.
    package func follow(
        _ deployment: Deployment, _ receiver: Receiver
    ) throws(VercelAPIError) -> Deployment {
        // The log of an ended deployment is complete, so no stream is needed.
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
                // Read what was written between the end of the stream and the end of the build.
                try read(seen, receiver, after: cursor)
                return seen
            }
            // Vercel ended the stream although the build continues.
            guard waitingRoom.wait(pause) else { return seen }
            pause = min(pause * 2, .seconds(15))
        }
    }

    /// Follows one stream to its end, and returns whether the receiver stopped it.
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
                // A failure does no harm: the next attempt is soon.
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
    /// Returns whether a canceled deployment was canceled by its project's ignored build step,
    /// which only the log shows, or nil if the log cannot be read.
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
