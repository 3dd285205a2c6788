internal import Threads

/// What a relay knows of the stream without asking: each account's last entry, and what came lately, up
/// to a number of bytes and for a time. Nothing is here longer than in the stream.
final class LogCache: Sendable {
    private struct State {
        var tips: [String: LogTip] = [:]
        /// By account in the order of numbers.
        var entries: [String: [(sequence: Int64, entry: LogEntry)]] = [:]
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

    /// Takes a newer last entry.
    func set(_ tip: LogTip, of account: String) {
        state.look { state in
            if let known = state.tips[account], known.sequence > tip.sequence { return }
            state.tips[account] = tip
        }
    }

    /// Keeps an entry that came, or was asked for.
    func add(_ entry: LogEntry, sequence: Int64, of account: String) {
        state.look { state in
            var list = state.entries[account] ?? []
            state.entries[account] = nil
            var place = list.count
            while place > 0, list[place - 1].sequence > sequence { place -= 1 }
            if place == 0 || list[place - 1].sequence != sequence {
                list.insert((sequence, entry), at: place)
                var count = 128
                if case .copies(let table) = entry.content { count += table.bytes.count }
                state.byteCount += count
                state.order.append((account, sequence, count, steady() + lifetime))
            }
            state.entries[account] = list
            forget(&state)
        }
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
    func next(of account: String, after: Int64) -> (sequence: Int64, entry: LogEntry)? {
        state.look { state in
            forget(&state)
            guard let list = state.entries[account] else { return nil }
            var (low, high) = (0, list.count)
            while low < high {
                let middle = (low + high) / 2
                if list[middle].sequence > after { high = middle } else { low = middle + 1 }
            }
            guard low < list.count, list[low].entry.previous <= after else { return nil }
            return list[low]
        }
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
