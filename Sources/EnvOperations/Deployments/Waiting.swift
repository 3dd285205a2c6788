/// How a waiting ended. Whatever is waited for of deployments is waited for by ``until(wait:pause:look:)``.
package enum Waiting<Found> {
    /// It was found.
    case ended(Found)
    /// The time was over.
    case timedOut
    /// The caller asked to stop.
    case interrupted

    /// Looks until there is something to be found.
    ///
    /// - Parameters:
    ///   - wait: False if the caller is to give up, such as after an interrupt.
    ///   - pause: The time until the next look; nil where the time is over.
    ///   - look: Nil for nothing yet.
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
