internal import Threads

/// The sandbox's state and settings behind one mutex.
final class Store: Sendable {
    /// What the mutex guards.
    struct Contents: Sendable {
        var state: SandboxState
        var faults: [Fault]
        var build: BuildMode
        var script: [String]?
        var settings: Settings
        var requests = RequestLog()
        /// How many requests somebody has looked on at.
        var momentCount = 0
        var limiter = RateLimiter()
        var baseURL = ""
        /// True when the state differs from its file.
        var isUnsaved = false
        /// True when the last attempt to save has failed.
        var hasSaveFailed = false

        /// Moves everything on to the sandbox's time.
        ///
        /// - Returns: That time.
        mutating func advance(_ clock: SandboxClock) -> Int64 {
            let now = clock.milliseconds + settings.clockOffset + state.clockOffset
            if state.advance(to: now) { isUnsaved = true }
            return now
        }
    }

    let configuration: SandboxConfiguration
    private let file: StateFile?
    private let contents: Monitor<Contents>

    /// Reads the state file, or makes the state of the seed when there is none.
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

    /// The time at the start of a sandbox that was never stepped.
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

    /// What counts for a kept state as for a new one.
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

    /// Uses the contents, moved on to the present, and saves the state if it has changed.
    func use<Result: Sendable>(_ body: (inout Contents, Int64) -> Result) -> Result {
        contents.look { contents in
            let now = contents.advance(configuration.clock)
            let result = body(&contents, now)
            if contents.isUnsaved, let file {
                do throws(SandboxError) {
                    try file.write(contents.state)
                    contents.hasSaveFailed = false
                } catch {
                    contents.hasSaveFailed = true
                }
            }
            contents.isUnsaved = false
            return result
        }
    }

    /// Starts over with the seed and the settings of the start.
    func reset() {
        contents.look { contents in
            // The seed was good at the start; should it not be now, the old state stays.
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
