import Vault

@testable import Groups

extension ModelRun {
    /// Delivers everything that is not withheld, and compares all members with the oracle.
    mutating func check() throws {
        for (name, entry) in invalid {
            let found = group.chain.refused[name]
            guard found == entry.reason else {
                throw ModelFinding(
                    "an entry that is \(entry.reason) is \(found?.rawValue ?? "not refused")")
            }
        }
        let delivered = order.filter { changes[$0]?.isWithheld == false }
        var entries: [GroupHash: Entry] = [:]
        for (name, object) in valid { entries[name] = try Entry.decode(object) }
        for (name, _) in valid where group.chain.link(name) == nil {
            throw ModelFinding("a valid entry is refused")
        }
        let forged = Set(changes.filter(\.value.isForged).map(\.key))
        for compartment in compartments {
            let received = delivered.compactMap { changes[$0] }
                .filter { $0.compartment == compartment }.map(\.received)
            let oracle = ModelOracle(entries: entries, changes: received, forged: forged)
            guard Set(oracle.heads) == Set(group.chain.heads) else {
                throw ModelFinding("the heads of the membership differ")
            }
            let expected = oracle.state()
            for _ in 0..<3 {
                var chain = MembershipChain(group: group.group)
                if random.percent(4) {
                    // Entries one by one and in any order.
                    let objects = valid.keys.sorted().compactMap { valid[$0] }
                    for object in random.shuffle(objects) { try chain.insert([object]) }
                    guard chain.heads == group.chain.heads else {
                        throw ModelFinding("the order of entries matters")
                    }
                } else {
                    chain = group.chain
                }
                let again = random.shuffle(received + received.prefix(3))
                let state = CompartmentFold.state(of: again, chain: chain)
                if state != expected { throw ModelFinding(Self.difference(state, expected)) }
            }
            try checkLog(compartment, expected)
            try checkExposure(compartment, oracle, received)
        }
    }

    /// No write of the log of accepted writes is missing.
    private func checkLog(_ compartment: Identifier, _ state: CompartmentState) throws {
        let counted = Set(state.counted)
        for name in order {
            guard let change = changes[name], change.isHonest, change.compartment == compartment,
                !change.isWithheld, !counted.contains(name), state.waiting[name] == nil
            else { continue }
            guard state.late[name] == .cut else {
                throw ModelFinding(
                    "an honest write is late: \(state.late[name]?.rawValue ?? "missing")")
            }
        }
    }

    private static func difference(
        _ state: CompartmentState, _ expected: CompartmentState
    ) -> String {
        func short(_ name: GroupHash) -> String { String(name.hexadecimal.prefix(8)) }
        var texts: [String] = []
        for (name, reason) in expected.late where state.late[name] != reason {
            texts.append(
                "\(short(name)) is \(state.late[name]?.rawValue ?? "not late"), not \(reason)")
        }
        for (name, reason) in state.late where expected.late[name] == nil {
            texts.append("\(short(name)) is late (\(reason.rawValue))")
        }
        if state.waiting != expected.waiting { texts.append("what waits differs") }
        if state.effective != expected.effective { texts.append("what is effective differs") }
        if state.heads != expected.heads { texts.append("the heads differ") }
        if state.doubled != expected.doubled { texts.append("doubled chains differ") }
        if state.settled != expected.settled { texts.append("settlements differ") }
        if state.projectNames != expected.projectNames { texts.append("project names differ") }
        if state.bindings != expected.bindings { texts.append("bindings differ") }
        if state.records.count != expected.records.count { texts.append("records are missing") }
        for (one, two) in zip(state.records, expected.records) where one != two {
            texts.append("a record is \(one), not \(two)")
        }
        return texts.isEmpty ? "the states differ" : texts.joined(separator: "; ")
    }
}
