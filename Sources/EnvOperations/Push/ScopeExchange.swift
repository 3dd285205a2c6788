package import Vault

/// Records of the vault that need each other's places on Vercel, such as two whose names were
/// swapped.
///
/// Vercel changes one record at a time and allows no two in one place, so neither can go first.
/// Instead, Vercel's records keep their places and are reassigned to the vault's records: what is
/// left is an ordinary change of the values.
///
/// With --force this also handles a sensitive record on Vercel that is readable in the vault.
/// Vercel never changes that type back, so the record is deleted and recreated.
package struct ScopeExchange: Equatable, Sendable {
    /// The new Vercel record of each vault record; nil for none, if Vercel cannot change the record
    /// in that place accordingly.
    package private(set) var remotes: [Identifier: RemoteState?] = [:]
    /// Vercel's records to delete instead, by the vault record that takes their place.
    package private(set) var replaced: [Identifier: VercelRecord] = [:]
    /// The records that change places with each other, which are sent together or not at all.
    package private(set) var groups: [Set<Identifier>] = []

    /// Finds cycles of records that wait for each other and, with force, records that Vercel cannot
    /// change into what the vault has.
    package init(variables: [Variable], platform: ListedRecords, rules: PushPlan.Rules) {
        exchange(variables, platform, rules)
        guard rules.force else { return }
        let records = Dictionary(firstOf: platform.map { ($0.id, $0) })
        for variable in variables where remotes[variable.id] == nil {
            guard variable.isLive, variable.currentVersion > 0, rules.includes(variable),
                !rules.makingRoom.contains(variable.id), variable.attributes.kind != .sensitive,
                let record = variable.remote.flatMap({ records[$0.id] }),
                record.attributes.kind == .sensitive
            else { continue }
            remotes[variable.id] = .some(nil)
            replaced[variable.id] = record
        }
    }

    /// Forgets what was to become of records that a push leaves out.
    package mutating func leaveOut(_ records: Set<Identifier>) {
        let along = groups.filter { !$0.isDisjoint(with: records) }.reduce(records) { $0.union($1) }
        for id in along {
            replaced.removeValue(forKey: id)
            remotes.removeValue(forKey: id)
        }
    }

    private mutating func exchange(
        _ variables: [Variable], _ platform: ListedRecords, _ rules: PushPlan.Rules
    ) {
        let records = Dictionary(firstOf: platform.map { ($0.id, $0) })
        var movable = variables.filter { variable in
            guard variable.isLive, variable.currentVersion > 0, rules.includes(variable),
                !rules.makingRoom.contains(variable.id), let remote = variable.remote,
                let record = records[remote.id]
            else { return false }
            return record.updatedAt == remote.agreedUpdatedAt || rules.force
        }
        func record(of variable: Variable) -> VercelRecord? {
            variable.remote.flatMap { records[$0.id] }
        }
        // Each exchange gives a record its place, so there are at most as many as records.
        for _ in movable.indices {
            guard let cycle = Self.cycle(among: movable, record: record) else { return }
            let states = cycle.map { movable[$0].remote }
            for (number, place) in cycle.enumerated() {
                let next = cycle[(number + 1) % cycle.count]
                guard var state = states[(number + 1) % cycle.count],
                    let there = record(of: movable[next])
                else { continue }
                state.pushedVersion = 0
                state.earlier = nil
                let variable = movable[place]
                let isFixed =
                    there.attributes.kind == .sensitive && variable.attributes.kind != .sensitive
                remotes[variable.id] = isFixed ? .some(nil) : state
                replaced[variable.id] = isFixed ? there : nil
            }
            let settled = Set(cycle.map { movable[$0].id })
            // A record can be in several cycles, one after the other.
            let joined = groups.filter { !$0.isDisjoint(with: settled) }
            groups.removeAll(where: joined.contains)
            groups.append(joined.reduce(settled) { $0.union($1) })
            movable = movable.compactMap { variable in
                guard settled.contains(variable.id) else { return variable }
                guard let state = remotes[variable.id] ?? nil else { return nil }
                var variable = variable
                variable.remote = state
                return variable
            }
        }
    }

    /// Returns indices in `variables` of records of which each needs the place of the next one, and
    /// the last that of the first.
    private static func cycle(
        among variables: [Variable], record: (Variable) -> VercelRecord?
    ) -> [Int]? {
        let places = Dictionary(grouping: variables.indices) { record(variables[$0])?.key ?? "" }
        func needs(_ place: Int) -> [Int] {
            (places[variables[place].name] ?? []).filter { other in
                other != place
                    && record(variables[other])?.attributes.scope.overlaps(
                        variables[place].attributes.scope) == true
            }
        }
        var finished: Set<Int> = []
        for start in variables.indices where !finished.contains(start) {
            var path = [start]
            var open = [needs(start)]
            while !path.isEmpty {
                guard let next = open[open.count - 1].popLast() else {
                    finished.insert(path.removeLast())
                    open.removeLast()
                    continue
                }
                if let first = path.firstIndex(of: next) { return Array(path[first...]) }
                if finished.contains(next) { continue }
                path.append(next)
                open.append(needs(next))
            }
        }
        return nil
    }
}

extension VaultTransaction {
    /// Saves which record on Vercel belongs to each of these from now on.
    ///
    /// - Parameter deletions: Journal entries for ``ScopeExchange/replaced``, so that the next push
    ///   finishes an interrupted one.
    package mutating func keep(_ exchange: ScopeExchange, deletions: [SendEntry]) {
        for (id, remote) in exchange.remotes {
            if let position = position(of: id) { index.variables[position].remote = remote }
        }
        begin(deletions)
    }
}
