/// Answers requests: faults first, then who asks and for whom, then the resource.
final class Service: Sendable {
    let store: Store

    init(store: Store) { self.store = store }

    /// The answer to one request.
    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        if request.segments.first == "_sandbox" {
            return request.isTooLarge
                ? APIError.tooLarge.answer : ControlRoutes.answer(request, store: store)
        }
        return store.use { contents, now in
            let fault = contents.strike(request)
            var answer =
                fault?.kind.answerInstead(now: now)
                ?? self.served(request, fault: fault, now: now, &contents)
            fault?.kind.spoil(&answer)
            // The sandbox's own time, which tests step: clients count a limit's reset from it.
            answer.headers.append(("Date", Timestamp.http(now)))
            contents.requests.append(
                RequestLog.Entry(
                    at: now, method: request.method, target: request.loggedTarget,
                    body: (try? JSONParser.value(of: request.body)).map {
                        RequestLog.masked($0)
                    }, status: answer.status, fault: fault?.text))
            return answer
        }
    }

    private func served(
        _ request: HTTPRequest, fault: Fault?, now: Int64, _ contents: inout Store.Contents
    ) -> HTTPAnswer {
        var limits: [(name: String, value: String)] = []
        do throws(APIError) {
            guard !request.isMalformed else {
                throw .badRequest("The address is not percent-encoded UTF-8.")
            }
            let secret = Authorization.secret(of: request)
            if let limit = store.configuration.requestsPerMinute {
                let standing = contents.limiter.count(secret ?? "", limit: limit, now: now)
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
        // Who asks is looked at before what is asked for, so that nothing can be found out
        // without a token.
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
        var effect: Fault.Effect?
        var silence: SilentBatch?
        switch fault?.kind {
        case .effect(let kind): effect = kind
        case .silentBatch(let batch): silence = batch
        default: break
        }
        let isChange = request.method != "GET"
        let store = store
        let call = Call(
            request: request, parameters: match.parameters, token: token, ownerId: ownerId,
            now: isChange ? contents.state.stamp(now) : now, clock: now, effect: effect,
            rejection: effect == .rejectsOne ? .unknownError : nil, silence: silence,
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
            // An id that was shown is not given to another thing.
            contents.state.generator = forgotten.generator
        }
        return try match.route.handler(call, &forgotten)
    }
}

extension Store.Contents {
    /// The first fault that strikes a request; what is counted is counted.
    mutating func strike(_ request: HTTPRequest) -> Fault? {
        var struck: Int?
        for index in faults.indices
        where faults[index].matches(method: request.method, path: request.path) {
            if faults[index].passing > 0 {
                faults[index].passing -= 1
            } else if struck == nil {
                struck = index
            }
        }
        guard let struck else { return nil }
        if let remaining = faults[struck].remaining { faults[struck].remaining = remaining - 1 }
        return faults[struck]
    }
}

extension HTTPRequest {
    /// The path and query for the log; nothing secret is ever sent there.
    var loggedTarget: String {
        query.isEmpty
            ? path : path + "?" + query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
}
