/// How often the platform is asked. Every value is within its bounds.
package struct RefreshIntervals: Equatable, Sendable {
    /// From one question to the next while something builds.
    package let building: Duration
    /// From one question to the next otherwise; never shorter than ``building``.
    package let idle: Duration

    /// What ``building`` and ``idle`` may be, in seconds.
    package static let bounds = 5...3_600
    /// The first pause after a failure; each further one is twice as long.
    package static let firstPause = Duration.seconds(5)
    /// The longest pause after failures.
    package static let longestPause = Duration.seconds(900)
    /// The least time between two questions for which files of other processes are the reason:
    /// whoever pushes a hundred variables changes them a hundred times.
    package static let spacing = Duration.seconds(5)
    /// The least time between two questions for any reason.
    package static let shortest = Duration.seconds(1)

    /// 15 seconds while something builds, 60 seconds otherwise.
    package static let standard = RefreshIntervals(buildingSeconds: 15, idleSeconds: 60)

    /// Moves both into their bounds.
    package init(buildingSeconds: Int, idleSeconds: Int) {
        func bounded(_ seconds: Int) -> Int {
            min(max(seconds, Self.bounds.lowerBound), Self.bounds.upperBound)
        }
        let fast = bounded(buildingSeconds)
        building = .seconds(fast)
        idle = .seconds(max(bounded(idleSeconds), fast))
    }

    /// Those of a safety net, while a relay tells what happens.
    package var besideRelay: RefreshIntervals {
        RefreshIntervals(
            buildingSeconds: max(Int(building.components.seconds), 60),
            idleSeconds: max(Int(idle.components.seconds), 600))
    }

    /// The most requests an hour, when every question is one request for each of so many scopes and
    /// everything goes well.
    package func requestsAnHour(scopes: Int, isBuilding: Bool) -> Int {
        let interval = isBuilding ? building : idle
        return Int(3_600 / max(interval.components.seconds, 1)) * scopes
    }
}
