import Dispatch
import Foundation

/// A joinable thread.
final class Worker: Sendable {
    private let group = DispatchGroup()

    init(_ work: @escaping @Sendable () -> Void) {
        let group = group
        group.enter()
        Thread {
            work()
            group.leave()
        }.start()
    }

    func join() { group.wait() }
}
