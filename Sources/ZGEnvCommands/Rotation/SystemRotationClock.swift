internal import EnvOperations
internal import VercelAPI

/// The clock of a rotation: this machine's.
final class SystemRotationClock: RotationClock {
    private let context: Context

    init(_ context: Context) {
        self.context = context
    }

    var now: UInt64 { context.now() }

    func wait(_ duration: Duration) -> Bool { context.waitingRoom.wait(duration) }
}
