/// How a sandbox is started.
package struct SandboxConfiguration: Sendable {
    /// Somebody who is told about every event.
    package struct WebhookReceiver: Sendable {
        /// An `http` address on this machine.
        package var url: String
        /// What messages are signed with.
        package var secret: String

        package init(url: String, secret: String) {
            self.url = url
            self.secret = secret
        }
    }

    /// 0 lets the system choose.
    package var port: UInt16 = 0
    package var seed: Seed = .standard
    /// Where the state is kept; `nil` keeps it in memory only.
    package var stateFile: String?
    /// How long a build takes from its request to its end.
    package var buildSeconds: Double = 2
    package var faults: [Fault] = []
    package var build: BuildMode = .ok
    package var webhook: WebhookReceiver?
    /// The requests that a token may make in a minute; `nil` for any number.
    package var requestsPerMinute: Int?
    package var clock: SandboxClock = .real

    package init() {}
}
