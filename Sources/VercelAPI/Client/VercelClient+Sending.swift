internal import HTTPClient

/// The successful result of a call.
struct APIResult {
    let response: HTTPResponse
    /// Whether an earlier attempt of the same call may have been carried out.
    let isRepeat: Bool
}

extension VercelClient {
    func perform(_ call: APICall) throws(VercelAPIError) -> APIResult {
        guard let answer = perform([call]).first else {
            throw VercelAPIError(.unavailable, reason: "the request failed")
        }
        return try answer.get()
    }

    /// Makes calls in parallel and reads each response with `read`.
    ///
    /// Each response in memory needs four mappings, of which the kernel allows about 65,000, so at
    /// most 256 are held at a time.
    func perform<T>(
        _ calls: [APICall], read: (Int, APIResult) throws(VercelAPIError) -> T
    ) -> [Result<T, VercelAPIError>] {
        var results: [Result<T, VercelAPIError>] = []
        results.reserveCapacity(calls.count)
        while results.count < calls.count {
            let part = Array(calls.dropFirst(results.count).prefix(256))
            for answer in perform(part) {
                let place = results.count
                results.append(
                    Result { () throws(VercelAPIError) in try read(place, try answer.get()) })
            }
        }
        return results
    }

    /// Makes calls in parallel, within the rate limits, and retries those that the policy retries.
    ///
    /// - Returns: One result for each call, in their order. A failure does not stop the others; an
    ///   interrupt stops all unfinished ones.
    func perform(_ calls: [APICall]) -> [Result<APIResult, VercelAPIError>] {
        // Later responses may contain them as well.
        for call in calls where !call.sent.isEmpty { session.known.meet(call.sent) }
        var round = SendingRound(calls: calls, client: self)
        while let next = round.next() {
            switch next {
            case .send(let places): round.send(places)
            case .wait(let until): round.wait(until: until)
            }
        }
        return round.results
    }
}

/// The state of calls that are made together.
private struct SendingRound {
    enum Step {
        case send([(place: Int, group: Int64?)])
        case wait(until: Duration)
    }

    private struct Attempt {
        var count = 0
        var firstSent: Duration?
        var notBefore: Duration = .zero
        var mayHaveBeenDone = false
        var result: Result<APIResult, VercelAPIError>?
    }

    let calls: [APICall]
    let client: VercelClient
    private var attempts: [Attempt]

    init(calls: [APICall], client: VercelClient) {
        self.calls = calls
        self.client = client
        attempts = Array(repeating: Attempt(), count: calls.count)
    }

    private var session: VercelClient.Session { client.session }
    private var now: Duration { session.waitingRoom.elapsed }

    var results: [Result<APIResult, VercelAPIError>] {
        attempts.map {
            $0.result ?? .failure(VercelAPIError(.unavailable, reason: "the request failed"))
        }
    }

    /// Returns what to do next, or nil once all calls are done.
    mutating func next() -> Step? {
        var places: [(place: Int, group: Int64?)] = []
        var earliest: Duration?
        let now = now
        for place in attempts.indices where attempts[place].result == nil {
            guard attempts[place].notBefore <= now else {
                earliest = min(earliest ?? attempts[place].notBefore, attempts[place].notBefore)
                continue
            }
            switch session.limits.reserve(calls[place].route, now: now) {
            case .granted(let group): places.append((place, group))
            case .notBefore(let time): earliest = min(earliest ?? time, time)
            case .afterAnswer: break
            }
        }
        if !places.isEmpty { return .send(places) }
        return earliest.map { .wait(until: $0) }
    }

    /// Waits until `time`, or fails the remaining calls if that would take too long.
    mutating func wait(until time: Duration) {
        let pause = time - now
        if pause > session.policy.longestRateLimitWait {
            var error = VercelAPIError(
                .rateLimited, reason: "Vercel's rate limit is exhausted",
                hint: "try again later")
            error.retryAfter = pause
            return failRest(with: error)
        }
        session.pauseCount += 1
        if pause > .zero, !session.waitingRoom.wait(pause) {
            failRest(with: VercelAPIError(.cancelled, reason: "canceled"))
        }
    }

    private mutating func failRest(with error: VercelAPIError) {
        for place in attempts.indices where attempts[place].result == nil {
            attempts[place].result = .failure(error)
        }
    }

    mutating func send(_ granted: [(place: Int, group: Int64?)]) {
        let places = granted.filter { passesCheck($0.place, group: $0.group) }
        let requests = places.map { client.request(calls[$0.place].within(now)) }
        for (place, _) in places where attempts[place].firstSent == nil {
            attempts[place].firstSent = now
        }
        var answers: [(Int, Result<HTTPResponse, TransportError>)] = []
        session.transport.send(requests, concurrency: client.concurrency) { index, result in
            answers.append((index, result))
            // After a 429, the remaining requests would be rejected as well.
            if case .success(let response) = result { return response.status != 429 }
            if case .failure(let error) = result { return error.code != .cancelled }
            return true
        }
        var isAnswered = [Bool](repeating: false, count: places.count)
        for (index, result) in answers where places.indices.contains(index) {
            isAnswered[index] = true
            let (place, group) = places[index]
            session.limits.finish(
                calls[place].route, reserved: group, headers: (try? result.get())?.headers,
                now: now, secondsSince1970: session.waitingRoom.secondsSince1970)
            if let date = (try? result.get())?.headers[name: "Date"].flatMap({
                HTTPDate.seconds($0)
            }) {
                session.vercelSeconds = date
            }
            settle(place, result)
        }
        for (index, entry) in places.enumerated() where !isAnswered[index] {
            session.limits.finish(
                calls[entry.place].route, reserved: entry.group, headers: nil, now: now,
                secondsSince1970: session.waitingRoom.secondsSince1970)
        }
    }

    /// Runs the caller's check, and ends the call if it throws.
    private mutating func passesCheck(_ place: Int, group: Int64?) -> Bool {
        guard let check = calls[place].check else { return true }
        do throws(VercelAPIError) {
            try check()
            return true
        } catch {
            var error = error
            error.isAfterRepeat = attempts[place].mayHaveBeenDone
            error.isBeforeSending = true
            session.limits.finish(
                calls[place].route, reserved: group, headers: nil, now: now,
                secondsSince1970: session.waitingRoom.secondsSince1970)
            attempts[place].result = .failure(error)
            return false
        }
    }

    /// Records the end of one attempt: either its result, or when to retry.
    private mutating func settle(_ place: Int, _ result: Result<HTTPResponse, TransportError>) {
        let call = calls[place]
        attempts[place].count += 1
        let verdict = ResponseVerdict(
            result, call: call, secrets: client.secrets(of: call),
            secondsSince1970: session.waitingRoom.secondsSince1970)
        if let error = verdict.error, error.code == .cancelled {
            return failRest(with: error)
        }
        let first = attempts[place].firstSent ?? now
        if let pause = session.policy.pause(
            after: verdict.outcome, attempt: attempts[place].count, elapsed: now - first,
            isRepeatable: call.isRepeatable, random: session.random()),
            call.deadline.map({ now + pause < $0 }) ?? true
        {
            attempts[place].notBefore = now + pause
            session.pauseCount += 1
            if case .notNow = verdict.outcome {
                session.limits.close(call.route, until: now + pause)
            }
            if case .broken(mayHaveReachedServer: true) = verdict.outcome {
                attempts[place].mayHaveBeenDone = true
            }
            return
        }
        if var error = verdict.error {
            error.isAfterRepeat = attempts[place].mayHaveBeenDone
            attempts[place].result = .failure(error)
        } else if let response = try? result.get() {
            attempts[place].result = .success(
                APIResult(response: response, isRepeat: attempts[place].mayHaveBeenDone))
        }
    }
}
