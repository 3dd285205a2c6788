/// Many questions of the form "is one of these changes in the past of that one?", answered together.
///
/// Sets of ancestors for all changes would take a bit for each pair: 300 MB for 50,000 changes. Here
/// 64 targets are carried through the changes at a time, so memory is linear, and time is that of a
/// 64th of the pairs in the worst case, for any shape of the graph.
struct PastQueries {
    private struct Target {
        var sources: [Int] = []
        /// The changes that were asked about, ascending.
        var asked: [Int] = []
        var answers: [Bool] = []
    }

    private var targets: [Target] = []

    /// Adds a target, at first without changes.
    mutating func addTarget() -> Int {
        targets.append(Target())
        return targets.count - 1
    }

    /// Adds a change to a target.
    mutating func add(source: Int, to target: Int) { targets[target].sources.append(source) }

    /// Asks whether `target` is in the past of the change at `place`. Places are asked in ascending
    /// order; the same one twice is one question.
    mutating func ask(_ target: Int, of place: Int) {
        guard targets[target].asked.last != place else { return }
        targets[target].asked.append(place)
    }

    /// Answers all questions.
    mutating func answer(in graph: ChangeGraph) {
        let first = targets.map { $0.sources.min() ?? .max }
        let order = targets.indices.filter { !targets[$0].asked.isEmpty && first[$0] != .max }
            .sorted { first[$0] < first[$1] }
        var own = [UInt64](repeating: 0, count: graph.changes.count)
        var past = own
        var start = 0
        while start < order.count {
            let batch = Array(order[start..<min(start + 64, order.count)])
            start += batch.count
            let lowest = first[batch[0]]
            let highest = batch.map { targets[$0].asked.last ?? 0 }.max() ?? 0
            for (bit, target) in batch.enumerated() {
                for source in targets[target].sources { own[source] |= 1 << UInt64(bit) }
            }
            if lowest <= highest {
                for place in lowest...highest {
                    var mask: UInt64 = 0
                    for predecessor in graph.predecessors(place) where predecessor >= lowest {
                        mask |= past[Int(predecessor)] | own[Int(predecessor)]
                    }
                    past[place] = mask
                }
            }
            for (bit, target) in batch.enumerated() {
                targets[target].answers = targets[target].asked.map {
                    $0 >= lowest && past[$0] & 1 << UInt64(bit) != 0
                }
                for source in targets[target].sources { own[source] = 0 }
            }
        }
    }

    /// The answer for a question that was asked.
    func answer(_ target: Int, of place: Int) -> Bool {
        let asked = targets[target].asked
        guard !targets[target].answers.isEmpty else { return false }
        var (low, high) = (0, asked.count)
        while low < high {
            let middle = (low + high) / 2
            if asked[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < asked.count && asked[low] == place && targets[target].answers[low]
    }
}
