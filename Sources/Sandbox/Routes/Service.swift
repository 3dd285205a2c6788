internal import JSON
internal import Threads

/// Responds to requests: checks faults first, then the token and owner, then the resource.
final class Service: Sendable {
    let store: Store
    private let onlooker = Monitor<RequestObserver?>(nil)

    init(store: Store) { self.store = store }

    /// Lets `onlooker` observe every request from the next one on; nil stops it.
    func show(to onlooker: RequestObserver?) {
        self.onlooker.look { $0 = onlooker }
        store.use { contents, _ in contents.observationCount = 0 }
    }

    /// Returns the response to one request.
    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        if request.segments.first == "_sandbox" {
            var answer =
                request.isTooLarge
                ? APIError.tooLarge.answer : ControlRoutes.answer(request, store: store)
            answer.headers.append(store.use { contents, now in contents.date(now) })
            return answer
        }
        let arrivedAt = ContinuousClock.now
        let onlooker = onlooker.look { $0 }
        guard onlooker?.arrives(request.method, request.path) ?? true else {
            return HTTPAnswer(status: 0, body: .bytes([]), delivery: .reset)
        }
        let (answer, moment) = store.use { contents, now in
            let (answer, entry, states) = self.answer(request, now: now, &contents)
            contents.observationCount += 1
            let moment = RequestObserver.Moment(
                number: contents.observationCount - 1, entry: entry, arrivedAt: arrivedAt,
                date: now + contents.settings.dateOffset, states: states)
            return (answer, moment)
        }
        onlooker?.leaves(moment)
        return answer
    }

    private func answer(
        _ request: HTTPRequest, now: Int64, _ contents: inout Store.Contents
    ) -> (answer: HTTPAnswer, entry: RequestLog.Entry, states: RequestObserver.States) {
        let strike = contents.strike(request)
        let fault = strike.fault
        let project = request.project
        var present = now
        var answer: HTTPAnswer
        var states = RequestObserver.States(of: contents.state.variables)
        do throws(APIError) {
            try contents.perform(.before, of: strike, project: project, now: &present)
            states.asked = contents.state.variables
            states.hidesProduction = contents.state.tokens.contains(where: \.hidesProduction)
            let instead = try fault?.kind.prematureResponse(
                now: present, contents.state, project: project)
            answer = instead ?? self.served(request, fault: fault, now: present, &contents)
            fault?.kind.spoil(&answer)
            states.served = contents.state.variables
            present = max(present, contents.state.lastStamp)
            try contents.perform(.then, of: strike, project: project, now: &present)
        } catch {
            // The test that set the fault must notice that it did not happen.
            answer = error.impossible.answer
        }
        states.after = contents.state.variables
        // The sandbox's time, which tests step: clients compute a limit's reset from it.
        answer.headers.append(contents.date(now))
        answer.delaySeconds += contents.settings.latencySeconds
        let entry = RequestLog.Entry(
            at: now, method: request.method, target: request.loggedTarget,
            body: (try? JSONValue(parsing: request.body)).map { RequestLog.masked($0) },
            status: answer.status, fault: strike.text)
        contents.requests.append(entry)
        return (answer, entry, states)
    }

    private func served(
        _ request: HTTPRequest, fault: Fault?, now: Int64, _ contents: inout Store.Contents
    ) -> HTTPAnswer {
        var limits: [(name: String, value: String)] = []
        do throws(APIError) {
            guard !request.isMalformed else {
                throw .badRequest("The URL is not percent-encoded UTF-8.")
            }
            let secret = Authorization.secret(of: request)
            if let window = contents.window(of: request, secret: secret) {
                let standing = contents.limiter.count(window, now: now)
                limits = standing.headers
                if standing.isExceeded {
                    let seconds = max(1, (standing.resetMilliseconds - now + 999) / 1000)
                    limits.append(("Retry-After", String(seconds)))
                    throw standing.error
                }
            }
            guard !request.isTooLarge else { throw .tooLarge }
            var answer = try routed(request, secret: secret, fault: fault, now: now, &contents)
            answer.headers += limits
            return answer
        } catch {
            var failure = error
            failure.headers += limits
            return failure.answer
        }
    }

    private func routed(
        _ request: HTTPRequest, secret: String?, fault: Fault?, now: Int64,
        _ contents: inout Store.Contents
    ) throws(APIError) -> HTTPAnswer {
        // The token is checked before the resource, so that nothing can be learned without one.
        let match: (route: Route, parameters: [String])
        let token: AccessToken
        let segments = request.segments
        if let open = try? Router.match(method: request.method, segments: segments),
            !open.route.needsToken
        {
            match = open
            token = .anonymous
        } else {
            token = try Authorization.token(secret, now: now, &contents.state)
            match = try Router.match(method: request.method, segments: segments)
        }
        let ownerId = try Authorization.ownerId(request, token: token, contents.state)
        try Authorization.checkScope(
            of: token, method: request.method, segments: segments, ownerId: ownerId,
            contents.state)
        var effect: Fault.Effect?
        var silence: SilentBatch?
        var rejection: APIError?
        switch fault?.kind {
        case .effect(let kind):
            effect = kind
            if kind == .rejectsOne { rejection = .unknownError }
        case .echoesValue(let echo):
            do throws(APIError) {
                rejection = try echo.error(in: contents.state, project: request.project)
            } catch {
                throw error.impossible
            }
        case .silentBatch(let batch): silence = batch
        default: break
        }
        let isChange = request.method != "GET"
        let store = store
        let call = Call(
            request: request, parameters: match.parameters, token: token, ownerId: ownerId,
            now: isChange ? contents.state.stamp(now) : now, clock: now, effect: effect,
            rejection: rejection, silence: silence,
            settings: Call.Settings(
                baseURL: contents.baseURL,
                buildMilliseconds: Int64(store.configuration.buildSeconds * 1000),
                build: contents.build, script: contents.script,
                observe: { look in store.use { contents, _ in look(contents.state) } }))
        if isChange { contents.isUnsaved = true }
        guard effect == .storesNothing || effect == .returnsOldRecord else {
            return try match.route.handler(call, &contents.state)
        }
        var forgotten = contents.state
        defer {
            // Never reuses an id that was shown.
            contents.state.generator = forgotten.generator
        }
        return try match.route.handler(call, &forgotten)
    }
}

extension Store.Contents {
    /// Returns the window that a request counts in, or nil without a limit.
    fileprivate func window(of request: HTTPRequest, secret: String?) -> RateLimit.Window? {
        guard let limit = settings.rateLimit else { return nil }
        let token = state.tokens.first { $0.secret == secret } ?? .anonymous
        let owner = try? Authorization.ownerId(request, token: token, state)
        return limit.window(
            method: request.method, segments: request.segments, token: secret ?? "",
            owner: owner ?? state.user.id, user: state.user.id)
    }

    /// Returns the `Date` header in the sandbox's time.
    func date(_ now: Int64) -> (name: String, value: String) {
        ("Date", Timestamp.http(now + settings.dateOffset))
    }

    /// The faults of one request.
    struct AppliedFaults {
        var fault: Fault?
        /// Indices of the acts around it.
        var acts: [Int] = []
        /// The description for the log.
        var text: String?
    }

    /// Returns the first matching fault and all matching acts. Counts the fault now, but acts only
    /// when they are performed.
    mutating func strike(_ request: HTTPRequest) -> AppliedFaults {
        var strike = AppliedFaults()
        var texts: [String] = []
        for index in faults.indices
        where faults[index].matches(method: request.method, path: request.path) {
            if faults[index].passing > 0 {
                faults[index].passing -= 1
                continue
            }
            if case .act = faults[index].kind {
                strike.acts.append(index)
            } else if strike.fault == nil {
                countStrike(of: index)
                strike.fault = faults[index]
            } else {
                continue
            }
            texts.append(faults[index].text)
        }
        if !texts.isEmpty { strike.text = texts.joined(separator: ", ") }
        return strike
    }

    private mutating func countStrike(of index: Int) {
        if let remaining = faults[index].remaining { faults[index].remaining = remaining - 1 }
    }

    /// Performs the acts of that moment; each one advances the time.
    mutating func perform(
        _ moment: Act.Moment, of strike: AppliedFaults, project: String?, now: inout Int64
    ) throws(APIError) {
        for index in strike.acts {
            guard case .act(let act, moment) = faults[index].kind else { continue }
            now = state.stamp(now)
            _ = try state.perform(act, project: project, at: now)
            isUnsaved = true
            countStrike(of: index)
        }
    }
}

extension HTTPRequest {
    /// The project in the path, by id or name.
    var project: String? {
        let parts = VersionedPath.resource(segments)
        if parts.count > 1, parts[0] == "projects" { return parts[1] }
        return parts.count > 3 && parts.starts(with: ["env", "pull"]) ? parts[2] : nil
    }

    /// The path and query for the log; they never contain secrets.
    var loggedTarget: String {
        query.isEmpty
            ? path : path + "?" + query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
}
