/// An observer of every API request, which may also prevent a request from being handled.
package struct RequestObserver: Sendable {
    /// Called on the connection's thread before the request is handled, which waits for it. On
    /// false the connection is reset, nothing is done, and ``leaves`` is not called.
    package let arrives: @Sendable (_ method: String, _ path: String) -> Bool
    /// Called on the same thread after the request, before its response is sent.
    package let leaves: @Sendable (Moment) -> Void

    package init(
        arrives: @escaping @Sendable (_ method: String, _ path: String) -> Bool,
        leaves: @escaping @Sendable (Moment) -> Void
    ) {
        self.arrives = arrives
        self.leaves = leaves
    }
}
