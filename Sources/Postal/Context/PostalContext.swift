/// Everything of the outside that the program uses. Handed in, so that a test can hand in other parts.
package struct PostalContext: Sendable {
    /// Two clocks: one for people, which may jump, and one for waiting.
    package struct Clock: Sendable {
        /// Milliseconds since 1970.
        package var now: @Sendable () -> Int64
        /// Milliseconds since some moment; never goes back.
        package var steady: @Sendable () -> Int64

        package init(now: @escaping @Sendable () -> Int64, steady: @escaping @Sendable () -> Int64)
        {
            (self.now, self.steady) = (now, steady)
        }
    }

    /// The program's arguments without its name.
    package var arguments: [[UInt8]]
    /// The environment by name.
    package var environment: [String: String]
    package var clock: Clock

    package init(arguments: [[UInt8]], environment: [String: String], clock: Clock) {
        (self.arguments, self.environment, self.clock) = (arguments, environment, clock)
    }

    /// A variable of the environment that is set and not empty.
    func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
