package import VercelAPI

/// Waits for what the platform does in its own time, and gets over what passes meanwhile.
package struct PlatformWait {
    let client: VercelClient
    let waitingRoom: any WaitingRoom
    private let limit: Duration
    let looked: (VercelAPIError?) -> Void

    /// - Parameters:
    ///   - limit: The longest time to wait; the platform goes on by itself.
    ///   - looked: Told of each look: nil where the platform answered, else why not. Where asking later
    ///     may help the waiting goes on.
    package init(
        client: VercelClient, waitingRoom: any WaitingRoom, limit: Duration,
        looked: @escaping (VercelAPIError?) -> Void = { _ in }
    ) {
        self.client = client
        self.waitingRoom = waitingRoom
        self.limit = limit
        self.looked = looked
    }

    /// Looks until there is something to be found.
    ///
    /// - Parameter pause: The time until the next look, after so long.
    /// - Throws: Also why the platform did not answer last, where the time was over by then.
    func until<Found>(
        pause: (Duration) -> Duration, look: () throws(VercelAPIError) -> Found?
    ) throws(VercelAPIError) -> Waiting<Found> {
        let start = waitingRoom.elapsed
        var problem: VercelAPIError?
        return try Waiting.until(
            wait: waitingRoom.wait,
            pause: { () throws(VercelAPIError) -> Duration? in
                let spent = waitingRoom.elapsed - start
                guard spent < limit else {
                    if let problem { throw problem }
                    return nil
                }
                if let problem { looked(problem) }
                return min(pause(spent), limit - spent)
            },
            look: { () throws(VercelAPIError) -> Found? in
                problem = nil
                do throws(VercelAPIError) {
                    let found = try look()
                    looked(nil)
                    return found
                } catch {
                    guard error.isPassing else { throw error }
                    problem = error
                    return nil
                }
            })
    }
}
