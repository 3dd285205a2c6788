/// Somebody who sees every request to the API come and go, and may keep one from being served.
package struct Onlooker: Sendable {
    /// Called on the connection's thread before anything is done; the request waits for it. Where it returns
    /// false the connection is reset, nothing is done, and ``leaves`` is not called.
    package let arrives: @Sendable (_ method: String, _ path: String) -> Bool
    /// Called on the same thread once the request is done, before its answer goes out.
    package let leaves: @Sendable (Moment) -> Void

    /// Names both.
    package init(
        arrives: @escaping @Sendable (_ method: String, _ path: String) -> Bool,
        leaves: @escaping @Sendable (Moment) -> Void
    ) {
        self.arrives = arrives
        self.leaves = leaves
    }
}
