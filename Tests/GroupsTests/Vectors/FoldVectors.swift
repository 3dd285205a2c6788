import Sealing
import Vault

@testable import Groups

/// Whole histories, chosen so that every reason of the format occurs.
enum FoldVectors {
    /// What a run shows.
    private static func features(_ run: ModelRun, _ states: [CompartmentState]) -> Set<String> {
        var found = Set(run.group.chain.refused.values.map { "refused \($0.rawValue)" })
        if run.group.chain.isForked { found.insert("forked") }
        if run.valid.values.contains(where: { (try? Entry.decode($0).other) ?? nil != nil }) {
            found.insert("joined")
        }
        for state in states {
            found.formUnion(state.late.values.map { "late \($0.rawValue)" })
            found.formUnion(state.waiting.values.map { "waiting \($0.rawValue)" })
            if !state.effective.isEmpty { found.insert("effective") }
            if !state.doubled.isEmpty { found.insert("doubled") }
            if !state.settled.isEmpty { found.insert("settled") }
            if state.bindings.count > 1 { found.insert("bindings") }
            if state.projectNames.count > 1 { found.insert("project names") }
            for record in state.records {
                found.formUnion(record.contested.map { "contested \($0.rawValue)" })
                if !record.offers.isEmpty { found.insert("offer") }
                if record.isOffered { found.insert("offered") }
                if record.wasRemovedMeanwhile { found.insert("removed meanwhile") }
                if !record.isInUse { found.insert("removed") }
                if !record.rotations.isEmpty { found.insert("rotation") }
                if !record.claims.isEmpty { found.insert("claim") }
            }
        }
        return found
    }

    /// What the vectors must show together.
    private static let wanted: Set<String> = {
        var wanted: Set<String> = [
            "forked", "joined", "effective", "doubled", "settled", "offer", "offered",
            "removed meanwhile", "removed", "rotation", "claim", "bindings", "project names",
        ]
        wanted.formUnion(EntryRefusal.allCases.map { "refused \($0.rawValue)" })
        wanted.formUnion(LateReason.allCases.map { "late \($0.rawValue)" })
        wanted.formUnion(WaitingReason.allCases.map { "waiting \($0.rawValue)" })
        wanted.formUnion(RecordState.Contest.allCases.map { "contested \($0.rawValue)" })
        return wanted
    }()

    /// Chooses small runs by their seeds until everything that is wanted occurs.
    static func all() throws -> [GroupVector] {
        var vectors: [GroupVector] = []
        var missing = wanted
        for seed in 0..<20_000 where !missing.isEmpty {
            var run = try ModelRun(seed: UInt64(seed))
            guard run.agents.count <= 6 else { continue }
            try run.run()
            guard run.order.count <= 24, run.valid.count <= 9 else { continue }
            // What is rare is searched for among the reasons alone, which is faster.
            let refused = Set(run.group.chain.refused.values.map { "refused \($0.rawValue)" })
            guard
                missing.contains(where: { !$0.hasPrefix("refused") })
                    || !missing.isDisjoint(with: refused)
            else { continue }
            var states: [Identifier: CompartmentState] = [:]
            for compartment in run.compartments {
                states[compartment] = CompartmentFold.state(
                    of: received(run, compartment), chain: run.group.chain)
            }
            let found = features(run, Array(states.values)).intersection(missing)
            guard !found.isEmpty else { continue }
            try run.check()
            missing.subtract(found)
            vectors.append(contentsOf: try vector(run, states, found, seed))
        }
        guard missing.isEmpty else { throw ModelFinding("no run shows \(missing.sorted())") }
        return vectors
    }

    private static func received(_ run: ModelRun, _ compartment: Identifier) -> [ReceivedChange] {
        run.order.compactMap { run.changes[$0] }.filter {
            $0.compartment == compartment && !$0.isWithheld
        }.map(\.received)
    }

    private static func vector(
        _ run: ModelRun, _ states: [Identifier: CompartmentState], _ found: Set<String>,
        _ seed: Int
    ) throws -> [GroupVector] {
        let entries = run.valid.values.map { $0 } + run.invalid.values.map(\.object)
        let keys = Dictionary(
            uniqueKeysWithValues: run.group.epochs.map {
                (
                    $0.key.compartment.hexadecimal + ":" + $0.key.entry.hexadecimal,
                    GroupVector.hexadecimal($0.value.indexBytes)
                )
            })
        let words = StateWords.bytes(
            of: run.group.chain, heads: states.mapValues(\.heads))
        return states.keys.sorted().map { compartment in
            let objects = run.order.filter {
                run.changes[$0]?.compartment == compartment && run.changes[$0]?.isWithheld == false
            }.compactMap { run.objects[$0] }
            return GroupVector(
                name: "fold-\(seed)-\(compartment.hexadecimal.prefix(4))",
                description: found.sorted().joined(separator: ", "),
                input: [
                    "kind": "fold", "group": run.group.group.hexadecimal,
                    "compartment": compartment.hexadecimal,
                    "entries": entries.map(GroupVector.hexadecimal).sorted(),
                    "changes": objects.map(GroupVector.hexadecimal).sorted(),
                    "indexKeys": keys,
                ], result: "ok",
                expected: [
                    "membership": StateJSON.membership(run.group.chain),
                    "state": StateJSON.state(states[compartment] ?? CompartmentState()),
                    "heads": Dictionary(
                        uniqueKeysWithValues: states.map {
                            ($0.key.hexadecimal, $0.value.heads.map(\.hexadecimal))
                        }),
                    "stateWords": GroupVector.hexadecimal(words),
                ])
        }
    }
}
