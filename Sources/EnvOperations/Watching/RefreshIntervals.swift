/// How often Vercel is polled. All values are within their bounds.
package struct RefreshIntervals: Equatable, Sendable {
    /// The interval while something is building.
    package let building: Duration
    /// The interval otherwise; never shorter than ``building``.
    package let idle: Duration

    /// The bounds of ``building`` and ``idle``, in seconds.
    package static let bounds = 5...3_600
    /// The first pause after a failure; each further one is twice as long.
    package static let firstPause = Duration.seconds(5)
    /// The longest pause after failures.
    package static let longestPause = Duration.seconds(900)
    /// The shortest time between two requests that file changes by other processes trigger: pushing
    /// a hundred variables changes the files a hundred times.
    package static let spacing = Duration.seconds(5)
    /// The shortest time between two requests for any reason.
    package static let shortest = Duration.seconds(1)

    /// 15 seconds while something is building, 60 seconds otherwise.
    package static let standard = RefreshIntervals(buildingSeconds: 15, idleSeconds: 60)

    /// Clamps both values to their bounds.
    package init(buildingSeconds: Int, idleSeconds: Int) {
        func bounded(_ seconds: Int) -> Int {
            min(max(seconds, Self.bounds.lowerBound), Self.bounds.upperBound)
        }
        let fast = bounded(buildingSeconds)
        building = .seconds(fast)
        idle = .seconds(max(bounded(idleSeconds), fast))
    }

    /// The longer intervals of a fallback while a relay delivers events.
    package var besideRelay: RefreshIntervals {
        RefreshIntervals(
            buildingSeconds: max(Int(building.components.seconds), 60),
            idleSeconds: max(Int(idle.components.seconds), 600))
    }
}
