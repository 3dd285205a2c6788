internal import Vault

/// Computes the state of a compartment. See `docs/group-format.md`, section 6.
package struct CompartmentFold {
    private let graph: ChangeGraph
    private let chain: MembershipChain
    private let stable: StableRules
    /// For each change, the lowerings that keep it from counting; nil if it counts.
    private var obstacles: [[GroupHash]?] = []
    private var isEffective: [Bool] = []

    /// Computes the state from a set of entries and a set of changes. Their order does not matter.
    ///
    /// Takes linear memory, and time in proportion to the changes and a 64th of their square.
    ///
    /// - Parameter changes: Of one group and compartment.
    package static func state(
        of changes: [ReceivedChange], chain: MembershipChain
    ) -> CompartmentState {
        CompartmentFold(changes, chain).state()
    }

    private init(_ changes: [ReceivedChange], _ chain: MembershipChain) {
        self.chain = chain
        graph = ChangeGraph(changes, chain: chain)
        stable = StableRules(graph, chain: chain)
        var rights = RightsRule(graph, chain: chain)
        for place in graph.changes.indices {
            obstacles.append(stable.verdicts[place] == nil ? rights.obstacles(of: place) : [])
        }
        isEffective = effectiveChanges()
    }

    private func counts(_ place: Int) -> Bool { obstacles[place] == nil }

    /// Finds the late changes that a change of somebody else, which counts, has in its past.
    private func effectiveChanges() -> [Bool] {
        // Two different authors are enough to find one who is not the author of the late change.
        var later = [(Identifier?, Identifier?)](repeating: (nil, nil), count: graph.changes.count)
        func add(_ author: Identifier?, to place: Int) {
            guard let author else { return }
            if later[place].0 == nil {
                later[place].0 = author
            } else if later[place].0 != author, later[place].1 == nil {
                later[place].1 = author
            }
        }
        var isEffective = [Bool](repeating: false, count: graph.changes.count)
        for place in graph.changes.indices.reversed() {
            let author = graph.changes[place].header.author
            if !counts(place), stable.verdicts[place] == nil {
                isEffective[place] = Self.hasOther([later[place].0, later[place].1], than: author)
            }
            for predecessor in graph.predecessors(place) {
                add(later[place].0, to: Int(predecessor))
                add(later[place].1, to: Int(predecessor))
                if counts(place) { add(author, to: Int(predecessor)) }
            }
        }
        return isEffective
    }

    private static func hasOther(_ authors: [Identifier?], than author: Identifier) -> Bool {
        authors.contains { $0 != nil && $0 != author }
    }

    private func role(_ place: Int) -> GroupRole {
        let header = graph.changes[place].header
        return chain.link(header.entry)?.state.members[header.author]?.rights.role ?? .reader
    }

    private func state() -> CompartmentState {
        var state = CompartmentState()
        state.waiting = graph.waiting
        var parts: [Assignments.Part] = []
        for (place, change) in graph.changes.enumerated() {
            if counts(place) {
                state.counted.append(change.name)
            } else {
                state.late[change.name] = stable.verdicts[place] ?? .cut
                if isEffective[place] { state.effective.append(change.name) }
            }
            if counts(place) || isEffective[place] {
                parts.append(.init(place: place, isLate: !counts(place), role: role(place)))
            }
        }
        state.counted.sort()
        state.effective.sort()
        state.heads = heads()
        state.doubled = doubled(parts)
        let assignments = Assignments(parts, in: graph) { mayReplace($0, $1) }
        state.projectNames = RecordFolding.ascending(
            assignments.of(nil, .projectName).compactMap {
                guard case .projectName(let name) = $0.operation.operation else { return nil }
                return name
            }
        ) { Array($0.utf8) }
        state.bindings = RecordFolding.ascending(
            assignments.of(nil, .binding).compactMap { candidate -> GroupBinding?? in
                guard case .binding(let binding) = candidate.operation.operation else { return nil }
                return .some(binding)
            }
        ) { $0?.encoded ?? [] }
        state.candidates = assignments.references(of: nil, [.projectName, .binding])
        state.records = records(parts, assignments)
        for part in parts where !part.isLate {
            for operation in graph.changes[part.place].operations ?? [] {
                guard case .settle(let settlement) = operation.operation else { continue }
                state.settled.insert(settlement)
            }
        }
        return state
    }

    /// Only an admin decides about a late assignment, once the lowering is known.
    private func mayReplace(_ part: Assignments.Part, _ replaced: Int) -> Bool {
        guard isEffective[replaced], part.role != .admin else { return true }
        let entry = graph.changes[part.place].header.entry
        return !(obstacles[replaced] ?? []).contains { chain.isSameOrBefore($0, entry) }
    }

    private func heads() -> [GroupHash] {
        // A change in the past of one that counts has one of its predecessors, or is one.
        var isPast = [Bool](repeating: false, count: graph.changes.count)
        for place in graph.changes.indices.reversed() where counts(place) || isPast[place] {
            for predecessor in graph.predecessors(place) { isPast[Int(predecessor)] = true }
        }
        return graph.changes.indices.filter { counts($0) && !isPast[$0] }.map {
            graph.changes[$0].name
        }.sorted()
    }

    private func doubled(_ parts: [Assignments.Part]) -> [CompartmentState.Doubled] {
        var seen: Set<CompartmentState.Doubled> = []
        var doubled: Set<CompartmentState.Doubled> = []
        for part in parts {
            let header = graph.changes[part.place].header
            let position = CompartmentState.Doubled(
                author: header.author, chain: header.chain, counter: header.counter)
            if !seen.insert(position).inserted { doubled.insert(position) }
        }
        return doubled.sorted()
    }

    private func records(
        _ parts: [Assignments.Part], _ assignments: Assignments
    ) -> [RecordState] {
        var created: Set<Identifier> = []
        var taken: Set<Identifier> = []
        for part in parts {
            for operation in graph.changes[part.place].operations ?? [] {
                guard let record = operation.record else { continue }
                if case .create = operation.operation {
                    created.insert(record)
                    if part.role != .writer { taken.insert(record) }
                } else if part.role != .writer, !part.isLate {
                    taken.insert(record)
                }
            }
        }
        let folding = RecordFolding(assignments: assignments)
        var records = created.sorted().map { id in
            identified(folding.record(id, isOffered: !taken.contains(id)))
        }
        RecordFolding.markTwins(&records)
        return records
    }

    /// Adds the ids of versions, which depend on their authors.
    private func identified(_ record: RecordState) -> RecordState {
        func identify(_ choice: RecordState.Choice) -> RecordState.Choice {
            guard let place = graph.places[choice.version.change],
                let id = graph.changes[place].versionID(of: choice.version)
            else { return choice }
            return RecordState.Choice(version: choice.version, id: id, isLate: choice.isLate)
        }
        var record = record
        record.choices = record.choices.map(identify)
        record.offers = record.offers.map(identify)
        return record
    }
}
