/// A clock that can wait; replaced in tests, which need no real time.
package protocol Sleeper: AnyObject {
    /// The time since a fixed moment; monotonic.
    var elapsed: Duration { get }

    /// The seconds since 1970 by this machine's clock.
    var secondsSince1970: Int64 { get }

    /// Waits for `duration`, or returns false if the caller should give up, such as after an
    /// interrupt.
    func wait(_ duration: Duration) -> Bool
}
