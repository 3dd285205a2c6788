internal import Threads

/// What a relay knows of the stream without asking: each account's last entry, and what came lately, up
/// to a number of bytes and for a time. Nothing is here longer than in the stream.
final class LogCache: Sendable {
    private struct State {
        var tips: [String: LogTip] = [:]
        /// Each account's last message of those that came in order.
        var last: [String: Int64] = [:]
        /// By account in the order of numbers.
        var entries: [String: [PlacedEntry]] = [:]
        var tables: [Int64: CopyTable] = [:]
        /// What is forgotten first.
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

    /// The last message of an account that came in order; nil where none did.
    func last(of account: String) -> Int64? { state.look { $0.last[account] } }

    /// Takes a newer last entry that was asked for.
    func set(_ tip: LogTip, of account: String) {
        state.look { state in
            if let known = state.tips[account], known.sequence > tip.sequence { return }
            if let last = state.last[account], last > tip.sequence { return }
            state.tips[account] = tip
        }
    }

    /// Takes the next message of an account. All of them come, in order, from some number on.
    func take(_ entry: LogEntry, sequence: Int64, of account: String) {
        state.look { state in
            let last = state.last.updateValue(sequence, forKey: account)
            let tip = state.tips[account]
            // Of the first that comes nobody knows here what stands before it, nor where what it names
            // became too old before it came: then that is asked for.
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

    /// Keeps an entry that was asked for.
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

    /// The first entry above a number, where it is certain that no other one is between.
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

    /// Where the first entry with a number or a larger one is.
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
