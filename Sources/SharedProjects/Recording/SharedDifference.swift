package import Groups
package import Vault

/// The operations that bring a group from what it was last told about a project to what the vault
/// holds now. Pure.
package struct SharedDifference {
    /// An operation whose value, if it has one, is still in the vault.
    package struct Step: Equatable, Sendable {
        /// What the vault holds.
        package let variable: Identifier
        /// The record in the group.
        package let record: Identifier
        package let action: Action
    }

    /// What a step does.
    package enum Action: Equatable, Sendable {
        case create
        /// Seals a version of the vault.
        case store(version: UInt64)
        /// Chooses a version that the group knows.
        case choose(SharedState.Version)
        case remove
        case comment, reminder, type, scope, name
        /// Says that Vercel has a version.
        case claim(RemoteClaim, SharedState.Version)
        /// Says that this vault rotates it, or no longer does; ends the rotations of colleagues, too,
        /// if it takes over.
        case rotation(begins: Bool, takesOver: Bool)

        /// What a writer may do.
        var isForWriters: Bool {
            switch self {
            case .create, .store: true
            default: false
            }
        }
    }

    package private(set) var steps: [Step] = []

    /// - Parameters:
    ///   - decided: Things that the user decided although the vault's state stays the same.
    ///   - claims: What Vercel was seen to have.
    ///   - rotating: The variables that this vault rotates.
    ///   - takenOver: The variables of which colleagues' rotations are ended.
    ///   - newID: Returns the id of a new record.
    package init(
        from state: SharedState, to now: [RecordedVariable],
        decided: [Identifier: Set<Assigned>] = [:], claims: [RemoteClaim] = [],
        rotating: Set<Identifier> = [], takenOver: Set<Identifier> = [],
        newID: () -> Identifier = Identifier.random
    ) {
        let known = Dictionary(
            state.records.map { ($0.variable, $0) }, uniquingKeysWith: { first, _ in first })
        var present: Set<Identifier> = []
        for variable in now {
            present.insert(variable.id)
            if let record = known[variable.id] {
                compare(record, variable, decided[variable.id] ?? [])
                let begins = rotating.contains(variable.id)
                let takesOver = takenOver.contains(variable.id)
                if begins != record.isRotating || takesOver {
                    add(variable.id, record.id, .rotation(begins: begins, takesOver: takesOver))
                }
            } else if variable.isLive {
                let id = newID()
                add(variable.id, id, .create)
                if variable.version > 0 { add(variable.id, id, .store(version: variable.version)) }
            }
        }
        // Erased here, or moved to another project.
        for record in state.records where record.isInUse && !present.contains(record.variable) {
            add(record.variable, record.id, .remove)
        }
        for claim in claims {
            guard let record = known[claim.variable], present.contains(claim.variable),
                let number = claim.version
                    ?? record.claims.first(where: { $0.remoteID == claim.remoteID })?.version,
                let version = record.version(number), !claim.isKnown(of: record, version: number)
            else { continue }
            add(claim.variable, record.id, .claim(claim, version))
        }
    }

    private mutating func add(_ variable: Identifier, _ record: Identifier, _ action: Action) {
        steps.append(Step(variable: variable, record: record, action: action))
    }

    private mutating func compare(
        _ record: SharedState.Record, _ variable: RecordedVariable, _ decided: Set<Assigned>
    ) {
        func differs(_ thing: Assigned, _ condition: Bool) -> Bool {
            condition || decided.contains(thing)
        }
        if differs(.name, !variable.name.utf8.elementsEqual(record.name.utf8)) {
            add(variable.id, record.id, .name)
        }
        if differs(.type, variable.kind != record.kind) { add(variable.id, record.id, .type) }
        if differs(.scope, variable.scope != record.scope) { add(variable.id, record.id, .scope) }
        if differs(.comment, variable.comment != record.comment) {
            add(variable.id, record.id, .comment)
        }
        if differs(.reminder, variable.rotationSeconds != record.rotationSeconds) {
            add(variable.id, record.id, .reminder)
        }
        guard variable.isLive else {
            if differs(.value, record.isInUse) { add(variable.id, record.id, .remove) }
            return
        }
        guard differs(.value, variable.version != record.version || !record.isInUse),
            variable.version > 0
        else { return }
        if let version = record.version(variable.version) {
            add(variable.id, record.id, .choose(version))
        } else {
            add(variable.id, record.id, .store(version: variable.version))
        }
    }
}
