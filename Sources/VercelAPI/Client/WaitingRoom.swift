/// The clock, and the place to wait in. Handed in so that tests need no real time.
package protocol WaitingRoom: AnyObject {
    /// The time since some fixed moment; never goes back.
    var elapsed: Duration { get }

    /// The seconds since 1970, as far as this machine knows them.
    var secondsSince1970: Int64 { get }

    /// Waits for `duration`.
    ///
    /// - Returns: False if the caller is to give up, such as after an interrupt.
    func wait(_ duration: Duration) -> Bool
}
