extension Onlooker {
    /// One request, and all stored variables before and after it.
    package struct Moment: Sendable {
        /// Counted in the order in which requests are done, from 0 since somebody looks on.
        package let number: Int
        /// The request; texts of its body that could be values are masked.
        package let request: SeenRequest
        /// What struck it; nil for nothing.
        package let fault: String?
        /// When it came in.
        package let arrivedAt: ContinuousClock.Instant
        /// The `Date` of its answer, in milliseconds since 1970.
        package let date: Int64
        private let states: States

        init(
            number: Int, entry: RequestLog.Entry, arrivedAt: ContinuousClock.Instant, date: Int64,
            states: States
        ) {
            self.number = number
            request = SeenRequest(entry)
            fault = entry.fault
            self.arrivedAt = arrivedAt
            self.date = date
            self.states = states
        }

        /// What was there when it came in.
        package var before: [StoredVariable] { states.before.map { StoredVariable($0) } }
        /// What was there when it was served, after what others did before.
        package var asked: [StoredVariable] { states.asked.map { StoredVariable($0) } }
        /// What it left there.
        package var served: [StoredVariable] { states.served.map { StoredVariable($0) } }
        /// What was there when its answer went out, after what others did then.
        package var after: [StoredVariable] { states.after.map { StoredVariable($0) } }
    }

    /// All variables of all projects at four times.
    struct States: Sendable {
        let before: [EnvironmentVariable]
        var asked: [EnvironmentVariable]
        var served: [EnvironmentVariable]
        var after: [EnvironmentVariable]

        /// The same at all times.
        init(of variables: [EnvironmentVariable]) {
            before = variables
            (asked, served, after) = (variables, variables, variables)
        }
    }
}
