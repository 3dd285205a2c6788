internal import Threads

/// The known part of the stream: each account's last entry, and recent entries, limited in bytes
/// and time. Nothing stays longer than in the stream.
final class LogCache: Sendable {
    private struct State {
        var tips: [String: LogTip] = [:]
        /// The last message of each account among those received in order.
        var last: [String: Int64] = [:]
        /// By account, in the order of numbers.
        var entries: [String: [PlacedEntry]] = [:]
        var tables: [Int64: CopyTable] = [:]
        /// In the order of eviction.
        var order: [(account: String?, sequence: Int64, byteCount: Int, until: Int64)] = []
        var first = 0
        var byteCount = 0
    }

    private let limit: Int
    private let lifetime: Int64
    private let steady: @Sendable () -> Int64
    private let state = Monitor(State())

    /// - Parameter keptMilliseconds: How long the stream keeps a message.
    init(byteLimit: Int, keptMilliseconds: Int64, steady: @escaping @Sendable () -> Int64) {
        (limit, self.steady) = (byteLimit, steady)
        lifetime = min(keptMilliseconds, 10 * 60_000)
    }

    func tip(of account: String) -> LogTip? { state.look { $0.tips[account] } }

    /// The last message of an account received in order.
    func last(of account: String) -> Int64? { state.look { $0.last[account] } }

    /// Records a newer last entry that was queried.
    func set(_ tip: LogTip, of account: String) {
        state.look { state in
            if let known = state.tips[account], known.sequence > tip.sequence { return }
            if let last = state.last[account], last > tip.sequence { return }
            state.tips[account] = tip
        }
    }

    /// Applies an account's next message. From some number on, all of them arrive in order.
    func take(_ entry: LogEntry, sequence: Int64, of account: String) {
        state.look { state in
            let last = state.last.updateValue(sequence, forKey: account)
            let tip = state.tips[account]
            // What precedes the first message is unknown, also if the entry that it names has
            // expired. Then it is queried.
            guard entry.previous == 0 || last.map({ $0 >= entry.previous }) ?? false else {
                if let tip, tip.sequence < sequence { state.tips[account] = nil }
                return
            }
            let placed = PlacedEntry(entry, sequence: sequence, before: last ?? 0)
            add(placed, of: account, &state)
            guard (tip?.sequence ?? 0) < sequence else { return }
            if placed.counts {
                state.tips[account] = LogTip(entry, sequence: sequence)
            } else if tip?.sequence == last {
                state.tips[account]?.sequence = sequence
            } else {
                state.tips[account] = nil
            }
        }
    }

    /// Caches an entry that was queried.
    func add(_ placed: PlacedEntry, of account: String) {
        state.look { add(placed, of: account, &$0) }
    }

    private func add(_ placed: PlacedEntry, of account: String, _ state: inout State) {
        var list = state.entries[account] ?? []
        state.entries[account] = nil
        var place = list.count
        while place > 0, list[place - 1].sequence > placed.sequence { place -= 1 }
        if place == 0 || list[place - 1].sequence != placed.sequence {
            list.insert(placed, at: place)
            var count = 128
            if case .copies(let table) = placed.entry.content { count += table.bytes.count }
            state.byteCount += count
            state.order.append((account, placed.sequence, count, steady() + lifetime))
        }
        state.entries[account] = list
        forget(&state)
    }

    func add(_ table: CopyTable, sequence: Int64) {
        state.look { state in
            guard state.tables.updateValue(table, forKey: sequence) == nil else { return }
            state.byteCount += table.bytes.count
            state.order.append((nil, sequence, table.bytes.count, steady() + lifetime))
            forget(&state)
        }
    }

    func table(_ sequence: Int64) -> CopyTable? {
        state.look { state in
            forget(&state)
            return state.tables[sequence]
        }
    }

    /// Returns the first entry above a number if it is certain that no other is between.
    func next(of account: String, after: Int64) -> PlacedEntry? {
        state.look { state in
            forget(&state)
            guard let list = state.entries[account] else { return nil }
            let place = Self.place(of: after + 1, in: list)
            guard place < list.count, list[place].before <= after else { return nil }
            return list[place]
        }
    }

    /// The entry with a number.
    func entry(_ sequence: Int64, of account: String) -> PlacedEntry? {
        state.look { state in
            forget(&state)
            guard let list = state.entries[account] else { return nil }
            let place = Self.place(of: sequence, in: list)
            return place < list.count && list[place].sequence == sequence ? list[place] : nil
        }
    }

    /// Returns the position of the first entry with this number or a larger one.
    private static func place(of sequence: Int64, in list: [PlacedEntry]) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].sequence >= sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func forget(_ state: inout State) {
        let now = steady()
        while state.first < state.order.count, case let oldest = state.order[state.first],
            state.byteCount > limit || oldest.until <= now
        {
            state.first += 1
            state.byteCount -= oldest.byteCount
            if let account = oldest.account {
                state.entries[account]?.removeAll { $0.sequence == oldest.sequence }
                if state.entries[account]?.isEmpty == true { state.entries[account] = nil }
            } else {
                state.tables[oldest.sequence] = nil
            }
        }
        if state.first >= 4_096 {
            state.order.removeFirst(state.first)
            state.first = 0
        }
    }
}
