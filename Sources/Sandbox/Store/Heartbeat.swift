internal import Glibc
internal import Synchronization
internal import Threads

/// A thread that advances the state between requests, and delivers webhook messages.
final class Heartbeat: Sendable {
    /// Attempts to deliver a message.
    static let maximumAttempts = 6

    private let store: Store
    private let isStopping = Atomic(false)
    private let thread = Monitor<WorkThread?>(nil)

    init(store: Store) { self.store = store }

    /// Starts the thread unless it is running.
    func start() {
        thread.look { thread in
            guard thread == nil else { return }
            isStopping.store(false, ordering: .releasing)
            thread = WorkThread { [self] in run() }
        }
    }

    /// Ends the thread and waits for it.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        thread.look { thread in
            thread?.join()
            thread = nil
        }
    }

    private func run() {
        while !isStopping.load(ordering: .acquiring) {
            let due = store.use { contents, now in
                contents.state.messages.filter { $0.dueAt.map { $0 <= now } ?? false }
            }
            for message in due where !isStopping.load(ordering: .acquiring) {
                record(WebhookSender.send(message), of: message.id)
            }
            usleep(25_000)
        }
    }

    /// Records a delivery; failed ones are retried with growing delays.
    private func record(_ status: Int?, of id: String) {
        store.use { contents, now in
            guard let index = contents.state.messages.firstIndex(where: { $0.id == id }) else {
                return
            }
            var message = contents.state.messages[index]
            message.attempts += 1
            message.status = status
            let isDone = status.map { (200..<300).contains($0) } ?? false
            message.dueAt =
                isDone || message.attempts >= Self.maximumAttempts
                ? nil : now + (125 << Int64(message.attempts))
            contents.state.messages[index] = message
            contents.isUnsaved = true
        }
    }
}
