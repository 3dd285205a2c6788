/// What a push does with all keys of one binding.
package struct ProjectPlan: Equatable, Sendable {
    /// By the position of the key's state.
    package private(set) var keys: [KeyPlan] = []
    /// The requests of all keys in the order of sending. Where a variable has a new name, that one
    /// comes first. What only removes comes last, and of that, whole keys.
    package private(set) var requests: [PlannedRequest] = []

    /// - Parameter states: All keys that the vault wants, agreed on or sees on the platform; one state
    ///   for each.
    package init(_ states: [KeyState], rules: some RecordRules) {
        let wanted = WantedVersions(states)
        keys = states.map { state in
            KeyPlan(state, rules: rules, waiting: [:]) { wanted.isWanted($0, outside: state.key) }
        }
        let first = keys
        // What was given a new name keeps its old one until the new one is sent.
        for place in states.indices {
            let moved = wanted.newNames(of: states[place])
            let failed = moved.compactMapValues { names in
                names.first { name in
                    wanted.place(of: name).map { !first[$0].isWhole } ?? false
                }
            }
            if failed.isEmpty { continue }
            keys[place] = KeyPlan(states[place], rules: rules, waiting: failed) {
                wanted.isWanted($0, outside: states[place].key)
            }
        }
        order(states, wanted)
    }

    private mutating func order(_ states: [KeyState], _ wanted: WantedVersions) {
        var begun: Set<Int> = []
        var done: Set<String> = []
        var removals: [PlannedRequest] = []
        func visit(_ place: Int) {
            guard begun.insert(place).inserted else { return }
            let moved = wanted.newNames(of: states[place])
            for name in Set(moved.values.joined()).sorted() {
                if let other = wanted.place(of: name) { visit(other) }
            }
            for var request in keys[place].requests {
                for target in request.released {
                    let names = moved[target.position] ?? []
                    request.waitsFor.formUnion(names)
                    // Of two variables that exchange names, one has to be first.
                    if !request.onlyRemoves, !done.isSuperset(of: names) {
                        request.waitsFor.formIntersection(done)
                        keys[place].gaps.insert(target)
                    }
                }
                if request.onlyRemoves {
                    removals.append(request)
                } else {
                    requests.append(request)
                }
            }
            done.insert(states[place].key)
        }
        let isWanted = { (place: Int) in states[place].wishes.contains { $0 != nil } }
        for place in states.indices where isWanted(place) { visit(place) }
        for place in states.indices where !isWanted(place) { visit(place) }
        requests += removals
    }
}

extension KeyPlan {
    /// Plans one key by itself. Only ``ProjectPlan`` sees what other keys want.
    package init(_ state: KeyState, rules: some RecordRules) {
        self.init(state, rules: rules, waiting: [:]) { _ in false }
    }

    fileprivate init(
        _ state: KeyState, rules: some RecordRules, waiting: [Int: String],
        isWantedElsewhere: (Version) -> Bool
    ) {
        let comparison = KeyComparison(
            state, rules: rules, waiting: waiting, isWantedElsewhere: isWantedElsewhere)
        self.init(RecordArrangement(comparison, rules: rules))
    }
}

/// Under which keys the vault wants which versions and variables.
private struct WantedVersions {
    private var places: [String: Int] = [:]
    private var keysOfVariable: [Int: [String]] = [:]
    private var keysOfUnreadable: [Version: String] = [:]

    init(_ states: [KeyState]) {
        for (place, state) in states.enumerated() {
            places[state.key] = place
            for wish in state.wishes.lazy.compactMap(\.self) {
                let variable = wish.version.variable
                if keysOfVariable[variable]?.contains(state.key) != true {
                    keysOfVariable[variable, default: []].append(state.key)
                }
                if !wish.version.isReadable { keysOfUnreadable[wish.version] = state.key }
            }
        }
    }

    func place(of key: String) -> Int? { places[key] }

    /// Returns whether a version whose value the vault does not have is wanted under another key.
    func isWanted(_ version: Version, outside key: String) -> Bool {
        keysOfUnreadable[version].map { $0 != key } ?? false
    }

    /// Returns the new names of the variables that a key had in targets where nothing is wanted any
    /// more, by the target's position.
    func newNames(of state: KeyState) -> [Int: [String]] {
        var names: [Int: [String]] = [:]
        for (position, agreement) in state.agreements.enumerated() {
            guard let agreement, state.wishes[position] == nil else { continue }
            let others = keysOfVariable[agreement.content.version.variable] ?? []
            if others.contains(where: { $0 != state.key }) {
                names[position] = others.filter { $0 != state.key }
            }
        }
        return names
    }
}
