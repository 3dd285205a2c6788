internal import EnvOperations
internal import HTTPClient
internal import VercelAPI

/// A rotation clock that uses this machine's time.
struct SystemRotationClock: RotationClock {
    let context: Context

    var now: UInt64 { context.now() }

    func wait(_ duration: Duration) -> Bool { context.waitingRoom.wait(duration) }
}
