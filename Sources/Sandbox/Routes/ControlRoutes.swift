internal import JSON

/// The control API for tests, below `/_sandbox`.
enum ControlRoutes {
    static func answer(_ request: HTTPRequest, store: Store) -> HTTPAnswer {
        do throws(APIError) {
            try checkSender(of: request)
            let secret = Authorization.secret(of: request)
            try store.use { (contents, now) throws(APIError) in
                _ = try Authorization.token(secret, now: now, &contents.state)
            }
            switch (request.method, request.segments.dropFirst().joined(separator: "/")) {
            case ("GET", "faults"):
                return store.use { contents, _ in .json(settings(contents)) }
            case ("PUT", "faults"):
                return try setFaults(request, store)
            case ("GET", "requests"):
                return store.use { contents, _ in
                    .json(["requests": .array(contents.requests.entries.map(\.json))])
                }
            case ("GET", "settings"):
                return store.use { contents, _ in .json(contents.settingsJSON) }
            case ("PUT", "settings"):
                return try setSettings(request, store)
            case ("POST", "acts"):
                return try perform(request, store)
            case ("POST", "reset"):
                store.reset()
                return .json([:])
            case ("POST", "clock"):
                return try stepClock(request, store)
            case ("GET", "clock"):
                return store.use { _, now in .json(["now": .integer(now)]) }
            case ("GET", "env"):
                return try storedVariables(request, store)
            case ("GET", "webhooks"):
                return store.use { contents, _ in
                    .json(["messages": .array(contents.state.messages.map(\.json))])
                }
            case ("POST", "webhooks/redeliver"):
                return try redeliver(request, store)
            default:
                throw .notFound("Control URL")
            }
        } catch {
            return error.answer
        }
    }

    /// Refuses requests that a page of another site makes through a browser on this machine.
    private static func checkSender(of request: HTTPRequest) throws(APIError) {
        let host = request.headers["host"] ?? ""
        let origin = request.headers["origin"]
        guard isLocal(host),
            origin.map({ $0.hasPrefix("http://") && isLocal($0.dropFirst(7)) }) ?? true
        else { throw .forbidden("Control URLs only serve this machine.") }
    }

    /// Returns whether a host with an optional port is this machine's own.
    private static func isLocal(_ host: some StringProtocol) -> Bool {
        let parts = host.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2 else { return false }
        return ["127.0.0.1", "localhost"].contains(name.lowercased())
            && (parts.count == 1 || UInt16(parts[1]) != nil)
    }

    private static func settings(_ contents: Store.Contents) -> JSONValue {
        [
            "faults": .array(
                contents.faults.map { fault in
                    [
                        "fault": .string(fault.text),
                        "passing": .integer(Int64(fault.passing)),
                        "remaining": .integer(orNull: fault.remaining.map(Int64.init)),
                    ]
                }), "build": .string(contents.build.text),
        ]
    }

    private static func setFaults(_ request: HTTPRequest, _ store: Store) throws(APIError)
        -> HTTPAnswer
    {
        let fields = try request.fields()
        try fields.allow(only: ["faults", "build", "log"])
        let faults = try fields.strings("faults")?.map { (text) throws(APIError) in
            guard let fault = Fault(text) else { throw .badRequest("Invalid fault: \(text)") }
            return fault
        }
        let build = try fields.string("build").map { (text) throws(APIError) in
            guard let build = BuildMode(text) else {
                throw .badRequest("Invalid build mode: \(text)")
            }
            return build
        }
        let script = try fields.strings("log")
        guard (script?.count ?? 0) <= BuildScript.maximumLines else {
            throw .badRequest("`log` has too many lines.")
        }
        return store.use { contents, _ in
            if let faults { contents.faults = faults }
            if let script { contents.script = script.isEmpty ? nil : script }
            if let build { contents.build = build }
            return .json(settings(contents))
        }
    }

    private static func setSettings(_ request: HTTPRequest, _ store: Store) throws(APIError)
        -> HTTPAnswer
    {
        let fields = try request.fields()
        let clock = store.configuration.clock.milliseconds
        return try store.use { (contents, _) throws(APIError) in
            try contents.set(fields, clock: clock)
            return .json(contents.settingsJSON)
        }
    }

    private static func perform(_ request: HTTPRequest, _ store: Store) throws(APIError)
        -> HTTPAnswer
    {
        let act = try Act(try request.fields())
        return try store.use { (contents, now) throws(APIError) in
            contents.isUnsaved = true
            return .json(
                try contents.state.perform(act, project: nil, at: contents.state.stamp(now)))
        }
    }

    private static func stepClock(_ request: HTTPRequest, _ store: Store) throws(APIError)
        -> HTTPAnswer
    {
        guard let seconds = try request.fields().members["advanceSeconds"]?.number,
            seconds >= 0, seconds <= 10 * 365 * 86400
        else { throw .badRequest("`advanceSeconds` should be a non-negative number.") }
        store.use { contents, _ in contents.step(milliseconds: Int64(seconds * 1000)) }
        return store.use { _, now in .json(["now": .integer(now)]) }
    }

    private static func storedVariables(_ request: HTTPRequest, _ store: Store) throws(APIError)
        -> HTTPAnswer
    {
        let secret = Authorization.secret(of: request)
        let name = request.parameter("project") ?? ""
        return try store.use { (contents, now) throws(APIError) in
            let token = try Authorization.token(secret, now: now, &contents.state)
            let owner = try Authorization.ownerId(request, token: token, contents.state)
            let projects = contents.state.projects
            let found = projects.filter { $0.id == name || $0.name == name }
            // Without a team in the request, any owner matches, the request's own first.
            let isScoped = ["teamId", "slug"].contains { request.parameter($0) != nil }
            guard
                let project = found.first(where: { $0.ownerId == owner })
                    ?? (isScoped ? nil : found.first)
            else { throw .notFound("Project") }
            let records = contents.state.variables.filter { $0.projectId == project.id }
            return .json(["envs": .array(records.map(\.storedJSON))])
        }
    }

    private static func redeliver(_ request: HTTPRequest, _ store: Store) throws(APIError)
        -> HTTPAnswer
    {
        let id = try request.fields().requiredString("id")
        return try store.use { (contents, now) throws(APIError) in
            guard let index = contents.state.messages.firstIndex(where: { $0.id == id }) else {
                throw .notFound("Message")
            }
            contents.state.messages[index].dueAt = now
            contents.isUnsaved = true
            return .json([:])
        }
    }
}

extension Store.Contents {
    /// Advances the sandbox's time.
    mutating func step(milliseconds: Int64) {
        state.clockOffset += milliseconds
        isUnsaved = true
    }
}

extension EnvironmentVariable {
    /// The stored record, with its value for any type.
    var storedJSON: JSONValue {
        .members([
            "id": .string(id), "key": .string(key), "value": .string(value),
            "type": .string(type.rawValue), "target": .strings(targets.map(\.rawValue)),
            "customEnvironmentIds": .strings(customEnvironmentIds),
            "gitBranch": .string(orNull: gitBranch), "comment": .string(orNull: comment),
            "createdAt": .integer(createdAt), "updatedAt": .integer(updatedAt),
            "createdBy": .string(orNull: createdBy), "updatedBy": .string(orNull: updatedBy),
        ])
    }
}

extension WebhookMessage {
    /// The message and the result of its delivery.
    var json: JSONValue {
        [
            "id": .string(id), "webhookId": .string(webhookId), "url": .string(url),
            "type": .string(type), "attempts": .integer(Int64(attempts)),
            "status": .integer(orNull: status.map(Int64.init)), "isDone": .bool(dueAt == nil),
        ]
    }
}
