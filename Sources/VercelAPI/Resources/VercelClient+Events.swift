internal import JSON
internal import Sealing

/// Why following a log ended.
package enum EventStreamEnd: Sendable, Equatable {
    /// The platform has nothing more to tell.
    case ended
    /// The receiver wanted no more.
    case stopped
}

extension VercelClient {
    /// Reads the newest events of a deployment, newest first.
    package func latestEvents(
        ofDeployment id: String, limit: Int
    ) throws(VercelAPIError) -> [DeploymentEvent] {
        var call = try APICall(
            .get, "/v3/deployments/\(id)/events",
            query: [
                ("direction", "backward"), ("follow", "0"), ("limit", String(limit)),
                ("builds", "1"),
            ])
        call.expectation = .lines
        let answer = try perform(call)
        let objects = try EventObjects()
        var events: [DeploymentEvent] = []
        _ = answer.response.body.withBytes { bytes in
            objects.take(bytes) { object in
                if let event = DeploymentEvent(object) { events.append(event) }
                return true
            }
        }
        guard objects.hasObjects || !objects.hasForeignText else { throw Self.noLog }
        return events
    }

    /// Reads the log of a deployment, oldest first, each event as it comes. A broken connection is
    /// made again from the last events on, and no event is told twice.
    ///
    /// - Parameters:
    ///   - follows: Goes on until the platform ends it, as it does once the build has ended; else
    ///     ends with the newest event.
    ///   - cursor: Where to begin; knows afterwards how far the log was read.
    ///   - onLoss: Told how many events were too long or broken, at the end of a connection.
    ///   - afterPiece: Called after each piece of the answer, and some ten times a second while
    ///     nothing comes. False ends it.
    ///   - onEvent: False ends it.
    /// - Throws: ``VercelAPIError/Code/unavailable`` once several connections in a row brought
    ///   nothing.
    package func followEvents(
        ofDeployment id: String, follows: Bool = true, cursor: EventCursor = EventCursor(),
        onLoss: (Int) -> Void = { _ in }, afterPiece: () -> Bool = { true },
        onEvent: (DeploymentEvent) -> Bool
    ) throws(VercelAPIError) -> EventStreamEnd {
        var failures = 0
        while true {
            var isStopped = false
            var hasNews = false
            var isConnected = false
            cursor.beginConnection()
            let call = try eventsCall(id, since: cursor.since, follows: follows)
            let outcome = try stream(
                call, onLoss: onLoss,
                afterPiece: {
                    isConnected = true
                    if !isStopped { isStopped = !afterPiece() }
                    return !isStopped
                },
                onEvent: { event in
                    guard cursor.isNew(event) else { return true }
                    hasNews = true
                    isStopped = !onEvent(event)
                    return !isStopped
                })
            if isStopped { return .stopped }
            guard let error = outcome.error else { return .ended }
            // A build may be silent for longer than a connection lasts.
            let isSilence = isConnected && error.transport?.code == .timedOut
            failures = isSilence ? 0 : hasNews ? 1 : failures + 1
            if isSilence { continue }
            guard
                let pause = session.policy.pause(
                    after: outcome.retry, attempt: failures, elapsed: .zero, isRepeatable: true,
                    random: session.random())
            else { throw error }
            guard session.waitingRoom.wait(pause) else {
                throw VercelAPIError(.cancelled, reason: "stopped")
            }
        }
    }

    private func eventsCall(
        _ id: String, since: APITime?, follows: Bool
    ) throws(VercelAPIError) -> APICall {
        var call = try APICall(
            .get, "/v3/deployments/\(id)/events",
            query: [
                ("direction", "forward"), ("follow", follows ? "1" : "0"), ("limit", "-1"),
                ("builds", "1"), ("since", since.map { String($0.milliseconds) }),
            ])
        // A build may be silent for long; the platform keeps the connection open.
        if follows { call.timeouts = HTTPTimeouts(idle: .seconds(120), total: nil) }
        return call
    }

    private static var noLog: VercelAPIError {
        VercelAPIError(
            .malformedAnswer, reason: "the API answered with something else than a log")
    }

    /// Makes one connection and hands over its events.
    private func stream(
        _ call: APICall, onLoss: (Int) -> Void, afterPiece: () -> Bool,
        onEvent: (DeploymentEvent) -> Bool
    ) throws(VercelAPIError) -> (error: VercelAPIError?, retry: RetryPolicy.Outcome) {
        let objects = try EventObjects()
        var unreadable = 0
        var wasStopped = false
        var isRefused = false
        var result: Result<HTTPResponse, TransportError>
        do throws(TransportError) {
            let response = try session.transport.stream(request(call)) { piece in
                let goesOn = objects.take(piece) { object in
                    switch DeploymentEvent.read(object) {
                    case .event(let event): return onEvent(event)
                    case .none: return true
                    case .refusal:
                        isRefused = true
                        return true
                    case .unreadable:
                        unreadable += 1
                        return true
                    }
                }
                wasStopped = !(goesOn && afterPiece())
                return !wasStopped
            }
            let isGood = (200..<300).contains(response.status)
            result =
                isGood && objects.isCutOff && !wasStopped
                ? .failure(
                    TransportError(
                        .cut, mayHaveReachedServer: true, reason: "the log was cut off"))
                : .success(response)
        } catch {
            // What was cut off comes again on the next connection.
            result = .failure(error)
        }
        let lost = objects.lostCount + unreadable
        if lost > 0 { onLoss(lost) }
        var ended = call
        ended.expectation = .lines
        let verdict = AnswerVerdict(
            result, call: ended, secrets: secrets(of: call),
            secondsSince1970: session.waitingRoom.secondsSince1970)
        if verdict.error == nil, isRefused || (objects.hasForeignText && !objects.hasObjects) {
            return (Self.noLog, .final)
        }
        return (verdict.error, verdict.outcome)
    }
}

extension DeploymentEvent {
    /// What an object of a log is.
    enum Reading {
        case event(DeploymentEvent)
        /// It only keeps the connection open, or is of no known kind.
        case none
        /// An error in the place of a log.
        case refusal
        /// No JSON.
        case unreadable
    }

    /// Reads one object of a log; nil for what cannot be read, or only keeps a connection open.
    init?(_ object: RawSpan) {
        guard case .event(let event) = Self.read(object) else { return nil }
        self = event
    }

    /// Reads one object of a log. Bytes that are no text, and halves of characters, are replaced:
    /// programs print what they like, and the rest of the line is worth reading.
    static func read(_ object: RawSpan) -> Reading {
        if let event = JSONDecoding.value(DeploymentEvent.self, from: object) {
            return .event(event)
        }
        let bytes = (0..<object.byteCount).map { object.byte(at: $0) }
        let mended = Array(String(decoding: bytes, as: UTF8.self).utf8)
        return mended.withBytes { mended in
            if let event = JSONDecoding.value(DeploymentEvent.self, from: mended) {
                return .event(event)
            }
            guard JSONTree.isJSON(mended) else { return .unreadable }
            let error = JSONDecoding.value(APIErrorBody.self, from: mended)
            return error?.code != nil ? .refusal : .none
        }
    }
}
