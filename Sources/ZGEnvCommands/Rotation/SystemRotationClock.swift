internal import EnvOperations
internal import VercelAPI

/// The clock of a rotation: this machine's.
struct SystemRotationClock: RotationClock {
    let context: Context

    var now: UInt64 { context.now() }

    func wait(_ duration: Duration) -> Bool { context.waitingRoom.wait(duration) }
}
