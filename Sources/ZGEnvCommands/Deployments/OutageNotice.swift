internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import VercelAPI

/// Reports on stderr, once each, that Vercel does not respond during a wait and that it responds again.
/// Outages of less than two seconds are not reported.
final class OutageNotice {
    private let workspace: Workspace
    /// The waits whose last request got no response.
    private var silent: Set<Int> = []
    /// The time of the last response, by the monotonic clock and in milliseconds since 1970.
    private var heard: (elapsed: Duration, milliseconds: UInt64)
    private var isTold = false
    private let elapsed: ElapsedTime?

    /// - Parameter elapsed: Shows the time of the wait in a line that other output replaces.
    init(_ workspace: Workspace, _ elapsed: ElapsedTime? = nil) {
        self.workspace = workspace
        self.elapsed = elapsed
        heard = (workspace.context.waitingRoom.elapsed, workspace.context.now())
    }

    /// Takes the outcome of a request.
    ///
    /// - Parameters:
    ///   - error: Why there is no response; nil if there is one.
    ///   - number: Identifies one of several simultaneous waits.
    ///   - end: The end of the wait, in milliseconds since 1970.
    func take(_ error: VercelAPIError?, of number: Int = 0, until end: UInt64) {
        let elapsed = workspace.context.waitingRoom.elapsed
        guard let error else {
            silent.remove(number)
            guard silent.isEmpty else { return }
            heard = (elapsed, workspace.context.now())
            if isTold { tell("Vercel is reachable again.") }
            isTold = false
            return
        }
        silent.insert(number)
        guard !isTold, elapsed - heard.elapsed >= .seconds(2) else { return }
        isTold = true
        let reason = CommandError(mapping: error).message
        tell(
            "Vercel has been unreachable since \(Self.time(heard.milliseconds)). "
                + "\(reason) Waiting until \(Self.time(end)).")
    }

    /// A closed stderr must not affect the result.
    private func tell(_ text: String) {
        elapsed?.hide()
        workspace.note(text)
    }

    private static func time(_ milliseconds: UInt64) -> String {
        TimeText.utc(Int64(clamping: milliseconds))
    }
}

extension VercelWait {
    /// Creates a wait that reports on stderr when Vercel does not respond.
    ///
    /// - Parameter elapsed: Shows how long the wait takes.
    init(
        _ client: VercelClient, limit: Duration, _ workspace: Workspace,
        elapsed: ElapsedTime? = nil
    ) {
        let outage = OutageNotice(workspace, elapsed)
        let end = workspace.context.now() + UInt64(clamping: limit.components.seconds) * 1_000
        self.init(
            client: client.withoutRetries(within: limit),
            waitingRoom: elapsed ?? workspace.context.waitingRoom, limit: limit,
            looked: { outage.take($0, until: end) })
    }
}
