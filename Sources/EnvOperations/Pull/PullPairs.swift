internal import Vault

/// Matches records of the vault with records on Vercel.
struct PullPairs {
    /// The two sides of one record, of which one may be missing.
    struct Pair {
        let variable: Variable?
        let record: VercelRecord?

        /// Whether the vault has not seen the current state of Vercel's record.
        var isChangedThere: Bool {
            guard let remote = variable?.remote, let record else { return false }
            return record.id != remote.id || record.updatedAt != remote.agreedUpdatedAt
        }

        /// Whether the vault's record changed since both sides agreed.
        var isChangedHere: Bool { isValueChangedHere || areAttributesChangedHere }

        /// Whether the vault has a value that Vercel never had.
        var isValueChangedHere: Bool {
            guard let variable, let remote = variable.remote else { return false }
            return variable.currentVersion != remote.pushedVersion
        }

        private var areAttributesChangedHere: Bool {
            guard let variable, let remote = variable.remote else { return false }
            return !variable.isLive || variable.attributes != remote.agreed
                || variable.name != remote.key
        }

        /// Whether Vercel's value can affect the result for the pair.
        var mayBringValue: Bool {
            guard let variable else { return true }
            return variable.remote == nil || isChangedThere
                || (variable.isLive && variable.currentVersion == 0)
        }
    }

    /// Every record of either side once, sorted by key and scope.
    let pairs: [Pair]

    /// Matches by Vercel's ids first. A record of the vault that was never pushed, or whose Vercel
    /// record is gone, matches an unknown one with exactly its key and scope: another person
    /// created the same variable, or deleted and recreated it.
    init(variables: [Variable], platform: ListedRecords, rules: PullPlan.Rules) {
        let records = Dictionary(firstOf: platform.map { ($0.id, $0) })
        let known = Set(variables.compactMap { $0.remote?.id })
        var free = Dictionary(
            grouping: platform.filter { !known.contains($0.id) && records[$0.id] == $0 },
            by: \.key)
        var pairs: [Pair] = []
        for variable in variables {
            if let remote = variable.remote {
                if rules.skipped.contains(remote.id) { continue }
                if let record = records[remote.id] {
                    pairs.append(Pair(variable: variable, record: record))
                    continue
                }
            }
            guard variable.isLive,
                let place = free[variable.name]?.firstIndex(where: {
                    $0.attributes.scope == variable.attributes.scope
                })
            else {
                pairs.append(Pair(variable: variable, record: nil))
                continue
            }
            pairs.append(Pair(variable: variable, record: free[variable.name]?.remove(at: place)))
        }
        pairs += free.values.joined().map { Pair(variable: nil, record: $0) }
        let named = pairs.map { pair in
            (
                pair.record?.key ?? pair.variable?.name ?? "",
                (pair.record?.attributes.scope ?? pair.variable?.attributes.scope)?.description
                    ?? "", pair
            )
        }
        self.pairs = named.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }
}
