package import JSON
internal import Synchronization

/// A Vercel-compatible API server on this machine, for tests and demonstrations. Thread-safe.
package final class SandboxServer: Sendable {
    private let store: Store
    private let service: Service
    private let server: HTTPServer
    private let heartbeat: Heartbeat

    /// Reads the state file, or creates the state from the seed.
    package init(configuration: SandboxConfiguration = SandboxConfiguration()) throws(SandboxError)
    {
        let store = try Store(configuration)
        let service = Service(store: store)
        self.store = store
        self.service = service
        server = HTTPServer { service.answer($0) }
        heartbeat = Heartbeat(store: store)
    }

    deinit { stop() }

    /// Starts to accept connections on 127.0.0.1. Returns the base URL without a trailing slash,
    /// and the user's token.
    package func start() throws(SandboxError) -> (url: String, token: String) {
        guard let port = server.start(port: store.configuration.port) else {
            throw SandboxError(
                code: .portUnavailable,
                reason: "Cannot listen on port \(store.configuration.port).")
        }
        let url = "http://127.0.0.1:\(port)"
        let token = store.use { contents, _ in
            contents.baseURL = url
            return contents.state.tokens.first?.secret ?? ""
        }
        heartbeat.start()
        return (url, token)
    }

    /// Closes all connections. Does nothing if not started.
    package func stop() {
        heartbeat.stop()
        server.stop()
    }

    /// Advances the sandbox's time; builds and promotions follow at once.
    package func advanceClock(bySeconds seconds: Double) {
        store.use { contents, _ in contents.step(milliseconds: Int64(seconds * 1000)) }
        store.use { _, _ in }
    }

    package func setFaults(_ faults: [Fault]) {
        store.use { contents, _ in contents.faults = faults }
    }

    /// Performs an act as if in the dashboard.
    package func perform(_ act: Act) throws(SandboxError) {
        do throws(APIError) {
            try store.use { (contents, now) throws(APIError) in
                _ = try contents.state.perform(act, project: nil, at: contents.state.stamp(now))
                contents.isUnsaved = true
            }
        } catch {
            throw SandboxError(code: .actImpossible, reason: error.message)
        }
    }

    /// Changes settings like `PUT /_sandbox/settings`.
    package func set(_ settings: JSONValue) throws(SandboxError) {
        let clock = store.configuration.clock.milliseconds
        do throws(APIError) {
            try store.use { (contents, _) throws(APIError) in
                try contents.set(Fields(settings), clock: clock)
            }
        } catch {
            throw SandboxError(code: .settingsInvalid, reason: error.message)
        }
    }

    /// The ids of the token's user and of the first colleague.
    package var userIds: (own: String, other: String?) {
        store.use { contents, _ in
            (contents.state.user.id, contents.state.colleagues.first?.id)
        }
    }

    /// Sets how builds that start from now on end.
    package func setBuild(_ build: BuildMode) {
        store.use { contents, _ in contents.build = build }
    }

    /// Sets the additional output of builds that start from now on, in the notation of
    /// ``SandboxConfiguration/buildLog``.
    package func setBuildLog(_ lines: [String]?) {
        store.use { contents, _ in contents.script = lines }
    }

    /// Lets `onlooker` observe every request from the next one on; nil stops it.
    package func show(to onlooker: RequestObserver?) {
        service.show(to: onlooker)
    }

    /// Restarts with the seed and the initial settings.
    package func reset() { store.reset() }

    /// The requests since the start or the last reset, in order.
    package var requests: [SeenRequest] {
        store.use { contents, _ in
            contents.requests.entries.map { SeenRequest($0) }
        }
    }

    /// Returns the variables of a project by name or id, with any owner; `nil` for an unknown
    /// project.
    package func storedVariables(project name: String) -> [StoredVariable]? {
        store.use { contents, _ in
            let project = contents.state.projects.first { $0.id == name || $0.name == name }
            guard let project else { return nil }
            return contents.state.variables.filter { $0.projectId == project.id }.map {
                StoredVariable($0)
            }
        }
    }

    /// Whether production variables are hidden from tokens.
    package var hidesProduction: Bool {
        store.use { contents, _ in contents.state.tokens.contains(where: \.hidesProduction) }
    }

    /// Returns the variables of a deployment's build, by key; `nil` for an unknown deployment.
    package func builtVariables(deployment id: String) -> [String: String]? {
        store.use { contents, _ in
            contents.state.deployment(id: id).map { deployment in
                Dictionary(
                    deployment.variables.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
            }
        }
    }
}
