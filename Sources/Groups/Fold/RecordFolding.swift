internal import Vault

/// Computes the state of records from assignments. See `docs/group-format.md`, section 6.4.
struct RecordFolding {
    let assignments: Assignments

    /// The state of a record, without what depends on other records.
    ///
    /// - Parameter isOffered: Whether only writers had to do with it.
    func record(_ id: Identifier, isOffered: Bool) -> RecordState {
        var state = RecordState(id: id)
        state.isOffered = isOffered
        let names = assignments.of(id, .name)
        let scopes = assignments.of(id, .scope)
        let values = assignments.of(id, .value)
        state.names = Self.ascending(names.compactMap(\.operation.name)) { Array($0.utf8) }
        state.scopes = Self.ascending(scopes.compactMap(\.operation.scope), by: \.encoded)
        let types = assignments.settled(id, .type)
        state.type = Self.strictest(types.compactMap(\.operation.type))
        state.comment = assignments.settled(id, .comment).first?.operation.comment
        state.reminder = assignments.settled(id, .reminder).first?.operation.reminder ?? 0
        state.claims = assignments.settled(id, .claim).map(\.reference)
        state.rotations = assignments.settled(id, .rotation).filter {
            $0.operation.operation == .rotation(true)
        }.map(\.reference)
        state.candidates = assignments.references(
            of: id, [.name, .type, .scope, .comment, .reminder, .value, .claim, .rotation])
        fold(values, into: &state)
        let isLate = (names + scopes + values + assignments.of(id, .type)).contains(where: \.isLate)
        if state.choices.count > 1 { state.contested.append(.value) }
        if isLate { state.contested.append(.late) }
        if state.names.count > 1 { state.contested.append(.name) }
        if state.scopes.count > 1 { state.contested.append(.scope) }
        return state
    }

    private func fold(_ candidates: [Assignments.Candidate], into state: inout RecordState) {
        let removals = candidates.filter { $0.operation.operation == .remove }
        let values = candidates.filter { $0.operation.operation != .remove }
        let hasOthers = candidates.contains { !$0.isByWriter }
        state.choices = choices(values.filter { !Self.isOffer($0, hasOthers) })
        state.offers = choices(values.filter { Self.isOffer($0, hasOthers) })
        state.removals = removals.map(\.reference)
        state.isInUse = Self.staysInUse(state.choices, removals)
        state.wasRemovedMeanwhile = !state.choices.isEmpty && !removals.isEmpty
    }

    private static func isOffer(_ candidate: Assignments.Candidate, _ hasOthers: Bool) -> Bool {
        candidate.isByWriter && hasOthers
    }

    private static func staysInUse(
        _ choices: [RecordState.Choice], _ removals: [Assignments.Candidate]
    ) -> Bool { !choices.isEmpty || removals.isEmpty }

    private func choices(_ candidates: [Assignments.Candidate]) -> [RecordState.Choice] {
        var lateness: [ChangeReference: Bool] = [:]
        for candidate in candidates {
            let version: ChangeReference
            if case .choose(let chosen) = candidate.operation.operation {
                version = chosen
            } else {
                version = candidate.reference
            }
            lateness[version] = (lateness[version] ?? true) && candidate.isLate
        }
        return lateness.sorted { $0.key < $1.key }.map { version, isLate in
            RecordState.Choice(version: version, id: .zero, isLate: isLate)
        }
    }

    private static func strictest(_ types: [VariableAttributes.Kind]) -> VariableAttributes.Kind {
        types.max { $0.strictness < $1.strictness } ?? .plain
    }

    /// Sorts by bytes and removes duplicates.
    static func ascending<T>(_ items: [T], by bytes: (T) -> [UInt8]) -> [T] {
        var sorted: [(bytes: [UInt8], item: T)] = []
        for item in items.map({ (bytes($0), $0) }).sorted(by: {
            $0.0.lexicographicallyPrecedes($1.0)
        }) where sorted.last?.bytes != item.0 {
            sorted.append((item.0, item.1))
        }
        return sorted.map(\.item)
    }

    /// Marks the records in use that have a name and an overlapping scope in common.
    ///
    /// Looks at each name in each place once: comparing all pairs would take quadratic time when
    /// somebody gives many records one name.
    static func markTwins(_ records: inout [RecordState]) {
        var owners: [[UInt8]: Set<Int>] = [:]
        for (index, record) in records.enumerated() where takesPart(record) {
            for key in Set(
                record.names.flatMap { name in
                    record.scopes.flatMap { places(of: $0).map { keyOf(name, $0) } }
                })
            {
                owners[key, default: []].insert(index)
            }
        }
        let twins = owners.values.reduce(into: Set<Int>()) { twins, owners in
            if owners.count > 1 { twins.formUnion(owners) }
        }
        for index in twins { records[index].contested.append(.twin) }
    }

    private static func takesPart(_ record: RecordState) -> Bool {
        record.isInUse && !record.isOffered
    }

    private static func keyOf(_ name: String, _ place: [UInt8]) -> [UInt8] {
        Array(name.utf8) + [0xFF] + place
    }

    /// One text for each target and custom environment of a scope, with its branch.
    private static func places(of scope: Scope) -> [[UInt8]] {
        var writer = ByteWriter()
        writer.optionalText(scope.branch)
        let branch = writer.bytes
        let targets = (0..<3).filter { scope.targets.rawValue & 1 << $0 != 0 }.map { [UInt8($0)] }
        return (targets + scope.customEnvironments.map { [0xFF] + Array($0.utf8) }).map {
            branch + $0
        }
    }
}

extension RecordOperation {
    fileprivate var name: String? {
        switch operation {
        case .create(let creation): creation.name
        case .name(let name): name
        default: nil
        }
    }

    fileprivate var comment: String? {
        switch operation {
        case .create(let creation): creation.comment
        case .comment(let comment): comment
        default: nil
        }
    }

    fileprivate var reminder: UInt64? {
        switch operation {
        case .create(let creation): creation.reminder
        case .reminder(let seconds): seconds
        default: nil
        }
    }
}

extension Scope {
    /// The bytes by which scopes are ordered.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
