/// The result of a wait. Every wait for a deployment uses ``until(wait:pause:look:)``.
package enum Waiting<Found> {
    case ended(Found)
    /// The time limit was reached.
    case timedOut
    /// The caller canceled the wait.
    case interrupted

    /// Calls `look` until it finds something.
    ///
    /// - Parameters:
    ///   - wait: Waits, and returns false if the caller should give up, such as after an interrupt.
    ///   - pause: Returns the time until the next call, or nil at the time limit.
    ///   - look: Returns nil if there is nothing yet.
    package static func until<Failure: Error>(
        wait: (Duration) -> Bool, pause: () throws(Failure) -> Duration?,
        look: () throws(Failure) -> Found?
    ) throws(Failure) -> Waiting {
        while true {
            if let found = try look() { return .ended(found) }
            guard let pause = try pause() else { return .timedOut }
            guard wait(pause) else { return .interrupted }
        }
    }
}

extension Waiting: Equatable where Found: Equatable {}
