internal import SyncPlan
package import Vault

/// Both sides of a project, and what they last agreed, as the planner takes them: key by key and
/// target by target.
///
/// What was agreed is read from `Variable.remote` and `VaultIndex.otherAgreements`. Each record of
/// the vault is a variable of the planner's, so that a record on Vercel is never that of two.
package struct ProjectState {
    /// A record on Vercel whose value decides what is to be done, and the versions to compare it with.
    package struct Candidate {
        package let record: VercelRecord
        /// The vault's records with version numbers, the likeliest first.
        package let versions: [(variable: Variable, number: UInt64)]
    }

    /// The project's records, including removed ones.
    let variables: [Variable]
    let platform: ListedRecords
    let rules: PushPlan.Rules
    let table: TargetTable
    /// By key, ascending.
    private(set) var keys: [KeyState] = []
    /// The unfinished writes of these keys, as the planner has them.
    private(set) var sends: [[SendEntry]] = []
    let records: [String: VercelRecord]
    /// Vercel's ids of the records of variables that have another name now.
    let renamedRecords: Set<String>
    /// The ids of the records that both sides agreed on.
    private var agreedIDs: Set<String> = []
    /// What reading values has shown to be on both sides, without a comment there.
    private(set) var found: [RecordUpdate] = []
    /// The keys of which nothing is sent.
    private(set) var left: Set<String> = []

    /// - Parameters:
    ///   - variables: All records of the project, including removed ones.
    ///   - others: What was agreed about records on Vercel that no variable has as its state.
    ///   - sends: The unfinished writes, oldest first.
    ///   - platform: All records of the project on Vercel.
    package init(
        variables: [Variable], others: [StoredAgreement] = [], sends: [SendEntry] = [],
        platform: ListedRecords, rules: PushPlan.Rules
    ) {
        (self.variables, self.platform, self.rules) = (variables, platform, rules)
        records = Dictionary(firstOf: platform.map { ($0.id, $0) })
        renamedRecords = Set(
            variables.filter { $0.isLive && $0.remote.map(\.key) != $0.name }
                .compactMap { $0.remote?.id }
                + others.filter { other in
                    let variable = variables.first { $0.id == other.variable }
                    return variable.map { $0.name != other.key } ?? true
                }.map(\.record))
        let agreed = AgreedRecord.all(variables, others)
        table = TargetTable(
            variables.map(\.attributes.scope) + agreed.map(\.scope)
                + platform.map(\.attributes.scope) + sends.flatMap { [$0.targets, $0.released] }
                + [rules.places].compactMap(\.self))
        var names = Set(
            variables.filter(rules.includes).flatMap { [$0.name, $0.remote?.key] }
                .compactMap(\.self) + rules.vacated.map(\.key))
        let places = Dictionary(
            firstOf: variables.enumerated().map { ($0.element.id, $0.offset) })
        // What a new name replaced is deleted with it.
        names.formUnion(
            agreed.filter { agreement in
                agreement.isOther && agreement.place.map { rules.includes(variables[$0]) } ?? false
            }.map(\.key))
        if rules.prune {
            names.formUnion(platform.map(\.key).filter { rules.keys?.contains($0) ?? true })
        }
        let agreements = Dictionary(grouping: agreed, by: \.key)
        let live = Dictionary(
            grouping: variables.indices.filter { variables[$0].isLive }
        ) { variables[$0].name }
        let listed = Dictionary(grouping: platform, by: \.key)
        let entries = Dictionary(grouping: sends, by: \.key)
        for key in names.sorted(by: bytesPrecede) {
            let own = (
                live[key] ?? [], agreements[key] ?? [], listed[key] ?? [], entries[key] ?? []
            )
            self.sends.append(own.3)
            keys.append(state(of: key, own.0, own.1, own.2, own.3, places))
        }
        agreedIDs = Set(keys.flatMap { $0.agreements.compactMap { $0?.record } })
    }

    /// The records whose values are to be read, because they are new or may have changed, and because
    /// the vault has something to compare them with.
    package var candidates: [Candidate] {
        keys.indices.flatMap { place in
            let state = keys[place]
            return state.recordsToRead.compactMap { id -> Candidate? in
                guard let record = records[id] else { return nil }
                let versions = versions(of: record, in: state).map {
                    (variable: variables[$0.variable], number: UInt64($0.number))
                }
                return versions.isEmpty ? nil : Candidate(record: record, versions: versions)
            }
        }
    }

    /// Takes what reading values has shown.
    ///
    /// - Parameter found: For each candidate that was read, by Vercel's id, the place among its
    ///   versions; nil if it has another value.
    package mutating func take(_ found: [String: Int?]) {
        for place in keys.indices {
            for number in keys[place].records.indices {
                let id = keys[place].records[number].id
                guard let result = found[id], let record = records[id] else { continue }
                let versions = versions(of: record, in: keys[place])
                keys[place].records[number].value = result.map { .equal(versions[$0]) } ?? .differs
                if let result { agree(on: versions[result], number, of: place) }
            }
        }
    }

    /// Takes a record that the vault never saw, and that differs in its missing comment only, for what
    /// both sides had: the comment is added to it.
    private mutating func agree(on version: Version, _ number: Int, of place: Int) {
        let record = keys[place].records[number]
        guard record.comment == nil, let listed = records[record.id],
            let variable = variable(version)
        else { return }
        var targets = TargetSet()
        for target in record.targets where keys[place].agreements[target.position] == nil {
            guard let wish = keys[place].wishes[target.position], wish.version == version,
                wish.type == record.type, wish.comment != nil
            else { continue }
            keys[place].agreements[target.position] = PlannedAgreement(
                record: record.id, witness: record.witness, content: Content(version, record.type))
            targets.insert(target)
        }
        if targets.isEmpty { return }
        agreedIDs.insert(record.id)
        found.append(
            RecordUpdate(
                variable: variable.id,
                knowledge: .matched(
                    listed, version: UInt64(version.number),
                    attributes: VariableAttributes(
                        kind: record.type.kind, scope: table.scope(targets)))))
    }

    /// Returns the state without some keys: nothing is sent of them.
    func leavingOut(_ left: Set<String>) -> ProjectState {
        var state = self
        state.left.formUnion(left)
        for place in keys.indices where left.contains(keys[place].key) {
            state.keys[place].choices.targets = []
        }
        return state
    }

    /// Returns whether a step writes a record that only the journal explains.
    func isDoubtful(_ step: PushPlan.Step) -> Bool {
        guard let id = step.remoteID, !rules.force else { return false }
        return !agreedIDs.contains(id)
    }

    /// Returns the version that the vault has of a variable.
    func version(_ place: Int) -> Version { Self.version(place, variables[place].currentVersion) }

    /// Returns the vault's record for a version.
    func variable(_ version: Version?) -> Variable? {
        version.flatMap { variables.indices.contains($0.variable) ? variables[$0.variable] : nil }
    }

    // MARK: One key

    private func state(
        of key: String, _ live: [Int], _ agreed: [AgreedRecord], _ listed: [VercelRecord],
        _ sends: [SendEntry], _ places: [Identifier: Int]
    ) -> KeyState {
        var wishes = [Content?](repeating: nil, count: table.count)
        for place in live {
            let variable = variables[place]
            // Without a value there is nothing to send.
            guard variable.currentVersion > 0 || variable.remote != nil else { continue }
            for target in table.set(variable.attributes.scope) {
                wishes[target.position] = Content(
                    version(place), ValueType(variable.attributes.kind),
                    comment: variable.attributes.comment)
            }
        }
        var agreements = [PlannedAgreement?](repeating: nil, count: table.count)
        for agreement in agreed where !isEnded(agreement, wishes, listed) {
            var content = Content(
                agreement.place.map { Self.version($0, agreement.version) }
                    ?? Version(variable: -1, number: 0, isReadable: false),
                ValueType(agreement.kind), comment: agreement.comment)
            var targets = table.set(agreement.scope)
            // Right after a response, only the time is as agreed. Nothing else has changed since then.
            if let record = records[agreement.id], record.key == key,
                record.updatedAt == agreement.updatedAt
            {
                content.type = ValueType(record.attributes.kind)
                content.comment = record.attributes.comment
                if let place = agreement.place, !agreement.isOther, variables[place].isLive,
                    variables[place].name == key
                {
                    targets = targets.union(table.set(variables[place].attributes.scope))
                }
                targets = targets.intersection(table.set(record.attributes.scope))
            }
            for target in targets {
                // What is still listed was agreed later than what it replaced.
                if let known = agreements[target.position],
                    listed.contains(where: { $0.id == known.record })
                        || records[agreement.id] == nil
                {
                    continue
                }
                agreements[target.position] = PlannedAgreement(
                    record: agreement.id, witness: String(agreement.updatedAt), content: content)
            }
        }
        let records = listed.map { record in
            ListedRecord(
                id: record.id, targets: table.set(record.attributes.scope),
                type: ValueType(record.attributes.kind), comment: record.attributes.comment,
                witness: String(record.updatedAt), owner: owner(of: record, agreed),
                mayBeOurs: sends.contains { $0.mayHaveLeft(record) })
        }
        var state = KeyState(
            key: key, wishes: wishes, agreements: agreements, records: records,
            sends: sends.map { open($0, places) },
            hidden: platform.isComplete ? [] : table.production)
        state.choices = choices(key, live, agreed, listed, agreements)
        return state
    }

    /// Returns whether nothing is left of an agreement: its record is gone, and what may be in its
    /// place was created afterwards.
    private func isEnded(
        _ agreement: AgreedRecord, _ wishes: [Content?], _ listed: [VercelRecord]
    ) -> Bool {
        guard let end = agreement.endedAt else { return false }
        let isWanted = table.set(agreement.scope).contains {
            wishes[$0.position]?.version.variable == agreement.place
        }
        return !isWanted
            && !listed.contains {
                $0.attributes.kind != .system && $0.createdAt <= end
                    && $0.attributes.scope.overlaps(agreement.scope)
            }
    }

    private func owner(of record: VercelRecord, _ agreed: [AgreedRecord]) -> ListedRecord.Owner {
        let scope = record.attributes.scope
        // Vercel left it without a target. It is replaced if the vault has the value, or removed it.
        if scope.isEmpty {
            guard let agreement = agreed.first(where: { $0.id == record.id }),
                let place = agreement.place
            else { return .platform }
            let isReplaced =
                variables[place].currentVersion > 0 && (rules.force || agreement.scope.isEmpty)
            return !variables[place].isLive || isReplaced ? .project : .platform
        }
        let isUnderstood = scope.branch == nil || scope.valueTargets.count == 1
        if ![.plain, .encrypted, .sensitive].contains(record.attributes.kind) || !isUnderstood {
            return .platform
        }
        return record.integration == nil ? .project : .integration
    }

    private func open(_ send: SendEntry, _ places: [Identifier: Int]) -> OpenSend {
        let place = send.variable.flatMap { places[$0] }
        return OpenSend(
            before: send.target.map { .init(record: $0.id, witness: String($0.updatedAt)) },
            targets: table.set(send.targets), released: table.set(send.released),
            type: ValueType(send.kind), comment: send.comment,
            version: place.flatMap { place in
                send.version > 0 || variables[place].currentVersion == 0
                    ? Self.version(place, send.version) : nil
            },
            sendsValue: send.sendsValue, agreed: table.set(send.agreed))
    }

    private func choices(
        _ key: String, _ live: [Int], _ agreed: [AgreedRecord], _ listed: [VercelRecord],
        _ agreements: [PlannedAgreement?]
    ) -> PushChoices {
        var choices = PushChoices()
        choices.force = rules.force
        let vacated = vacated(key)
        if rules.force {
            // What someone added to a record that is ours goes too.
            choices.pruned = listed.filter { record in
                agreements.contains { $0?.record == record.id }
            }.reduce(into: vacated) { $0 = $0.union(table.set($1.attributes.scope)) }
        }
        if rules.prune {
            for record in prunable(listed, agreements) where rules.contains(record.attributes.scope)
            {
                choices.pruned = choices.pruned.union(table.set(record.attributes.scope))
            }
        }
        // What belongs to a variable that is not selected stays, also under a former name.
        let foreign = agreed.filter { agreement in
            !agreement.isOther && agreement.place.map { !rules.includes(variables[$0]) } ?? false
        }
        .reduce(into: TargetSet()) { $0 = $0.union(table.set($1.scope)) }
        guard rules.records != nil || rules.places != nil else {
            if !foreign.isEmpty { choices.targets = table.all.subtracting(foreign) }
            return choices
        }
        var selected = choices.pruned.union(vacated)
        var wanted = TargetSet()
        for place in live {
            let variable = variables[place]
            wanted = wanted.union(table.set(variable.attributes.scope))
            if rules.includes(variable), !rules.onlyMakesRoom(variable) || hasMoved(variable) {
                selected = selected.union(table.set(variable.attributes.scope))
            }
        }
        for agreement in agreed {
            guard let place = agreement.place, rules.includes(variables[place]) else { continue }
            var left = table.set(agreement.scope).subtracting(wanted)
            // What someone created there belongs to nothing that is selected.
            if let places = rules.places, records[agreement.id] == nil {
                left = left.intersection(table.within(places))
            }
            selected = selected.union(left)
        }
        choices.targets = selected
        return choices
    }

    /// Returns whether a record of the vault has none of the targets that Vercel's has: it cannot make
    /// room without being sent.
    private func hasMoved(_ variable: Variable) -> Bool {
        guard let remote = variable.remote, remote.key == variable.name else { return false }
        return remote.agreed.scope.shared(with: [variable.attributes.scope]).isEmpty
    }

    /// Returns the scopes of a key that were to become empty.
    func vacated(_ key: String) -> TargetSet {
        rules.vacated.filter { $0.key == key }.reduce(into: TargetSet()) {
            $0 = $0.union(
                $1.scopes.map { scopes in
                    scopes.reduce(into: TargetSet()) { $0 = $0.union(table.set($1)) }
                } ?? table.all)
        }
    }

    /// Returns the keys whose records belong to variables of other names, and are to go on with
    /// another variable.
    ///
    /// - Parameter names: Those of variables that are not sent.
    /// - Returns: Their present names by key.
    func keys(neededBy names: Set<String>) -> [String: String] {
        var found: [String: String] = [:]
        for variable in variables where variable.isLive && names.contains(variable.name) {
            guard let remote = variable.remote, remote.key != variable.name,
                records[remote.id] != nil, !left.contains(remote.key),
                let state = keys.first(where: { $0.key == remote.key }),
                state.wishes.contains(where: { $0 != nil })
            else { continue }
            found[remote.key] = variable.name
        }
        return found
    }

    /// Returns the records of a key that only Vercel has.
    private func prunable(
        _ listed: [VercelRecord], _ agreements: [PlannedAgreement?]
    ) -> [VercelRecord] {
        listed.filter { record in
            rules.includes(key: record.key, record.attributes.scope)
                && record.attributes.kind != .system
                && (record.integration == nil || rules.force)
                && !agreements.contains { $0?.record == record.id }
        }
    }

    /// The records that only Vercel has, and that pruning leaves, because an integration manages them
    /// or because they apply outside of the selected targets too.
    var spared: [VercelRecord] {
        guard rules.prune else { return [] }
        let agreed = Set(keys.flatMap { $0.agreements.compactMap { $0?.record } })
        return platform.filter { record in
            !agreed.contains(record.id) && rules.includes(key: record.key, record.attributes.scope)
                && record.attributes.kind != .system
                && (record.integration != nil && !rules.force
                    || !rules.contains(record.attributes.scope))
        }
    }

    /// Returns the versions that a record may have, the likeliest first.
    private func versions(of record: VercelRecord, in state: KeyState) -> [Version] {
        let targets = table.set(record.attributes.scope)
        let sent = state.sends.filter { send in
            send.before.map { $0.record == record.id } ?? !send.targets.isDisjoint(with: targets)
        }
        let all =
            targets.compactMap { state.wishes[$0.position]?.version }
            + sent.compactMap(\.version)
            + targets.compactMap { state.agreements[$0.position]?.content.version }
        var versions: [Version] = []
        for version in all where version.isReadable && !versions.contains(version) {
            versions.append(version)
        }
        return versions
    }

    private static func version(_ place: Int, _ number: UInt64) -> Version {
        Version(variable: place, number: Int(clamping: number), isReadable: number > 0)
    }
}

/// What was agreed about one record on Vercel.
private struct AgreedRecord {
    let key: String
    let id: String
    let scope: Scope
    /// The vault's record, by its place; nil if it is erased.
    let place: Int?
    let version: UInt64
    let kind: VariableAttributes.Kind
    let comment: String?
    let updatedAt: UInt64
    /// Vercel's time when it was first seen to be gone; nil if it stands.
    let endedAt: UInt64?
    /// Whether no variable has it as its state.
    let isOther: Bool

    static func all(_ variables: [Variable], _ others: [StoredAgreement]) -> [AgreedRecord] {
        var places: [Identifier: Int] = [:]
        if !others.isEmpty {
            places = Dictionary(firstOf: variables.enumerated().map { ($0.element.id, $0.offset) })
        }
        return variables.enumerated().compactMap { place, variable in
            guard let remote = variable.remote, !variable.isTrace else { return nil }
            return AgreedRecord(
                key: remote.key, id: remote.id, scope: remote.agreed.scope, place: place,
                version: remote.pushedVersion, kind: remote.agreed.kind,
                comment: remote.agreed.comment, updatedAt: remote.agreedUpdatedAt,
                endedAt: remote.isGone ? remote.seenUpdatedAt : nil, isOther: false)
        }
            + others.map { other in
                AgreedRecord(
                    key: other.key, id: other.record, scope: other.scope,
                    place: other.variable.flatMap { places[$0] }, version: other.version,
                    kind: other.kind, comment: other.comment, updatedAt: other.changedAt,
                    endedAt: other.endedAt == 0 ? nil : other.endedAt, isOther: true)
            }
    }
}

extension ValueType {
    init(_ kind: VariableAttributes.Kind) {
        self =
            switch kind {
            case .plain: .plain
            case .encrypted: .encrypted
            case .sensitive: .sensitive
            case .system, .secret: ValueType(number: kind.rawValue, isReadable: true)
            }
    }

    /// The type of a variable.
    var kind: VariableAttributes.Kind {
        switch self {
        case .plain: .plain
        case .sensitive: .sensitive
        case .encrypted: .encrypted
        default: VariableAttributes.Kind(rawValue: number) ?? .encrypted
        }
    }
}

extension SendEntry {
    /// The longest time from a listing to the end of a request that a killed process left in
    /// progress, in milliseconds: ten seconds until an entry is renewed, ten to connect, thirty to
    /// the first byte, and one because a `Date` field has whole seconds.
    private static let longestFlight: UInt64 = 51_000
    private static let second: UInt64 = 1_000

    /// Returns whether nothing speaks against this request as the last change of a record: neither
    /// its author nor its time.
    fileprivate func mayHaveLeft(_ record: VercelRecord) -> Bool {
        // If the sender is unknown, a hidden value may be another user's.
        let isKnown = !author.isEmpty || record.attributes.kind == .sensitive
        let isForeign = record.author.map { isKnown && $0 != author } ?? false
        return !isForeign && mayHaveChanged(at: record.updatedAt)
    }

    /// Returns whether the request may have set this modification time, in milliseconds since 1970.
    private func mayHaveChanged(at time: UInt64) -> Bool {
        guard sentAfter > 0 else { return false }
        let end = sentUntil > 0 ? sentUntil &+ Self.second : sentAfter &+ Self.longestFlight
        return (sentAfter...max(sentAfter, end)).contains(time)
    }
}
