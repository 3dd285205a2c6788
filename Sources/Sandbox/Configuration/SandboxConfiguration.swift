/// The initial configuration of a sandbox.
package struct SandboxConfiguration: Sendable {
    /// A receiver of every event.
    package struct WebhookReceiver: Sendable {
        /// An `http` URL on this machine.
        package var url: String
        /// The secret that signs messages.
        package var secret: String

        package init(url: String, secret: String) {
            self.url = url
            self.secret = secret
        }

        /// Returns whether this is an `http` URL on this machine; messages are sent to no others.
        package static func isDeliverable(_ url: String) -> Bool { WebhookAddress(url) != nil }
    }

    /// 0 lets the system choose.
    package var port: UInt16 = 0
    /// The initial content without a state file.
    package var seed: Seed = .standard
    /// The file that keeps the state; `nil` keeps it in memory only.
    package var stateFile: String?
    /// How long a build takes.
    package var buildSeconds: Double = 2
    /// The initial faults, restored by a reset.
    package var faults: [Fault] = []
    /// The initial build mode, restored by a reset.
    package var build: BuildMode = .ok
    /// Additional build output, one line each; the prefixes `$ `, `# `, `! `, `~ ` and `= N` mark a
    /// command, a step, an error, a warning and a command's end.
    package var buildLog: [String]?
    package var webhook: WebhookReceiver?

    /// Requests that a token may make per minute; `nil` for no such limit.
    package var requestsPerMinute: Int? {
        get {
            guard case .perToken(let requests, 60) = rateLimit else { return nil }
            return requests
        }
        set { rateLimit = newValue.map { .perToken(requests: $0, seconds: 60) } }
    }
    /// `nil` for no limit.
    package var rateLimit: RateLimit?
    /// Delay of every response, in seconds.
    package var latencySeconds: Double = 0
    /// Offset of the sandbox's time from its clock, in seconds.
    package var clockOffsetSeconds: Double = 0
    /// Offset of the `Date` header from the sandbox's time, in seconds.
    package var dateOffsetSeconds: Double = 0
    /// Most variables of an environment of a project; `nil` leaves the limit unchanged.
    package var maximumVariables: Int?
    /// The source of the sandbox's time.
    package var clock: SandboxClock = .real

    /// The standard seed on any port, with builds of two seconds.
    package init() {}
}
