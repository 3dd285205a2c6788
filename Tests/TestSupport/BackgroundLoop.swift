import Foundation

/// Does something again and again beside a test, until it is told to end.
package final class BackgroundLoop: @unchecked Sendable {
    private let lock = NSLock()
    private let ended = DispatchSemaphore(value: 0)
    private var isOver = false

    /// Begins.
    ///
    /// - Parameter body: One turn.
    package init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [self] in
            while lock.withLock({ !isOver }) { body() }
            ended.signal()
        }
    }

    /// Ends after the turn that goes on, and waits for that.
    package func end() {
        lock.withLock { isOver = true }
        ended.wait()
    }
}
