import Foundation

/// Repeats an action on another thread until stopped.
package final class BackgroundLoop: @unchecked Sendable {
    private let lock = NSLock()
    private let ended = DispatchSemaphore(value: 0)
    private var isOver = false

    /// Starts repeating `body`.
    package init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [self] in
            while lock.withLock({ !isOver }) { body() }
            ended.signal()
        }
    }

    /// Stops after the current turn, and waits for it.
    package func end() {
        lock.withLock { isOver = true }
        ended.wait()
    }
}
