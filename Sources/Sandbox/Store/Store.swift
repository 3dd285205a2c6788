internal import Threads

/// The sandbox's state and settings behind one mutex.
final class Store: Sendable {
    struct Contents: Sendable {
        var state: SandboxState
        var faults: [Fault]
        var build: BuildMode
        var script: [String]?
        var settings: Settings
        var requests = RequestLog()
        /// Number of requests seen by an onlooker.
        var observationCount = 0
        var limiter = RateLimiter()
        var baseURL = ""
        /// Whether the state differs from its file.
        var isUnsaved = false
        /// Whether the last attempt to save failed.
        var hasSaveFailed = false

        /// Advances everything to the sandbox's time and returns it.
        mutating func advance(_ clock: SandboxClock) -> Int64 {
            let now = clock.milliseconds + settings.clockOffset + state.clockOffset
            if state.advance(to: now) { isUnsaved = true }
            return now
        }
    }

    let configuration: SandboxConfiguration
    private let file: StateFile?
    private let contents: Monitor<Contents>

    /// Reads the state file, or creates the state from the seed.
    init(_ configuration: SandboxConfiguration) throws(SandboxError) {
        self.configuration = configuration
        file = configuration.stateFile.map(StateFile.init(path:))
        var state: SandboxState
        if let kept = try file?.read() {
            state = kept
            Self.apply(configuration, to: &state)
        } else {
            state = try Self.seededState(configuration)
            try file?.write(state)
        }
        contents = Monitor(
            Contents(
                state: state, faults: configuration.faults, build: configuration.build,
                script: configuration.buildLog, settings: Settings(configuration)))
    }

    /// The initial time of a sandbox that was never stepped.
    private static func start(_ configuration: SandboxConfiguration) -> Int64 {
        configuration.clock.milliseconds + Settings(configuration).clockOffset
    }

    private static func seededState(_ configuration: SandboxConfiguration) throws(SandboxError)
        -> SandboxState
    {
        let now = start(configuration)
        var state = try SeedBuilder.state(of: configuration.seed, now: now)
        apply(configuration, to: &state)
        return state
    }

    /// Applies the settings that override a stored state.
    private static func apply(
        _ configuration: SandboxConfiguration, to state: inout SandboxState
    ) {
        state.maximumRecords = configuration.maximumVariables ?? state.maximumRecords
        state.webhooks.removeAll(where: \.hearsEverything)
        guard let receiver = configuration.webhook else { return }
        let now = start(configuration)
        state.webhooks.append(
            Webhook(
                id: state.generator.identifier("account_hook_", count: 24),
                secret: receiver.secret, url: receiver.url,
                events: Webhook.knownEvents.sorted(), ownerId: state.user.id, projectIds: [],
                hearsEverything: true, createdAt: now, updatedAt: now))
    }

    /// Accesses the contents, advanced to the present, and saves changes.
    func use<Result: Sendable, Failure>(
        _ body: (inout Contents, Int64) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try contents.look { (contents) throws(Failure) in
            let now = contents.advance(configuration.clock)
            defer {
                if contents.isUnsaved, let file {
                    contents.hasSaveFailed = (try? file.write(contents.state)) == nil
                }
                contents.isUnsaved = false
            }
            return try body(&contents, now)
        }
    }

    /// Restarts with the seed and the initial settings.
    func reset() {
        contents.look { contents in
            // The seed was valid at the start; if it no longer is, the old state stays.
            guard let state = try? Self.seededState(configuration) else { return }
            contents.state = state
            contents.faults = configuration.faults
            contents.build = configuration.build
            contents.script = configuration.buildLog
            contents.settings = Settings(configuration)
            contents.requests = RequestLog()
            contents.limiter = RateLimiter()
            contents.hasSaveFailed = (try? file?.write(state)) == nil && file != nil
        }
    }
}
