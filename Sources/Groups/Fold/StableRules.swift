package import Vault

/// The rules of `docs/group-format.md`, section 6.2: their verdict depends on the past of a change
/// alone, so it never changes. Each rule is one function that returns whether it holds.
struct StableRules {
    private let graph: ChangeGraph
    private let chain: MembershipChain
    /// The first broken rule of each placed change.
    private(set) var verdicts: [LateReason?]
    private var queries = PastQueries()
    private var recordTargets: [Identifier: Int] = [:]
    private var changeTargets: [Int: Int] = [:]

    init(_ graph: ChangeGraph, chain: MembershipChain) {
        self.graph = graph
        self.chain = chain
        verdicts = [LateReason?](repeating: nil, count: graph.changes.count)
        for place in graph.changes.indices { verdicts[place] = simpleVerdict(place) }
        askAboutPasts()
        queries.answer(in: graph)
        for place in graph.changes.indices where verdicts[place] == nil {
            verdicts[place] = referenceVerdict(place)
        }
    }

    // MARK: Rules that need no past

    /// What the simple rules look at.
    private struct Subject {
        let header: ChangeHeader
        let operations: [RecordOperation]
        let author: MembershipState.Member
        let epoch: MembershipState.Epoch?
        let isSigned: Bool
    }

    private func simpleVerdict(_ place: Int) -> LateReason? {
        let change = graph.changes[place]
        guard let state = chain.link(change.header.entry)?.state,
            let author = state.members[change.header.author], Self.isMember(author)
        else { return .member }
        let subject = Subject(
            header: change.header, operations: change.operations ?? [], author: author,
            epoch: state.epochs[change.header.compartment], isSigned: change.isSigned)
        let predecessors = graph.predecessors(place).map { graph.changes[Int($0)].header }
        if !Self.isSigned(subject) { return .signature }
        if !Self.hasAccess(subject) { return .compartment }
        if !Self.hasCurrentEpoch(subject) { return .epoch }
        if !Self.isPastEntry(subject.header, predecessors) { return .pastEntry }
        if !continuesChain(subject.header) { return .chain }
        if !RightsRule.allows(author.rights.role, subject.operations) { return .role }
        return Self.hasRightKey(subject) ? nil : .key
    }

    private static func isMember(_ author: MembershipState.Member) -> Bool { author.isActive }

    private static func isSigned(_ subject: Subject) -> Bool { subject.isSigned }

    private static func hasAccess(_ subject: Subject) -> Bool {
        subject.author.rights.includes(subject.header.compartment)
    }

    private static func hasCurrentEpoch(_ subject: Subject) -> Bool {
        subject.epoch?.number == subject.header.epoch
    }

    private static func isPastEntry(_ header: ChangeHeader, _ before: [ChangeHeader]) -> Bool {
        before.allSatisfy { $0.entryNumber <= header.entryNumber }
    }

    private func continuesChain(_ header: ChangeHeader) -> Bool {
        guard let place = graph.places[header.before] else { return header.counter == 1 }
        let before = graph.changes[place].header
        return before.author == header.author && before.chain == header.chain
            && before.counter == header.counter - 1
    }

    private static func hasRightKey(_ subject: Subject) -> Bool {
        subject.header.key == .authority
            || subject.operations.allSatisfy { !$0.operation.needsAuthority }
    }

    // MARK: Rules about the past

    private mutating func askAboutPasts() {
        for place in graph.changes.indices where verdicts[place] == nil {
            for operation in graph.changes[place].operations ?? [] {
                guard case .create = operation.operation, let record = operation.record else {
                    continue
                }
                let target = recordTargets[record] ?? queries.addTarget()
                recordTargets[record] = target
                queries.add(source: place, to: target)
            }
        }
        for place in graph.changes.indices where verdicts[place] == nil {
            for operation in graph.changes[place].operations ?? [] {
                if let record = operation.record, let target = recordTargets[record] {
                    queries.ask(target, of: place)
                }
                for reference in operation.references {
                    guard let source = graph.places[reference.change] else { continue }
                    let target = changeTargets[source] ?? newTarget(source)
                    queries.ask(target, of: place)
                }
            }
        }
    }

    private mutating func newTarget(_ source: Int) -> Int {
        let target = queries.addTarget()
        changeTargets[source] = target
        if verdicts[source] == nil { queries.add(source: source, to: target) }
        return target
    }

    private func referenceVerdict(_ place: Int) -> LateReason? {
        let change = graph.changes[place]
        var created: Set<Identifier> = []
        for operation in change.operations ?? [] {
            if case .create = operation.operation, let record = operation.record {
                created.insert(record)
            } else if !hasRecord(operation, place, created) {
                return .record
            }
        }
        for operation in change.operations ?? [] where !replacesThePast(operation, place) {
            return .replaces
        }
        guard change.header.key == .write else { return nil }
        let isWidening = (change.operations ?? []).contains { !keepsNarrow($0) }
        return isWidening ? .widening : nil
    }

    private func hasRecord(
        _ operation: RecordOperation, _ place: Int, _ created: Set<Identifier>
    ) -> Bool {
        guard let record = operation.record, !created.contains(record) else { return true }
        guard let target = recordTargets[record] else { return false }
        return queries.answer(target, of: place)
    }

    /// The operation that a reference names, if it lies in the past.
    private func past(_ reference: ChangeReference, of place: Int) -> RecordOperation? {
        guard let source = graph.places[reference.change], let target = changeTargets[source],
            queries.answer(target, of: place),
            let operation = graph.changes[source].operation(reference)
        else { return nil }
        return operation
    }

    private func replacesThePast(_ operation: RecordOperation, _ place: Int) -> Bool {
        for reference in operation.replaces {
            guard let replaced = past(reference, of: place), replaced.record == operation.record,
                operation.operation.assigned.allSatisfy(replaced.operation.assigned.contains)
            else { return false }
        }
        guard let version = operation.version else { return true }
        guard let chosen = past(version, of: place), chosen.record == operation.record,
            case .value = chosen.operation
        else { return false }
        return true
    }

    private func keepsNarrow(_ operation: RecordOperation) -> Bool {
        if case .type(let type) = operation.operation {
            return replacedOperations(of: operation).allSatisfy {
                ($0.type?.strictness ?? .max) <= type.strictness
            }
        }
        if case .scope(let scope) = operation.operation {
            return replacedOperations(of: operation).allSatisfy {
                $0.scope.map { scope.isIncluded(in: $0) } ?? false
            }
        }
        return true
    }

    /// The operations that a valid operation replaces.
    private func replacedOperations(of operation: RecordOperation) -> [RecordOperation] {
        operation.replaces.compactMap { reference in
            graph.places[reference.change].flatMap {
                graph.changes[$0].operations?[Int(reference.operation)]
            }
        }
    }
}

extension RecordOperation {
    /// The version that is chosen or claimed.
    fileprivate var version: ChangeReference? {
        switch operation {
        case .choose(let version): version
        case .claim(let claim): claim.version
        default: nil
        }
    }

    fileprivate var references: [ChangeReference] {
        version.map { replaces + [$0] } ?? replaces
    }

    /// The type that the operation assigns.
    var type: VariableAttributes.Kind? {
        // Not inlined: the optimizer of Swift 6.3.1 stops at its own check where it does.
        @inline(never) get {
            switch operation {
            case .create(let creation): creation.type
            case .type(let type): type
            default: nil
            }
        }
    }

    /// The scope that the operation assigns.
    var scope: Scope? {
        @inline(never) get {
            switch operation {
            case .create(let creation): creation.scope
            case .scope(let scope): scope
            default: nil
            }
        }
    }
}

extension Scope {
    /// Whether `other` has everything that this scope has.
    package func isIncluded(in other: Scope) -> Bool {
        branch.map { Array($0.utf8) } == other.branch.map { Array($0.utf8) }
            && targets.isSubset(of: other.targets)
            && Set(customEnvironments.map { Array($0.utf8) }).isSubset(
                of: other.customEnvironments.map { Array($0.utf8) })
    }
}
