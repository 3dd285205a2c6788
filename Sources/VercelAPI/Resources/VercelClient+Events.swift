internal import HTTPClient
internal import JSON
internal import Sealing

/// Why following a log ended.
package enum EventStreamEnd: Sendable, Equatable {
    /// Vercel ended the log.
    case ended
    /// A closure of the caller stopped it.
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
                if case .event(let event) = DeploymentEvent.read(object) { events.append(event) }
                return true
            }
        }
        guard objects.hasObjects || !objects.hasForeignText else { throw Self.noLog }
        return events
    }

    /// Reads the log of a deployment, oldest first, reporting each event as it arrives. After a
    /// broken connection it resumes at the last events and reports none twice.
    ///
    /// - Parameters:
    ///   - follows: Whether to continue until Vercel ends the log, as it does after the build;
    ///     otherwise ends with the newest event.
    ///   - cursor: Where to begin; afterwards, how far the log was read.
    ///   - onLoss: Called at the end of a connection with the number of events that were too long
    ///     or malformed.
    ///   - afterPiece: Called after each piece of the response, and about ten times a second while
    ///     nothing arrives. False ends the call.
    ///   - onEvent: Called for each event. False ends the call.
    /// - Throws: ``VercelAPIError/Code/unavailable`` once several connections in a row brought no
    ///   new events.
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
            let isSilence = follows && isConnected && error.transport?.code == .timedOut
            failures = isSilence ? 0 : hasNews ? 1 : failures + 1
            if isSilence { continue }
            guard
                let pause = session.policy.pause(
                    after: outcome.retry, attempt: failures, elapsed: .zero, isRepeatable: true,
                    random: session.random())
            else { throw error }
            guard session.waitingRoom.wait(pause) else {
                throw VercelAPIError(.cancelled, reason: "canceled")
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
        // A build may be silent for long; Vercel keeps the connection open.
        if follows { call.timeouts = HTTPTimeouts(idle: .seconds(120), total: nil) }
        return call
    }

    private static var noLog: VercelAPIError {
        VercelAPIError(
            .malformedAnswer, reason: "the API returned something other than a log")
    }

    /// Makes one connection and reports its events.
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
                let shouldContinue = objects.take(piece) { object in
                    switch DeploymentEvent.read(object) {
                    case .event(let event): return onEvent(event)
                    case .none: break
                    case .refusal: isRefused = true
                    case .unreadable: unreadable += 1
                    }
                    return true
                }
                wasStopped = !(shouldContinue && afterPiece())
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
            // The next connection repeats what was cut off.
            result = .failure(error)
        }
        let lost = objects.lostCount + unreadable
        if lost > 0 { onLoss(lost) }
        var ended = call
        ended.expectation = .lines
        let verdict = ResponseVerdict(
            result, call: ended, secrets: secrets(of: call),
            secondsSince1970: session.waitingRoom.secondsSince1970)
        if verdict.error == nil, isRefused || (objects.hasForeignText && !objects.hasObjects) {
            return (Self.noLog, .final)
        }
        return (verdict.error, verdict.outcome)
    }
}

extension DeploymentEvent {
    /// The result of reading one object of a log.
    enum Reading {
        case event(DeploymentEvent)
        /// It only keeps the connection open, or is of an unknown kind.
        case none
        /// An error instead of a log.
        case refusal
        /// Not JSON.
        case unreadable
    }

    /// Decodes one object of a log. Invalid UTF-8 and unpaired surrogates are replaced: programs
    /// print anything, and the rest of the line is still useful.
    static func read(_ object: RawSpan) -> Reading {
        if let event = JSONDecoding.value(DeploymentEvent.self, from: object) {
            return .event(event)
        }
        let bytes = (0..<object.byteCount).map { object.byte(at: $0) }
        let repaired = Array(String(decoding: bytes, as: UTF8.self).utf8)
        return repaired.withBytes { repaired in
            if let event = JSONDecoding.value(DeploymentEvent.self, from: repaired) {
                return .event(event)
            }
            guard JSONTree.isJSON(repaired) else { return .unreadable }
            let error = JSONDecoding.value(APIErrorBody.self, from: repaired)
            return error?.code != nil ? .refusal : .none
        }
    }
}
