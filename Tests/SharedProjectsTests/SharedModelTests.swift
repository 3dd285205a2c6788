import Foundation
import Groups
import Sealing
import TestSupport
import Testing
import Vault

@testable import SharedProjects

/// Random work of several vaults on one shared project: writes with and without the root, syncs that
/// only fetch or only publish, restored backups, deleted copies, failed writes, removals. At the end all
/// vaults must agree with the fold, and no change that a vault had may be missing.
///
/// 25 runs; with ZG_ENV_PROOF=full 2,000. ZG_ENV_MODEL_FIRST sets the only one to repeat.
@Suite("The model of shared vaults")
struct SharedModelTests {
    @Test func `all vaults end in the same state, and nothing is lost`() throws {
        var totals = Totals()
        let only = ProcessInfo.processInfo.environment["ZG_ENV_MODEL_FIRST"].flatMap { Int($0) }
        for number in only.map({ $0...$0 }) ?? 0...Proof.count(short: 24, full: 1_999) {
            do {
                var run = try SharedModelRun(number)
                for _ in 0..<60 { try run.step() }
                try run.finish()
                totals.add(run)
            } catch {
                Issue.record("ZG_ENV_PROOF_SEED=\(ProofRandom.seed), run \(number): \(error)")
                return
            }
        }
        print("model of shared vaults: \(totals)")
        // Runs in which nothing happens would find nothing.
        if only != nil { return }
        #expect(totals.contested > 0 && totals.restored > 0 && totals.late > 0, "\(totals)")
    }

    struct Totals {
        var (steps, changes, contested, restored, late) = (0, 0, 0, 0, 0)

        mutating func add(_ run: SharedModelRun) {
            steps += run.stepCount
            changes += run.place.changes.count
            contested += run.contestedCount
            restored += run.restoredCount
            late += run.lateCount
        }
    }
}

/// What a run found.
struct SharedModelFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

struct SharedModelRun {
    private var random: ProofRandom
    let place = TestPlace()
    private var vaults: [SharedVault] = []
    private var backups: [Int: [UInt8]] = [:]
    /// The changes that vaults have and were not lost with a restored backup.
    private var written: Set<GroupHash> = []
    private var removed: Set<Int> = []
    private var value = 0
    private(set) var (stepCount, restoredCount, contestedCount, lateCount) = (0, 0, 0, 0)

    /// - Parameter number: Of the run, which decides the random numbers.
    init(_ number: Int) throws {
        // Neighbouring streams would give the same numbers, one step later.
        random = ProofRandom(UInt64(number + 1) &* 0x2545_F491_4F6C_DD1D)
        let first = try SharedVault("0")
        vaults = [first]
        for key in ["A", "B", "C"] { try first.set(key, "first \(key)") }
        try first.found(place)
        try first.sync(place)
        let group = try #require(try first.membership()).group
        for number in 1...Int(random.next() % 3) + 1 {
            let vault = try SharedVault("\(number)")
            let member = try vault.join(group)
            try first.sync(place)
            try first.publish(place) { _ in EntryDraft(admissions: [member]) }
            try first.sync(place)
            try vault.sync(place)
            vaults.append(vault)
        }
    }

    private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    mutating func step() throws {
        stepCount += 1
        let number = below(vaults.count)
        let vault = vaults[number]
        vault.clock += UInt64(below(50))
        let keys = Array(try vault.values().keys).sorted()
        let key = keys.isEmpty ? "A" : keys[below(keys.count)]
        switch below(20) {
        case 0...4: try vault.set(key, text())
        case 5: try vault.set("K\(below(6))", text(), targets: targets())
        case 6: try vault.remove(key)
        case 7:
            let name = "K\(below(6))"
            try vault.change(key) { try $0.rename(at: [$1], to: name, time: 1) }
        case 8:
            let scope = Scope(targets: targets())
            try vault.change(key) { $0.index.variables[$1].attributes.scope = scope }
        case 9:
            let comment = text()
            try vault.change(key) { $0.index.variables[$1].attributes.comment = comment }
        case 10: try vault.set(key, text(), targets: targets())
        case 11: backups[number] = try vault.directory.read("vault.zgv")
        case 12: try restore(number)
        case 13: vault.memory.positions = [:]
        case 14:
            // The copy of the place is a cache; what was never published is in the vault.
            (vault.copy.changes, vault.copy.entries) = ([:], place.entries)
            vault.copy.changes = place.changes
        case 15:
            _ = try? vault.update(in: RefusingStore(base: vault.store)) { transaction in
                guard let position = transaction.index.variables.indices.last else { return }
                transaction.index.variables[position].attributes.comment = "lost"
            }
        case 16 where removed.isEmpty && number > 0 && below(3) == 0: try remove(number)
        case 17: try sync(number, fetches: true, publishes: false)
        case 18: try sync(number, fetches: false, publishes: true)
        default: try sync(number, fetches: true, publishes: true)
        }
        written.formUnion(try vault.outgoing().map { GroupHash(of: $0) })
    }

    private mutating func text() -> String {
        value += 1
        return "value \(value)"
    }

    private mutating func targets() -> Scope.Targets {
        Scope.Targets(rawValue: UInt8(below(7) + 1))
    }

    private mutating func sync(_ number: Int, fetches: Bool, publishes: Bool) throws {
        let vault = vaults[number]
        written.formUnion(try vault.outgoing().map { GroupHash(of: $0) })
        try vault.sync(place, fetches: fetches, publishes: publishes)
        try vault.verify()
        // A sync never makes changes of its own.
        let unknown = Set(try vault.outgoing().map { GroupHash(of: $0) }).subtracting(written)
        guard unknown.isEmpty else { throw SharedModelFinding("a sync recorded a change") }
    }

    private mutating func restore(_ number: Int) throws {
        guard let backup = backups[number] else { return }
        restoredCount += 1
        let vault = vaults[number]
        let unpublished = Set(try vault.outgoing().map { GroupHash(of: $0) })
        try vault.directory.write(backup, to: "vault.zgv")
        let kept = Set(try vault.outgoing().map { GroupHash(of: $0) })
        written.subtract(
            unpublished.subtracting(kept).subtracting(place.changes.keys)
                .subtracting(vault.copy.changes.keys))
    }

    private mutating func remove(_ number: Int) throws {
        let member = try #require(try vaults[number].membership()).member
        try sync(0, fetches: true, publishes: true)
        try vaults[0].publish(place) { view in
            EntryDraft(removals: [Removal(member: member, cut: view.cut(of: member))])
        }
        removed.insert(number)
        try sync(0, fetches: true, publishes: true)
    }

    // MARK: End

    mutating func finish() throws {
        for _ in 0..<3 {
            for number in vaults.indices { try sync(number, fetches: true, publishes: true) }
        }
        let lost = written.subtracting(place.changes.keys)
        guard lost.isEmpty else { throw SharedModelFinding("\(lost.count) changes are lost") }
        let active = vaults.indices.filter { !removed.contains($0) }
        let first = try Summary(vaults[active[0]])
        contestedCount += first.contestedCount
        lateCount += first.lateCount
        for number in active {
            let summary = try Summary(vaults[number])
            guard summary == first else {
                throw SharedModelFinding(
                    "vaults \(active[0]) and \(number) differ: \(first.difference(from: summary))")
            }
            try summary.check(vaults[number])
        }
        for number in removed {
            guard try vaults[number].membership()?.standing == .ended else {
                throw SharedModelFinding("a removed member does not know it")
            }
        }
    }

    /// What all members must agree on.
    private struct Summary: Equatable {
        let heads: [GroupHash]
        let candidates: [Identifier: SharedState.Candidates]
        let inUse: Set<Identifier>
        let choices: [Identifier: [ChangeReference]]
        let contests: [Identifier: UInt8]
        let lateCount: Int
        var contestedCount: Int { contests.count }

        init(_ vault: SharedVault) throws {
            let state = try #require(try vault.state())
            let shared = try #require(try vault.shared())
            heads = state.heads
            lateCount = Int(state.lateCount)
            // A vault does not keep what was removed before it came.
            candidates = Dictionary(
                uniqueKeysWithValues: state.records.filter(\.isInUse).map {
                    ($0.id, $0.candidates)
                })
            inUse = Set(state.records.filter(\.isInUse).map(\.id))
            choices = Dictionary(
                uniqueKeysWithValues: state.records.filter(\.isInUse).map { record in
                    (
                        record.id,
                        record.choices.compactMap { record.version($0)?.reference }.sorted()
                    )
                })
            let records = Dictionary(
                uniqueKeysWithValues: state.records.map { ($0.variable, $0.id) })
            contests = Dictionary(
                uniqueKeysWithValues: shared.contested.compactMap { item in
                    records[item.variable].map { ($0, item.contest.rawValue) }
                })
        }

        /// What differs, in short.
        func difference(from other: Summary) -> String {
            var found: [String] = []
            if heads != other.heads { found.append("heads") }
            if candidates != other.candidates { found.append("candidates") }
            if inUse != other.inUse { found.append("variables in use") }
            if choices != other.choices { found.append("choices") }
            if contests != other.contests { found.append("contests") }
            if lateCount != other.lateCount { found.append("late changes") }
            return found.joined(separator: ", ")
        }

        /// Checks the vault's records against what is kept about the group.
        func check(_ vault: SharedVault) throws {
            let index = try vault.index
            let state = try #require(try vault.state())
            let view = try vault.view()
            let open = try Vault(opening: vault.path, in: vault.store)
            let reader = try #require(
                try ValueReader(vault: open, index: index, keys: vault.keys))
            for record in state.records {
                guard let variable = index.variables.first(where: { $0.id == record.variable })
                else { continue }
                guard variable.isLive == record.isInUse else {
                    throw SharedModelFinding("\(record.name) is in use on one side only")
                }
                guard record.isInUse, record.choices.count == 1,
                    let version = record.version(record.choices[0])
                else { continue }
                let mine = try reader.currentValue(of: variable, in: SecretArena())
                let theirs = try view.value(of: version.reference, in: SecretArena())
                guard let mine, let theirs,
                    SharedVault.text(mine) == SharedVault.text(theirs)
                else { throw SharedModelFinding("\(record.name) has another value") }
            }
        }
    }
}
