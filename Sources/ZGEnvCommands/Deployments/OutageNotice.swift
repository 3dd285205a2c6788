internal import CommandLineKit
internal import EnvOperations
internal import VercelAPI

/// Says on stderr that the platform does not answer while something is waited for, and that it does again:
/// each once, however often it is asked meanwhile. What passes within two seconds is not worth a word.
final class OutageNotice {
    private let workspace: Workspace
    /// Those of what is waited for that got no answer last.
    private var silent: Set<Int> = []
    /// When an answer came last: by the clock that goes on alone, and by that of people.
    private var heard: (elapsed: Duration, milliseconds: UInt64)
    private var isTold = false

    init(_ workspace: Workspace) {
        self.workspace = workspace
        heard = (workspace.context.waitingRoom.elapsed, workspace.context.now())
    }

    /// Takes what came of a question.
    ///
    /// - Parameters:
    ///   - error: Why there is no answer; nil where there is one.
    ///   - number: Tells apart what is waited for at the same time.
    ///   - end: When the waiting ends, in milliseconds since 1970.
    func take(_ error: VercelAPIError?, of number: Int = 0, until end: UInt64) {
        let elapsed = workspace.context.waitingRoom.elapsed
        guard let error else {
            silent.remove(number)
            guard silent.isEmpty else { return }
            heard = (elapsed, workspace.context.now())
            if isTold { tell("The platform answers again.") }
            isTold = false
            return
        }
        silent.insert(number)
        guard !isTold, elapsed - heard.elapsed >= .seconds(2) else { return }
        isTold = true
        let reason = CommandError(mapping: error).message
        tell(
            "The platform cannot be reached since \(Self.time(heard.milliseconds)). "
                + "\(reason) Waiting goes on until \(Self.time(end)).")
    }

    /// Progress is no result: a stderr that is gone changes nothing.
    private func tell(_ text: String) { workspace.note(text) }

    private static func time(_ milliseconds: UInt64) -> String {
        TimeText.utc(Int64(clamping: milliseconds))
    }
}

extension PlatformWait {
    /// Waits, and says on stderr where the platform does not answer.
    init(_ client: VercelClient, limit: Duration, _ workspace: Workspace) {
        let outage = OutageNotice(workspace)
        let end = workspace.context.now() + UInt64(clamping: limit.components.seconds) * 1_000
        self.init(
            client: client.unrepeated(within: limit),
            waitingRoom: workspace.context.waitingRoom, limit: limit,
            looked: { outage.take($0, until: end) })
    }
}
