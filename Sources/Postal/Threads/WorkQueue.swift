internal import Threads

/// A thread pool whose threads take queued items in batches.
final class WorkQueue<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var first = 0
        var isEnding = false

        mutating func take(_ most: Int) -> [Item] {
            let end = min(first + most, items.count)
            let taken = Array(items[first..<end])
            first = end
            // Drops taken items in large steps, so that each item is moved once.
            if first == items.count || first >= 4_096 {
                items.removeFirst(first)
                first = 0
            }
            return taken
        }
    }

    private let state = Monitor(State())
    private let limit: Int
    private let threads: [WorkThread]

    /// Starts the threads; nil if the system refuses them.
    ///
    /// - Parameters:
    ///   - limit: Most waiting items.
    ///   - most: Most items per batch.
    init?(
        threads count: Int, limit: Int = .max, most: Int = 1,
        _ work: @escaping @Sendable ([Item]) -> Void
    ) {
        let state = state
        self.limit = limit
        var threads: [WorkThread] = []
        for _ in 0..<count {
            let thread = WorkThread {
                while let items = state.wait({ state -> [Item]?? in
                    let items = state.take(most)
                    if items.isEmpty { return state.isEnding ? .some(nil) : nil }
                    return items
                }) ?? nil { work(items) }
            }
            guard let thread else { break }
            threads.append(thread)
        }
        self.threads = threads
        if threads.isEmpty { return nil }
    }

    /// Queues an item; returns false if the queue is full or closed.
    func add(_ item: Item) -> Bool {
        state.change { state in
            guard !state.isEnding, state.items.count - state.first < limit else { return false }
            state.items.append(item)
            return true
        }
    }

    /// Queues items even beyond the limit.
    func add(_ items: [Item]) {
        guard !items.isEmpty else { return }
        state.change { state in
            if !state.isEnding { state.items += items }
        }
    }

    /// Number of waiting items.
    var count: Int { state.look { $0.items.count - $0.first } }

    /// Finishes the waiting items and ends the threads.
    func close() {
        state.change { $0.isEnding = true }
        for thread in threads { thread.join() }
    }
}
