internal import CCurl
internal import VercelAPI

/// The machine's own clock, and real waiting.
package final class SystemWaitingRoom: WaitingRoom {
    private let shouldCancel: () -> Bool

    /// Makes a waiting room.
    ///
    /// - Parameter shouldCancel: Asked about twenty times a second while waiting; true ends it.
    package init(shouldCancel: @escaping () -> Bool = { false }) {
        self.shouldCancel = shouldCancel
    }

    /// Time since the machine was started.
    package var elapsed: Duration { .milliseconds(zg_curl_now()) }

    /// The seconds since 1970.
    package var secondsSince1970: Int64 { Int64(time(nil)) }

    /// Waits for `duration`, or until the caller is to give up.
    package func wait(_ duration: Duration) -> Bool {
        let end = elapsed + duration
        while true {
            if shouldCancel() { return false }
            let left = end - elapsed
            guard left > .zero else { return true }
            let step = min(left, .milliseconds(50))
            var pause = timespec(
                tv_sec: 0, tv_nsec: max(Int(step.components.attoseconds / 1_000_000_000), 1_000_000)
            )
            _ = unsafe nanosleep(&pause, nil)
        }
    }
}
