package import HTTPClient
package import VercelAPI

/// Waits for asynchronous operations of Vercel, tolerating temporary errors.
package struct VercelWait {
    let client: VercelClient
    let waitingRoom: any Sleeper
    private let limit: Duration
    let looked: (VercelAPIError?) -> Void

    /// - Parameters:
    ///   - limit: The longest time to wait. Vercel continues without us.
    ///   - looked: Called after each request, with the error if it failed. The wait continues after
    ///     a temporary error.
    package init(
        client: VercelClient, waitingRoom: any Sleeper, limit: Duration,
        looked: @escaping (VercelAPIError?) -> Void = { _ in }
    ) {
        self.client = client
        self.waitingRoom = waitingRoom
        self.limit = limit
        self.looked = looked
    }

    /// Calls `look` until it finds something.
    ///
    /// - Parameter pause: Returns the time until the next call, after so much time.
    /// - Throws: Also the last temporary error, if the time limit was reached.
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
                    guard error.isTemporary else { throw error }
                    problem = error
                    return nil
                }
            })
    }
}
