internal import JSON

/// A routed request.
struct Call: Sendable {
    let request: HTTPRequest
    /// The values of the route's `:` parts, then the rest of the path for `*`.
    let parameters: [String]
    let token: AccessToken
    /// The id of the user or team that the request is about.
    let ownerId: String
    /// The time of the request, later than that of every request before.
    let now: Int64
    /// The sandbox's time, without the guarantee of ``now``.
    let clock: Int64
    let effect: Fault.Effect?
    /// Why a fault refuses one item of the request.
    let rejection: APIError?
    /// How a fault makes a creation's response ambiguous.
    let silence: SilentBatch?
    let settings: Settings

    /// The settings of a running sandbox.
    struct Settings: Sendable {
        var baseURL: String
        var buildMilliseconds: Int64
        var build: BuildMode
        /// Additional build output.
        var script: [String]?
        /// Reads the state later, for streamed responses; advances the time before.
        var observe: @Sendable (@Sendable (SandboxState) -> [UInt8]?) -> [UInt8]?
    }

    /// Returns the body as a JSON object.
    func fields() throws(APIError) -> Fields { try request.fields() }

    /// Returns the first numeric query parameter with one of these names.
    func number(_ names: String...) throws(APIError) -> Int64? {
        guard let name = names.first(where: { request.parameter($0) != nil }),
            let text = request.parameter(name)
        else { return nil }
        guard let number = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0.rounded()) })
        else { throw .badRequest("Invalid request: `\(name)` should be number.") }
        return number
    }

    /// Returns the requested page size, between 1 and 100.
    func limit(default size: Int64 = 20) throws(APIError) -> Int {
        let asked = try number("limit")
        return Int(min(max(asked ?? size, 1), 100))
    }
}

extension HTTPRequest {
    /// Returns the body as JSON.
    func json() throws(APIError) -> JSONValue {
        do {
            return try JSONValue(parsing: body)
        } catch {
            throw .badRequest("Invalid JSON")
        }
    }

    /// Returns the body as a JSON object.
    func fields() throws(APIError) -> Fields { try Fields(try json()) }
}

/// A method and path of the API.
struct Route: Sendable {
    typealias Handler = @Sendable (Call, inout SandboxState) throws(APIError) -> HTTPAnswer

    let method: String
    /// Words, `:` for any one part, and a final `*` for any number of parts.
    let pattern: [String]
    /// False for the few routes without authentication.
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

    /// Returns the values of the variable parts, or `nil` for another path.
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

/// Finds the route of a request, ignoring the API version.
enum Router {
    static let routes: [Route] =
        UserRoutes.routes + TeamRoutes.routes + ProjectRoutes.routes + EnvironmentRoutes.routes
        + DeploymentRoutes.routes + PullRoutes.routes + CustomEnvironmentRoutes.routes
        + SharedVariableRoutes.routes + EventRoutes.routes + PromotionRoutes.routes
        + WebhookRoutes.routes + TokenRoutes.routes

    /// Returns the route and its parameters; throws 404 for an unknown path, 405 for another
    /// method.
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
