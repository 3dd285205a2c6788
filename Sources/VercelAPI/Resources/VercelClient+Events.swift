internal import Sealing

/// Why following a log ended.
package enum EventStreamEnd: Sendable, Equatable {
    /// The platform has nothing more to tell.
    case ended
    /// The receiver wanted no more.
    case stopped
}

extension VercelClient {
    /// Reads the log of a deployment as far as it is, oldest first.
    package func events(ofDeployment id: String) throws(VercelAPIError) -> [DeploymentEvent] {
        var call = try eventsCall(id, since: nil, follows: false)
        call.expectation = .lines
        let answer = try perform(call)
        if let events = answer.response.body.withBytes({ DeploymentEvent.events(in: $0) }) {
            return events
        }
        throw VercelAPIError(
            .malformedAnswer, reason: "the API answered with something else than expected")
    }

    /// Follows the log of a deployment until the platform ends it. A broken connection is made
    /// again from the last event on, and no event is told twice.
    ///
    /// - Parameters:
    ///   - since: Only what happened after this moment.
    ///   - onEvent: False ends it.
    /// - Throws: ``VercelAPIError/Code/unavailable`` once several connections in a row brought
    ///   nothing.
    package func followEvents(
        ofDeployment id: String, since: APITime? = nil, onEvent: (DeploymentEvent) -> Bool
    ) throws(VercelAPIError) -> EventStreamEnd {
        var latest = since
        var seen: Set<String> = []
        var failures = 0
        while true {
            var isStopped = false
            var hasNews = false
            let call = try eventsCall(id, since: latest, follows: true)
            let outcome = try stream(call) { event in
                if let id = event.id, !seen.insert(id).inserted { return true }
                hasNews = true
                if let date = event.date { latest = max(latest ?? date, date) }
                isStopped = !onEvent(event)
                return !isStopped
            }
            if isStopped { return .stopped }
            guard let error = outcome.error else { return .ended }
            failures = hasNews ? 1 : failures + 1
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

    /// Makes one connection and hands over its events.
    private func stream(
        _ call: APICall, onEvent: (DeploymentEvent) -> Bool
    ) throws(VercelAPIError) -> (error: VercelAPIError?, retry: RetryPolicy.Outcome) {
        let lines = try EventLines()
        func onLine(_ line: RawSpan) -> Bool {
            // A platform that does not follow answers with one array, on one line.
            (DeploymentEvent.events(in: line) ?? []).allSatisfy(onEvent)
        }
        var result: Result<HTTPResponse, TransportError>
        do throws(TransportError) {
            let response = try session.transport.stream(request(call)) { piece in
                lines.take(piece, onLine: onLine)
            }
            _ = lines.finish(onLine: onLine)
            result = .success(response)
        } catch {
            result = .failure(error)
        }
        var ended = call
        ended.expectation = .lines
        let verdict = AnswerVerdict(
            result, call: ended, sent: sentTexts(of: call),
            secondsSince1970: session.waitingRoom.secondsSince1970)
        return (verdict.error, verdict.outcome)
    }
}

extension DeploymentEvent {
    /// The events of an answer: an array, one object, or one object a line. What cannot be read,
    /// and what only keeps the connection open, is left out.
    ///
    /// - Returns: Nil if nothing of it is JSON. No bytes are no events.
    static func events(in body: RawSpan) -> [DeploymentEvent]? {
        if let list = JSONDecoding.value([Readable<DeploymentEvent>].self, from: body) {
            return list.compactMap(\.value)
        }
        if let one = JSONDecoding.value(Readable<DeploymentEvent>.self, from: body) {
            return [one.value].compactMap { $0 }
        }
        var events: [DeploymentEvent] = []
        var hasJSON = false
        var isBlank = true
        var start = 0
        for offset in 0...body.byteCount
        where offset == body.byteCount || body.byte(at: offset) == 0x0A {
            let line = body.extracting(start..<offset)
            start = offset + 1
            guard (0..<line.byteCount).contains(where: { line.byte(at: $0) > 0x20 }) else {
                continue
            }
            isBlank = false
            guard let read = JSONDecoding.value(Readable<DeploymentEvent>.self, from: line) else {
                continue
            }
            hasJSON = true
            if let event = read.value { events.append(event) }
        }
        return hasJSON || isBlank ? events : nil
    }
}
