import Vault

@testable import Groups

/// One vault in a run of the model: what it has seen, and where it writes.
struct ModelAgent {
    /// The member's id; its keys may be replaced.
    let id: Identifier
    var secrets: TestMember
    let isHonest: Bool
    var entries: Set<GroupHash> = []
    /// In order of arrival.
    var changes: [GroupHash] = []
    var known: Set<GroupHash> = []
    /// Where it writes, by compartment; nil before the first change.
    var chains: [Identifier: TestChain] = [:]
    /// What a backup holds.
    var backup: (entries: Set<GroupHash>, changes: [GroupHash])?

    init(_ member: TestMember, isHonest: Bool) {
        id = member.id
        secrets = member
        self.isHonest = isHonest
    }

    mutating func receive(change name: GroupHash) {
        if known.insert(name).inserted { changes.append(name) }
    }
}

/// A change of the run, as its author made it.
struct ModelChange {
    let compartment: Identifier
    let received: ReceivedChange
    let isForged: Bool
    /// Whether an honest member wrote it, who saw it accepted.
    let isHonest: Bool
    /// Never delivered to anybody.
    var isWithheld = false
}

/// Numbers from a seed.
struct ModelRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    mutating func below(_ count: Int) -> Int { count > 0 ? Int(next() % UInt64(count)) : 0 }

    /// True in so many of a hundred cases.
    mutating func percent(_ chance: Int) -> Bool { below(100) < chance }

    mutating func pick<T>(_ items: [T]) -> T? { items.isEmpty ? nil : items[below(items.count)] }

    mutating func shuffle<T>(_ items: [T]) -> [T] {
        var items = items
        for place in stride(from: items.count - 1, to: 0, by: -1) {
            items.swapAt(place, below(place + 1))
        }
        return items
    }
}

/// What a run found.
struct ModelFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
