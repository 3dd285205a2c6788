internal import Groups
internal import Sealing
internal import Vault

/// Collects operations, and seals and signs them as changes of one chain.
struct ChangeWriter {
    private(set) var state: SharedState
    private(set) var objects: [[UInt8]] = []
    /// What was assigned, by variable.
    private(set) var decided: [Identifier: Set<Assigned>] = [:]
    private let membership: GroupMembership
    private let epoch: MemberSecrets.CurrentEpoch
    private let secrets: MemberSecrets
    private let now: UInt64
    /// The rotations of colleagues, which end only when they say so or somebody takes over.
    private let notices: Set<ChangeReference>
    /// The variables whose scope members disagree about.
    private let contestedScopes: Set<Identifier>
    /// The most bytes of values in one change; the rest goes into further changes.
    private static let mostValueBytes = 6 << 20
    private var pending: [Pending] = []
    private var valuesByteCount = 0

    private struct Pending {
        let step: SharedDifference.Step?
        let variable: RecordedVariable?
        let operation: RecordOperation
        var value: SecretSlice?
        var seed = Identifier.zero
        /// Whether the user decided what is assigned.
        var isDecision = true
    }

    init(
        membership: GroupMembership, epoch: MemberSecrets.CurrentEpoch, secrets: MemberSecrets,
        now: UInt64, state: SharedState, notices: Set<ChangeReference>,
        contestedScopes: Set<Identifier>
    ) {
        (self.membership, self.epoch, self.secrets) = (membership, epoch, secrets)
        (self.now, self.state, self.notices) = (now, state, notices)
        self.contestedScopes = contestedScopes
    }

    var isFull: Bool {
        valuesByteCount >= Self.mostValueBytes || pending.count >= GroupLimits.operations - 2
    }

    /// Adds an operation on the project.
    mutating func add(_ operation: RecordOperation) {
        pending.append(Pending(step: nil, variable: nil, operation: operation))
    }

    /// Adds a step.
    ///
    /// - Parameters:
    ///   - variable: The state of the vault; nil if the variable is gone.
    ///   - value: For a value to be stored; stays valid until ``finish()``.
    mutating func add(
        _ step: SharedDifference.Step, _ variable: RecordedVariable?, _ value: SecretSlice?
    ) {
        let known = state.records.first { $0.id == step.record }
        func replaced(_ thing: Assigned) -> [ChangeReference] {
            let all = (known?.candidates[thing] ?? []).sorted()
            return thing == .rotation ? all.filter { !isKept($0, by: step.action) } : all
        }
        let seed = Identifier.random()
        let (thing, operation): (Assigned, Operation)
        switch step.action {
        case .create:
            guard let variable else { return }
            pending.append(
                Pending(
                    step: step, variable: variable,
                    operation: RecordOperation(
                        record: step.record,
                        .create(
                            Operation.Creation(
                                name: variable.name, type: variable.kind, scope: variable.scope,
                                comment: variable.comment, reminder: variable.rotationSeconds)))))
            return
        case .store:
            guard let variable, let value else { return }
            let size = 40 + Padding.paddedByteCount(ofValue: 4 + value.count)
            valuesByteCount += size
            (thing, operation) = (
                .value,
                .value(
                    Operation.NewValue(
                        seed: seed, sealedName: variable.name, chunkByteCount: size))
            )
        case .choose(let version): (thing, operation) = (.value, .choose(version.reference))
        case .remove: (thing, operation) = (.value, .remove)
        case .comment: (thing, operation) = (.comment, .comment(variable?.comment))
        case .reminder: (thing, operation) = (.reminder, .reminder(variable?.rotationSeconds ?? 0))
        case .type: (thing, operation) = (.type, .type(variable?.kind ?? .sensitive))
        case .scope:
            guard let variable else { return }
            (thing, operation) = (.scope, .scope(variable.scope))
        case .name:
            guard let variable else { return }
            (thing, operation) = (.name, .name(variable.name))
        case .claim(let claim, let version):
            (thing, operation) = (
                .claim,
                .claim(
                    Operation.Claim(
                        version: version.reference, remoteID: claim.remoteID, key: claim.key,
                        type: claim.kind, scope: claim.scope, updatedAt: claim.updatedAt))
            )
        case .rotation(let begins, _): (thing, operation) = (.rotation, .rotation(begins))
        }
        let isNew = pending.contains {
            $0.step?.record == step.record && $0.step?.action == .create
        }
        // A new type, scope or name replaces another one.
        guard !replaced(thing).isEmpty || isNew || ![.type, .scope, .name].contains(thing)
        else { return }
        pending.append(
            Pending(
                step: step, variable: variable,
                operation: RecordOperation(
                    record: step.record, replaces: isNew ? [] : replaced(thing), operation),
                value: value, seed: seed))
        if thing == .value, operation != .remove, let variable, !isNew {
            repeatScope(of: step, variable, replacing: replaced(.scope))
        }
    }

    /// Assigns the scope again with a value, which was stored for that scope. If a colleague changes the
    /// scope at the same time, as when one target gets a value of its own, the variable is then contested.
    private mutating func repeatScope(
        of step: SharedDifference.Step, _ variable: RecordedVariable,
        replacing candidates: [ChangeReference]
    ) {
        // A writer may not assign scopes, and a value does not decide about a contested one.
        guard membership.rights.role != .writer, !candidates.isEmpty,
            !contestedScopes.contains(step.variable),
            !pending.contains(where: { $0.step?.record == step.record && $0.step?.action == .scope }
            )
        else { return }
        let again = SharedDifference.Step(
            variable: step.variable, record: step.record, action: .scope)
        pending.append(
            Pending(
                step: again, variable: variable,
                operation: RecordOperation(
                    record: step.record, replaces: candidates, .scope(variable.scope)),
                isDecision: false))
    }

    /// Seals and signs what was added; does nothing if that is nothing.
    mutating func finish() throws {
        if pending.isEmpty { return }
        let batch = Identifier.random()
        var values: [UInt8] = []
        if pending.contains(where: { $0.value != nil }) {
            values = try sealedValues(batch)
        }
        let header = ChangeHeader(
            key: .authority, group: membership.group, compartment: state.compartment,
            epoch: epoch.number, author: membership.member, chain: state.chain,
            counter: state.counter + 1, before: state.last, entryNumber: membership.newest.number,
            entry: membership.newest.name,
            parents: Array(
                state.heads.filter { $0 != state.last }.sorted().prefix(GroupLimits.parents)))
        let content = ChangeContent(
            createdAt: now, batch: values.isEmpty ? nil : batch,
            operations: pending.map(\.operation))
        let authority = try secrets.signingKeyPair(.authority)
        let object = try secrets.withIndexKey(of: epoch) { (key) throws(GroupError) in
            let object = try Change.sealed(
                header, content, values: values, with: key, signedBy: authority)
            // Others must be able to read it: this chain would end here otherwise.
            _ = try Change(object).open(with: key)
            return object
        }
        let name = GroupHash(of: object)
        for (place, item) in pending.enumerated() {
            apply(item, ChangeReference(change: name, operation: UInt16(place)))
        }
        state.counter += 1
        state.last = name
        state.heads = [name]
        objects.append(object)
        (pending, valuesByteCount) = ([], 0)
    }

    private func sealedValues(_ batch: Identifier) throws -> [UInt8] {
        let context = DataKeyContext(
            group: membership.group, compartment: state.compartment, epoch: epoch.number,
            batch: batch)
        var sealed = try SealedValues(context, publicKey: epoch.valueKey)
        for item in pending {
            guard let value = item.value, let step = item.step, let variable = item.variable else {
                continue
            }
            let version = VersionIdentity.id(author: membership.member, seed: item.seed)
            _ = try value.withBytes { (bytes) throws(GroupError) in
                try sealed.append(
                    bytes, record: step.record, version: version, sealedName: variable.name)
            }
        }
        return sealed.bytes
    }

    /// Whether an operation leaves a candidate for the rotation of its record as it is.
    private func isKept(
        _ reference: ChangeReference, by action: SharedDifference.Action
    ) -> Bool {
        if case .rotation(_, takesOver: true) = action { return false }
        return notices.contains(reference)
    }

    private mutating func use(_ number: UInt64, ofRecordAt place: Int) {
        (state.records[place].version, state.records[place].isInUse) = (number, true)
        (state.records[place].choices, state.records[place].offers) = ([number], [])
    }

    /// Notes that an operation is now the only candidate for what it assigns, but for rotations of
    /// colleagues.
    private mutating func apply(_ item: Pending, _ reference: ChangeReference) {
        guard let step = item.step else {
            for thing in item.operation.operation.assigned { state.candidates[thing] = [reference] }
            return
        }
        if item.isDecision {
            decided[step.variable, default: []].formUnion(item.operation.operation.assigned)
        }
        if case .create = step.action, let variable = item.variable {
            state.records.append(
                SharedState.Record(
                    id: step.record, variable: step.variable, name: variable.name,
                    scope: variable.scope, kind: variable.kind, comment: variable.comment,
                    rotationSeconds: variable.rotationSeconds))
        }
        guard let place = state.records.firstIndex(where: { $0.id == step.record }) else { return }
        for thing in item.operation.operation.assigned {
            let kept =
                thing == .rotation
                ? (state.records[place].candidates[thing] ?? []).filter {
                    isKept($0, by: step.action)
                } : []
            state.records[place].candidates[thing] = (kept + [reference]).sorted()
        }
        guard let variable = item.variable else {
            state.records[place].isInUse = false
            return
        }
        switch step.action {
        case .create: break
        case .store(let number):
            state.records[place].versions.append(
                SharedState.Version(
                    number: number, reference: reference,
                    id: VersionIdentity.id(author: membership.member, seed: item.seed),
                    author: membership.member))
            use(number, ofRecordAt: place)
        case .choose(let version): use(version.number, ofRecordAt: place)
        case .remove: state.records[place].isInUse = false
        case .comment: state.records[place].comment = variable.comment
        case .reminder: state.records[place].rotationSeconds = variable.rotationSeconds
        case .type: state.records[place].kind = variable.kind
        case .scope: state.records[place].scope = variable.scope
        case .name: state.records[place].name = variable.name
        case .claim(let claim, let version):
            state.records[place].claims = [
                SharedState.Claim(
                    version: version.number, remoteID: claim.remoteID, key: claim.key,
                    updatedAt: claim.updatedAt)
            ]
        case .rotation(let begins, _):
            (state.records[place].isRotating, state.records[place].isTakenOver) = (begins, false)
        }
    }
}
