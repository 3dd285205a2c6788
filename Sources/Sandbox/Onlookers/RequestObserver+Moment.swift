extension RequestObserver {
    /// A request, with all stored variables before and after it.
    package struct Moment: Sendable {
        /// The order of requests, from 0 since observation began.
        package let number: Int
        /// The request; texts of its body that could be values are masked.
        package let request: SeenRequest
        /// The fault that applied.
        package let fault: String?
        /// When it arrived.
        package let arrivedAt: ContinuousClock.Instant
        /// The `Date` of its response, in milliseconds since 1970.
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

        /// The variables when it arrived.
        package var before: [StoredVariable] { states.before.map { StoredVariable($0) } }
        /// The variables when it was handled, after acts before it.
        package var asked: [StoredVariable] { states.asked.map { StoredVariable($0) } }
        /// Whether production variables were hidden from tokens when it was handled.
        package var hidesProduction: Bool { states.hidesProduction }
        /// The variables right after it was handled.
        package var served: [StoredVariable] { states.served.map { StoredVariable($0) } }
        /// The variables when its response was sent, after acts after it.
        package var after: [StoredVariable] { states.after.map { StoredVariable($0) } }
    }

    /// All variables of all projects at four times.
    struct States: Sendable {
        let before: [EnvironmentVariable]
        var asked: [EnvironmentVariable]
        var served: [EnvironmentVariable]
        var after: [EnvironmentVariable]
        var hidesProduction = false

        init(of variables: [EnvironmentVariable]) {
            before = variables
            (asked, served, after) = (variables, variables, variables)
        }
    }
}
