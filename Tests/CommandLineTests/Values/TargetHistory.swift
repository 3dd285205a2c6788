/// What every command of a sequence leaves of the variables, by naive rules: a variable has one
/// value for each target. Knows neither how the vault stores that, nor how Vercel groups it.
struct TargetHistory: Sendable {
    /// The value of a variable for one target.
    struct Cell: Equatable, Sendable {
        var value: String
        var type: ValueType
        var comment: String?
    }

    /// The cells by variable and target.
    typealias Cells = [String: [String: Cell]]

    /// A variable in a target.
    struct Place: Hashable, Sendable, Comparable {
        let key: String
        let target: String

        var text: String { "\(key) in \(target)" }

        static func < (one: Place, other: Place) -> Bool {
            (one.key, one.target) < (other.key, other.target)
        }
    }

    /// A value that a place had.
    private struct Past: Hashable, Sendable {
        let place: Place
        let value: String
    }

    /// What the vault has.
    private(set) var cells: Cells = [:]
    /// The values of each variable, the latest last.
    private(set) var series: [String: [String]] = [:]
    /// The value that each version number of a variable was first seen with.
    private(set) var numbers: [String: [UInt64: String]] = [:]
    /// What each place had last, also after it was removed.
    private var last: Cells = [:]
    /// The comments that each variable ever had: a restored record brings its own.
    private var commentsEver: [String: Set<String?>] = [:]
    /// The strictest type that each variable ever had.
    private var strictestEver: [String: ValueType] = [:]
    /// Places without a value whose type left no trace: the record that lost them got a weaker type
    /// on request, or another name, before they got a value again.
    private var untraced: Set<Place> = []
    /// The names whose variable went on under another one.
    private var wasRenamed: Set<String> = []
    /// The types that a name had under another variable, before a rename.
    private(set) var formerTypes: [Place: ValueType] = [:]
    private var past: Set<Past> = []
    /// What places had while Vercel may show it.
    private var readable: Set<Past> = []
    /// The values that were ever sensitive, by variable.
    private var secrets: [String: Set<String>] = [:]
    /// The places that a command made readable on request.
    private var weakened: Set<Place> = []

    func cell(_ place: Place) -> Cell? { cells[place.key]?[place.target] }

    /// The targets in which a variable has a value.
    func targets(of key: String) -> [String] {
        TargetNames.all.filter { cells[key]?[$0] != nil }
    }

    /// Returns whether a command gave a place that value.
    func had(_ value: String, in place: Place) -> Bool {
        past.contains(Past(place: place, value: value))
    }

    /// Returns whether Vercel may show that value of a place.
    func mayShow(_ value: String, in place: Place) -> Bool {
        secrets[place.key]?.contains(value) != true
            || readable.contains(Past(place: place, value: value))
    }

    /// Returns whether a rename took a place's variable away, so that another one may be there.
    func isFreed(_ place: Place) -> Bool { formerTypes[place] != nil }

    /// Returns whether a restored value would be shown that was not to be: one that was sensitive, in
    /// a target that never had it, of a variable that no command made readable.
    func exposes(_ value: String, in place: Place) -> Bool {
        guard secrets[place.key]?.contains(value) == true else { return false }
        return !had(value, in: place) && !weakened.contains { $0.key == place.key }
    }

    // MARK: Rules

    /// The type that a new value gets in a place without `--type`.
    func type(of place: Place) -> ClosedRange<ValueType> {
        if let cell = cell(place) { return cell.type...cell.type }
        let key = place.key
        let top = Self.strictest(in: place.target)
        // Development never takes over what it cannot have.
        func strictest(_ types: [ValueType]) -> ValueType? { types.filter { $0 <= top }.max() }
        let others = (cells[key] ?? [:]).values.map(\.type)
        let lower: ValueType
        if untraced.contains(place) || wasRenamed.contains(key) {
            lower = strictest(others) ?? .plain
        } else if let own = last[key]?[place.target] {
            lower = max(min(own.type, top), strictest(others) ?? .plain)
        } else if let past = last[key] {
            // All that the variable has or had.
            let gone = past.filter { target, _ in
                cells[key]?[target] == nil && !untraced.contains(Place(key: key, target: target))
            }
            lower = strictest(others + gone.values.map(\.type)) ?? .plain
        } else {
            lower = .encrypted
        }
        // What was stricter once may count for longer than these rules know.
        let ever = max(.encrypted, strictestEver[key] ?? .plain, formerTypes[place] ?? .plain)
        return lower...max(lower, min(ever, top))
    }

    /// Returns whether a name ever had a sensitive value: a variable that is renamed to it may become
    /// sensitive.
    func wasSensitive(_ key: String) -> Bool {
        (last[key] ?? [:]).values.contains { $0.type == .sensitive } || secrets[key] != nil
            || formerTypes.contains { $0.key.key == key && $0.value == .sensitive }
    }

    /// Development is sensitive on request only.
    static func strictest(in target: String) -> ValueType {
        target == TargetNames.development ? .encrypted : .sensitive
    }

    /// The comments that a place may get without `--comment`: its own, or that of a target
    /// that gets the same value, and in a new target any that the variable had.
    func comments(of place: Place, among named: [String]) -> Set<String?> {
        let own = cells[place.key] ?? [:]
        var comments = Set(named.compactMap { own[$0] }.map(\.comment))
        guard own[place.target] == nil else { return comments }
        comments.formUnion(own.values.map(\.comment))
        comments.formUnion((last[place.key] ?? [:]).values.map(\.comment))
        comments.insert(nil)
        return comments
    }

    /// The strictest type and the comments that a restored value may bring to a place.
    func restored(in place: Place) -> (top: ValueType, comments: Set<String?>) {
        let own = comments(of: place, among: [place.target])
        // A value is as strict as where it was.
        let ever = min(
            strictestEver[place.key] ?? .plain,
            Self.strictest(in: place.target))
        if let cell = cell(place) { return (max(cell.type, ever), own) }
        let types = [formerTypes[place], last[place.key]?[place.target]?.type].compactMap { $0 }
        return (
            ([Self.strictest(in: place.target)] + types).max() ?? .plain,
            own.union(commentsEver[place.key] ?? [])
        )
    }

    // MARK: Changes

    /// Learns the numbers of the versions that are in use.
    ///
    /// - Returns: Those that meant another value before.
    mutating func learn(numbers observed: [String: [UInt64: String]]) -> [(String, UInt64)] {
        var wrong: [(String, UInt64)] = []
        for (key, values) in observed {
            for (number, value) in values {
                let known = numbers[key, default: [:]][number, default: value]
                if known != value { wrong.append((key, number)) }
                numbers[key, default: [:]][number] = value
            }
        }
        return wrong
    }

    /// Learns what a command left.
    ///
    /// - Parameter expected: What it might leave; the observed cells are among that.
    mutating func learn(_ observed: Cells, after command: TargetCommand, _ expected: TargetOutcome)
    {
        let weaker = expected.places.keys.filter { place in
            guard let type = command.type else { return false }
            return type < self.type(of: place).lowerBound
        }
        if case .rename(let new) = command.action, observed[new] != nil, cells[new] == nil {
            rename(command.key, to: new)
        }
        if case .copy(let target) = command.action {
            let sources = (command.targets ?? targets(of: command.key)).map {
                Place(key: command.key, target: $0)
            }
            if sources.contains(where: { weakened.contains($0) }) {
                weakened.insert(Place(key: command.key, target: target))
            }
        }
        if observed != cells { weakened.formUnion(weaker) }
        for (key, targets) in observed {
            let isWeaker = targets.contains { target, cell in
                cell.type < cells[key]?[target]?.type ?? .plain
            }
            if isWeaker { untraced.formUnion(left(by: key)) }
        }
        cells = observed
        for (key, targets) in observed.sorted(by: { $0.key < $1.key }) {
            for target in TargetNames.all {
                guard let cell = targets[target] else { continue }
                note(cell, in: Place(key: key, target: target))
            }
        }
    }

    /// The places that a variable had, and has no value in.
    private func left(by key: String) -> [Place] {
        (last[key] ?? [:]).keys.filter { cells[key]?[$0] == nil }
            .map { Place(key: key, target: $0) }
    }

    private mutating func note(_ cell: Cell, in place: Place) {
        last[place.key, default: [:]][place.target] = cell
        commentsEver[place.key, default: []].insert(cell.comment)
        untraced.remove(place)
        strictestEver[place.key] = max(strictestEver[place.key] ?? .plain, cell.type)
        let entry = Past(place: place, value: cell.value)
        if past.insert(entry).inserted || series[place.key]?.contains(cell.value) != true {
            series[place.key, default: []].removeAll { $0 == cell.value }
            series[place.key, default: []].append(cell.value)
        }
        if cell.type.isReadable {
            readable.insert(entry)
        } else {
            secrets[place.key, default: []].insert(cell.value)
            weakened.remove(place)
        }
    }

    /// The variable goes on under another name, with its history; the old name is free.
    private mutating func rename(_ old: String, to new: String) {
        func moved(_ entries: Set<Past>) -> Set<Past> {
            entries.union(
                entries.filter { $0.place.key == old }.map {
                    Past(place: Place(key: new, target: $0.place.target), value: $0.value)
                })
        }
        wasRenamed.insert(old)
        let ever = [old, new].compactMap { strictestEver[$0] }
        strictestEver[new] = ever.max()
        commentsEver[new, default: []].formUnion(commentsEver[old] ?? [])
        past = moved(past)
        readable = moved(readable)
        secrets[new, default: []].formUnion(secrets[old] ?? [])
        series[new, default: []] += series[old] ?? []
        numbers[new, default: [:]].merge(numbers.removeValue(forKey: old) ?? [:]) { $1 }
        for target in TargetNames.all {
            let (from, to) = (Place(key: old, target: target), Place(key: new, target: target))
            if weakened.contains(from) { weakened.insert(to) }
            guard let type = last[old]?[target]?.type else { continue }
            formerTypes[from] = max(type, formerTypes[from] ?? .plain)
            formerTypes[to] = max(type, formerTypes[to] ?? .plain)
            guard cells[old]?[target] != nil else { continue }
            last[old]?[target] = nil
        }
    }
}
