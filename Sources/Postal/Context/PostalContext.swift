/// The program's dependencies on the outside, replaceable in tests.
package struct PostalContext: Sendable {
    /// A wall clock, which may jump, and a monotonic clock.
    package struct Clock: Sendable {
        /// Milliseconds since 1970.
        package var now: @Sendable () -> Int64
        /// Milliseconds of a clock that never goes back.
        package var steady: @Sendable () -> Int64
    }

    /// Without the program's name.
    package var arguments: [[UInt8]]
    package var environment: [String: String]
    package var clock: Clock

    /// Returns a variable of the environment that is set and not empty.
    func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
