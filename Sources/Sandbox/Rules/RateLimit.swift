/// The number of requests that a token may make in a time window.
package struct RateLimit: Sendable, Equatable {
    package var requests: Int
    package var seconds: Double

    package init(requests: Int, seconds: Double) {
        self.requests = requests
        self.seconds = seconds
    }
}
