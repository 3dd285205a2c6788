internal import Vault

/// The newest acts of an audit log: a line for each, with the outcome of the line that ended it.
struct AuditActs {
    /// Which acts to show; nil for all.
    struct Filter {
        /// Milliseconds since 1970.
        var since: UInt64?
        var name: String?
        var project: String?

        func takes(_ entry: AuditEntry) -> Bool {
            (since.map { entry.time >= $0 } ?? true)
                && (project.map { entry.project?.utf8.elementsEqual($0.utf8) ?? false } ?? true)
                && (name.map { name in
                    entry.subjects.contains { $0.name.utf8.elementsEqual(name.utf8) }
                } ?? true)
        }
    }

    struct Act {
        let record: AuditLog.Record
        fileprivate(set) var outcome: String
        /// Milliseconds since 1970; nil for one that has no line for its end.
        fileprivate(set) var endedAt: UInt64?
    }

    private let filter: Filter
    private let limit: Int
    private var acts: [Act] = []
    /// The number of acts that were dropped from the front.
    private var droppedCount = 0
    /// The acts without an end by their lines; nil for those that are not shown.
    private var open: [UInt64: Int?] = [:]

    init(_ filter: Filter, limit: Int) {
        (self.filter, self.limit) = (filter, max(limit, 1))
    }

    /// Adds the next line of the log.
    mutating func add(_ record: AuditLog.Record) {
        let entry = record.entry
        if entry.begunAt > 0, let begun = open.removeValue(forKey: entry.begunAt) {
            guard let begun, begun >= droppedCount else { return }
            acts[begun - droppedCount].outcome = entry.outcome
            acts[begun - droppedCount].endedAt = entry.time
            return
        }
        // Also an end whose beginning is damaged or missing.
        let isShown = filter.takes(entry)
        if entry.outcome == AuditEntry.Outcome.begun {
            open[record.sequence] = .some(isShown ? droppedCount + acts.count : nil)
        }
        guard isShown else { return }
        acts.append(Act(record: record, outcome: entry.outcome, endedAt: nil))
        if acts.count - limit > limit { drop(acts.count - limit) }
    }

    private mutating func drop(_ count: Int) {
        acts.removeFirst(count)
        droppedCount += count
    }

    /// The last `limit` acts in order.
    var newest: ArraySlice<Act> { acts.suffix(limit) }
}
