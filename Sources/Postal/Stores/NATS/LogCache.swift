/// What a relay knows of the stream without asking: each account's last entry, and what came lately, up
/// to a number of bytes.
final class LogCache: Sendable {
    private struct State {
        var tips: [String: LogTip] = [:]
        /// By account in the order of numbers.
        var entries: [String: [(sequence: Int64, entry: LogEntry)]] = [:]
        var tables: [Int64: CopyTable] = [:]
        /// What is forgotten first.
        var order: [(account: String?, sequence: Int64, byteCount: Int)] = []
        var first = 0
        var byteCount = 0
    }

    private let limit: Int
    private let state = Monitor(State())

    init(byteLimit: Int) { limit = byteLimit }

    func tip(of account: String) -> LogTip? { state.look { $0.tips[account] } }

    /// Takes a newer last entry.
    func set(_ tip: LogTip, of account: String) {
        state.look { state in
            if let known = state.tips[account], known.sequence > tip.sequence { return }
            state.tips[account] = tip
        }
    }

    func forgetTip(of account: String) { state.look { $0.tips[account] = nil } }

    func forgetTips() { state.look { $0.tips = [:] } }

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
                state.order.append((account, sequence, count))
            }
            state.entries[account] = list
            forget(&state)
        }
    }

    func add(_ table: CopyTable, sequence: Int64) {
        state.look { state in
            guard state.tables.updateValue(table, forKey: sequence) == nil else { return }
            state.byteCount += table.bytes.count
            state.order.append((nil, sequence, table.bytes.count))
            forget(&state)
        }
    }

    func table(_ sequence: Int64) -> CopyTable? { state.look { $0.tables[sequence] } }

    /// The first entry above a number, where it is certain that no other one is between.
    func next(of account: String, after: Int64) -> (sequence: Int64, entry: LogEntry)? {
        state.look { state in
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
        while state.byteCount > limit, state.first < state.order.count {
            let oldest = state.order[state.first]
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
