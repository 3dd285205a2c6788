internal import CommandLineKit
internal import HTTPClient
internal import VercelAPI

/// A sleeper that shows the time since its creation in the progress line, such as "Building… 12 s".
final class ElapsedTime: Sleeper {
    private let room: any Sleeper
    private let line: ProgressLine?
    private let start: Duration
    /// What Vercel is doing.
    private var work = "Waiting"

    init(_ workspace: Workspace) {
        room = workspace.context.waitingRoom
        line = workspace.interaction.progressLine
        start = room.elapsed
    }

    var elapsed: Duration { room.elapsed }

    var secondsSince1970: Int64 { room.secondsSince1970 }

    /// Describes the state of a deployment from here on.
    func show(_ state: Deployment.State) {
        switch state {
        case .queued: work = "Queued"
        case .initializing: work = "Initializing"
        case .building: work = "Building"
        case .ready: work = "Going live"
        default: work = "Waiting"
        }
    }

    func wait(_ duration: Duration) -> Bool {
        guard let line else { return room.wait(duration) }
        let end = room.elapsed + duration
        while room.elapsed < end {
            let seconds = (room.elapsed - start).components.seconds
            line.update("\(work)… \(DurationText.words(.seconds(seconds)))")
            // The next full second changes the line.
            let next = start + .seconds(seconds + 1)
            guard room.wait(max(min(next, end) - room.elapsed, .milliseconds(1))) else {
                hide()
                return false
            }
        }
        return true
    }

    /// Erases the line, so that other output can follow.
    func hide() { line?.finish() }
}
