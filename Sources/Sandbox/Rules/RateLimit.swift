/// How many requests a token may make in a span of time.
package struct RateLimit: Sendable, Equatable {
    /// How many.
    package var requests: Int
    /// In how many seconds.
    package var seconds: Double

    /// Keeps both as they are.
    package init(requests: Int, seconds: Double) {
        self.requests = requests
        self.seconds = seconds
    }
}
