internal import JSON

/// One request on its way to its resource.
struct Call: Sendable {
    let request: HTTPRequest
    /// What stood at the `:` places of the route, then the rest of the path for `*`.
    let parameters: [String]
    let token: AccessToken
    /// The id of the user or of the team that the request is about.
    let ownerId: String
    /// The time of the request; later than that of every request before.
    let now: Int64
    /// The sandbox's own time, without the guarantee of ``now``.
    let clock: Int64
    let effect: Fault.Effect?
    /// Why one item of the request is refused, if a fault wants that.
    let rejection: APIError?
    /// How a creation leaves open what it has kept.
    let silence: SilentBatch?
    let settings: Settings

    /// What a running sandbox is set to.
    struct Settings: Sendable {
        var baseURL: String
        var buildMilliseconds: Int64
        var build: BuildMode
        /// What builds print besides.
        var script: [String]?
        /// Reads the state later, for answers that go on; the time is advanced before.
        var observe: @Sendable (@Sendable (SandboxState) -> [UInt8]?) -> [UInt8]?
    }

    /// The body as JSON.
    func body() throws(APIError) -> JSONValue {
        do {
            return try JSONValue(parsing: request.body)
        } catch {
            throw .badRequest("Invalid JSON")
        }
    }

    /// The body as a JSON object.
    func fields() throws(APIError) -> Fields { try Fields(try body()) }

    /// The first numeric query parameter of these names; `nil` when all are missing.
    func number(_ names: String...) throws(APIError) -> Int64? {
        guard let name = names.first(where: { request.parameter($0) != nil }),
            let text = request.parameter(name)
        else { return nil }
        guard let number = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0.rounded()) })
        else { throw .badRequest("Invalid request: `\(name)` should be number.") }
        return number
    }

    /// The page size asked for, between 1 and 100.
    func limit(default size: Int64 = 20) throws(APIError) -> Int {
        let asked = try number("limit")
        return Int(min(max(asked ?? size, 1), 100))
    }
}

/// One method and path of the API.
struct Route: Sendable {
    typealias Handler = @Sendable (Call, inout SandboxState) throws(APIError) -> HTTPAnswer

    let method: String
    /// Words, `:` for any one part, and a closing `*` for any number of parts.
    let pattern: [String]
    /// False for the few addresses that need no token.
    let needsToken: Bool
    let handler: Handler

    init(
        _ method: String, _ pattern: String, needsToken: Bool = true, handler: @escaping Handler
    ) {
        self.method = method
        self.pattern = pattern.split(separator: "/").map(String.init)
        self.needsToken = needsToken
        self.handler = handler
    }

    /// What stands at the open places, or `nil` for another path.
    func parameters(_ segments: [String]) -> [String]? {
        let isOpen = pattern.last == "*"
        let fixed = isOpen ? pattern.dropLast() : pattern[...]
        guard isOpen ? segments.count >= fixed.count : segments.count == fixed.count else {
            return nil
        }
        var parameters: [String] = []
        for (word, segment) in zip(fixed, segments) {
            if word == ":" {
                parameters.append(segment)
            } else if word != segment {
                return nil
            }
        }
        return parameters + segments.dropFirst(fixed.count)
    }
}

/// Finds the route of a request by its resource, whatever the version.
enum Router {
    static let routes: [Route] =
        UserRoutes.routes + TeamRoutes.routes + ProjectRoutes.routes + EnvironmentRoutes.routes
        + DeploymentRoutes.routes + PullRoutes.routes + CustomEnvironmentRoutes.routes
        + SharedVariableRoutes.routes + EventRoutes.routes + PromotionRoutes.routes
        + WebhookRoutes.routes + TokenRoutes.routes

    /// The route and its parameters; 404 for an unknown path, 405 for another method.
    static func match(method: String, segments: [String]) throws(APIError)
        -> (route: Route, parameters: [String])
    {
        let resource = VersionedPath.resource(segments)
        var pathIsKnown = false
        for route in routes {
            guard let parameters = route.parameters(resource) else { continue }
            if route.method == method { return (route, parameters) }
            pathIsKnown = true
        }
        if pathIsKnown {
            throw APIError(
                status: 405, code: "method_unknown", message: "The method is not supported here.")
        }
        throw APIError(status: 404, code: "not_found", message: "The page could not be found.")
    }
}
