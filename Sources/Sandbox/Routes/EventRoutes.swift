internal import JSON
internal import Threads

/// Build logs and runtime logs.
enum EventRoutes {
    static let routes: [Route] = [
        Route("GET", "deployments/:/events", handler: events),
        Route("GET", "projects/:/deployments/:/runtime-logs", handler: runtimeLogs),
    ]

    struct Filter: Sendable {
        var since: Int64?
        var until: Int64?
        var hidesDelimiters: Bool

        func accepts(_ event: DeploymentEvent) -> Bool {
            (since.map { event.date >= $0 } ?? true) && (until.map { event.date <= $0 } ?? true)
                && !(hidesDelimiters && event.kind == .delimiter)
        }
    }

    private static func events(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let deployment = state.deployments[try DeploymentRoutes.index(call, state)]
        let request = call.request
        let filter = Filter(
            since: try call.number("since"), until: try call.number("until"),
            hidesDelimiters: request.parameter("delimiter") == "0")
        if request.flag("follow") {
            let follower = EventFollower(
                deploymentId: deployment.id, filter: filter,
                staysOpen: call.effect == .staysOpen)
            let observe = call.settings.observe
            return HTTPAnswer(
                status: 200, headers: [("Content-Type", "application/stream+json")],
                body: .stream { follower.next(observe) })
        }
        let isLines = request.parameter("format") == "lines"
        let hosts = state.hosts(of: deployment)
        // The end of alias assignment is only sent on streams.
        var found = deployment.log.filter {
            filter.accepts($0) && (isLines || $0.kind != .aliasAssigned)
        }
        if request.parameter("direction") == "backward" { found.reverse() }
        if let limit = try call.number("limit"), limit >= 0 {
            found = Array(found.prefix(Int(clamping: limit)))
        }
        let values = found.map { $0.json(deployment: deployment, hosts: hosts) }
        return isLines ? .lines(values) : .json(.array(values))
    }

    /// Failed deployments have no runtime logs.
    private static func runtimeLogs(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let index = try DeploymentRoutes.index(of: call.parameters[1], call, state)
        let deployment = state.deployments[index]
        guard deployment.projectId == project.id else { throw .notFound("Deployment") }
        guard let ready = deployment.readyAt else { return .lines([]) }
        let rows: [(level: String, message: String, status: Int64)] = [
            ("info", "GET / 200", 200), ("warning", "slow response", 200),
            ("error", "GET /missing 404", 404),
        ]
        return .lines(
            rows.enumerated().map { number, row in
                [
                    "level": .string(row.level), "message": .string(row.message),
                    "rowId": .string("\(deployment.id)-\(number)"), "source": "serverless",
                    "timestampInMs": .integer(ready + Int64(number) * 10),
                    "domain": .string(deployment.host), "messageTruncated": false,
                    "requestMethod": "GET", "requestPath": "/",
                    "responseStatusCode": .integer(row.status),
                ]
            })
    }
}

/// Streams a deployment's events as lines until the build and its aliases are done.
final class EventFollower: Sendable {
    private struct Progress {
        var given = 0
        var idle = 0
    }

    private let deploymentId: String
    private let filter: EventRoutes.Filter
    /// Whether it stays open after the end without events.
    private let staysOpen: Bool
    private let progress = Monitor(Progress())

    /// Most events per chunk.
    private static let portion = 250

    init(deploymentId: String, filter: EventRoutes.Filter, staysOpen: Bool) {
        self.deploymentId = deploymentId
        self.filter = filter
        self.staysOpen = staysOpen
    }

    /// Returns the lines since the last call, an empty chunk if there are none, `nil` at the end.
    func next(_ observe: @Sendable (@Sendable (SandboxState) -> [UInt8]?) -> [UInt8]?)
        -> [UInt8]?
    {
        observe { state in
            guard let deployment = state.deployment(id: self.deploymentId) else { return nil }
            return self.progress.look { progress in
                let fresh = deployment.log.dropFirst(progress.given).prefix(Self.portion)
                progress.given += fresh.count
                let hosts = state.hosts(of: deployment)
                let lines = fresh.filter(self.filter.accepts).flatMap { (event) -> [UInt8] in
                    event.json(deployment: deployment, hosts: hosts).encoded + [0x0A]
                }
                if !lines.isEmpty {
                    progress.idle = 0
                    return lines
                }
                if deployment.isSettled, progress.given == deployment.log.count, !self.staysOpen {
                    return nil
                }
                if !fresh.isEmpty { return [] }
                // An occasional object without `created` keeps the connection alive; the server
                // calls this about a hundred times a second.
                progress.idle += 1
                return progress.idle % 100 == 20 ? Array("{}\n".utf8) : []
            }
        }
    }
}
