/// How a sandbox is started.
package struct SandboxConfiguration: Sendable {
    /// Somebody who is told about every event.
    package struct WebhookReceiver: Sendable {
        /// An `http` address on this machine.
        package var url: String
        /// What messages are signed with.
        package var secret: String

        /// Keeps both as they are; nothing is sent to other machines whatever the address.
        package init(url: String, secret: String) {
            self.url = url
            self.secret = secret
        }

        /// True for an `http` address on this machine, the only kind that messages are sent to.
        package static func isDeliverable(_ url: String) -> Bool { WebhookAddress(url) != nil }
    }

    /// 0 lets the system choose.
    package var port: UInt16 = 0
    /// What the sandbox holds at first, when there is no state file yet.
    package var seed: Seed = .standard
    /// Where the state is kept; `nil` keeps it in memory only.
    package var stateFile: String?
    /// How long a build takes from its request to its end.
    package var buildSeconds: Double = 2
    /// The faults of the start, to which a reset goes back.
    package var faults: [Fault] = []
    /// The build mode of the start, to which a reset goes back.
    package var build: BuildMode = .ok
    /// What builds print besides, at the start: a line each; `$ `, `# `, `! `, `~ ` and `= N` in
    /// front mean a command, a step, an error, a warning and a command's end.
    package var buildLog: [String]?
    /// Somebody who is told about everything.
    package var webhook: WebhookReceiver?

    /// The requests that a token may make in a minute; `nil` for any number.
    package var requestsPerMinute: Int? {
        get { rateLimit.flatMap { $0.seconds == 60 ? $0.requests : nil } }
        set { rateLimit = newValue.map { RateLimit(requests: $0, seconds: 60) } }
    }
    /// How many requests a token may make; `nil` for any number.
    package var rateLimit: RateLimit?
    /// How much later than it was made every answer goes out, in seconds.
    package var latencySeconds: Double = 0
    /// How far the sandbox's time is from that of its clock, in seconds.
    package var clockOffsetSeconds: Double = 0
    /// How far the `Date` of answers is from the sandbox's time, in seconds.
    package var dateOffsetSeconds: Double = 0
    /// The most variables that a project may have; `nil` leaves it as it is.
    package var maximumVariables: Int?
    /// What the sandbox's time is counted from.
    package var clock: SandboxClock = .real

    /// The standard seed on any port, with builds of two seconds.
    package init() {}
}
