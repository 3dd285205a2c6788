internal import CCurl
internal import HTTPClient

/// The system clock, with real waiting.
package final class SystemSleeper: Sleeper {
    private let shouldCancel: () -> Bool

    /// - Parameter shouldCancel: Polled about twenty times a second while waiting; true ends the
    ///   wait.
    package init(shouldCancel: @escaping () -> Bool = { false }) {
        self.shouldCancel = shouldCancel
    }

    /// The time since the machine started.
    package var elapsed: Duration { .milliseconds(zg_curl_now()) }

    package var secondsSince1970: Int64 { Int64(time(nil)) }

    /// Waits for `duration`, and returns false if it was canceled before.
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
