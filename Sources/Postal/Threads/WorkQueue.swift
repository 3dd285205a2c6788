internal import Threads

/// Threads that do what is put into a queue: each takes what is there, up to a number, at one time.
final class WorkQueue<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var first = 0
        var isEnding = false
        var busy = 0

        mutating func take(_ most: Int) -> [Item] {
            let end = min(first + most, items.count)
            let taken = Array(items[first..<end])
            first = end
            // What was taken is forgotten in large steps, so that each item is moved once.
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

    /// Starts the threads; nil where the system gives none.
    ///
    /// - Parameters:
    ///   - limit: Most items that wait.
    ///   - most: Most items that one thread takes at a time.
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
                    state.busy += 1
                    return items
                }) ?? nil {
                    work(items)
                    state.change { $0.busy -= 1 }
                }
            }
            guard let thread else { break }
            threads.append(thread)
        }
        self.threads = threads
        if threads.isEmpty { return nil }
    }

    /// Puts an item into the queue; false where it is full or ended.
    func add(_ item: Item) -> Bool {
        state.change { state in
            guard !state.isEnding, state.items.count - state.first < limit else { return false }
            state.items.append(item)
            return true
        }
    }

    /// Puts several in; they are more important than the limit.
    func add(_ items: [Item]) {
        guard !items.isEmpty else { return }
        state.change { state in
            if !state.isEnding { state.items += items }
        }
    }

    /// How many wait.
    var count: Int { state.look { $0.items.count - $0.first } }

    /// Waits until nothing waits and nobody works.
    func drain(milliseconds: Int64) {
        _ = state.wait(milliseconds: milliseconds) { state in
            state.first == state.items.count && state.busy == 0 ? true : nil
        }
    }

    /// Does what waits, and ends.
    func close() {
        state.change { $0.isEnding = true }
        for thread in threads { thread.join() }
    }
}
