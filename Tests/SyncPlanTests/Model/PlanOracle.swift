import SyncPlan

/// What a push must end in, for one target after the other, from the values themselves. Knows nothing
/// of records that share targets, or of requests.
struct PlanOracle {
    /// What a target has on the platform.
    struct Value: Hashable {
        var value: Int
        let type: ValueType
        let comment: String?

        init(_ record: ModelPlatform.Record) {
            (value, type, comment) = (record.value, record.type, record.comment)
        }

        init(_ content: Content) {
            value = ModelWorld.value(of: content.version)
            (type, comment) = (content.type, content.comment)
        }
    }

    enum Verdict: Hashable {
        /// The target ends as the vault wants it.
        case wanted(Value?)
        /// It stays as it is, since only Vercel's side changed.
        case behind
        /// It stays as it is, and is reported.
        case conflict
        /// It stays as it is, because the platform would have to delete it to show it.
        case typeIsFinal
        /// It stays as it is: the user did not select it.
        case notSelected
        /// It stays as it is: it is not the project's.
        case untouched
    }

    private let key: ModelWorld.Key
    private let records: [ModelPlatform.Record]
    private let rules: ModelRules

    init(_ world: ModelWorld, _ place: Int) {
        key = world.keys[place]
        records = world.platform.records.filter { $0.key == world.keys[place].name }
        rules = world.platform.rules
    }

    /// How many targets there are.
    var count: Int { key.wishes.count }

    var separatesProduction: Bool { rules.separatesProduction }

    func record(in target: Target) -> ModelPlatform.Record? {
        records.first { $0.targets.contains(target) }
    }

    /// What the platform has.
    func there(_ target: Target) -> Value? { record(in: target).map(Value.init) }

    func wanted(_ target: Target) -> Value? { key.wishes[target.position].map(Value.init) }

    func allows(_ targets: TargetSet, of type: ValueType) -> Bool {
        rules.allows(targets, of: type)
    }

    func verdict(_ target: Target) -> Verdict {
        let (record, wish) = (record(in: target), wanted(target))
        if record?.owner == .platform {
            let there = there(target)
            if isKnown(record), threeWay(target) == .wanted(there) { return .wanted(there) }
            let base = key.agreements[target.position].map { Value($0.content) }
            let isSent = key.choices.force || isKnown(record) && base == there
            if wish == nil { return .untouched }
            return isSent && !isSelected(target) ? .notSelected : .conflict
        }
        let choices = key.choices
        var verdict = threeWay(target)
        let isOnlyThere = wish == nil && key.agreements[target.position] == nil
        switch verdict {
        case .conflict where choices.force: verdict = .wanted(wish)
        case .behind where isOnlyThere ? choices.pruned.contains(target) : choices.force:
            verdict = .wanted(wish)
        default: break
        }
        guard case .wanted(let value) = verdict, !isKnown(record) || value != there(target) else {
            return verdict
        }
        if !isSelected(target) { return .notSelected }
        if choices.force { return verdict }
        if record?.owner == .integration { return .conflict }
        guard let record, let value, !record.type.isReadable, value.type.isReadable else {
            return verdict
        }
        // Another variable may take its place.
        let agreed = key.agreements[target.position]?.content.version.variable
        guard agreed == ModelWorld.version(of: value.value).variable else { return verdict }
        // What could not be created again is left out whatever the record is.
        let isSendable = value.value % 100 < 50 && allows([target], of: value.type)
        return isSendable ? .typeIsFinal : verdict
    }

    /// Why a target that is a conflict is one.
    func reason(_ target: Target) -> Conflict {
        switch record(in: target)?.owner {
        case nil: return .removedThere
        case .platform: return .notOurs
        case .integration where threeWay(target) != .conflict: return .managedByIntegration
        default: return key.agreements[target.position] == nil ? .unseenThere : .changedThere
        }
    }

    /// Returns whether something is wanted in a target, and the vault knows that it is there.
    func isSame(_ target: Target) -> Bool {
        guard case .wanted(let value?) = verdict(target) else { return false }
        return isKnown(record(in: target)) && value == there(target)
    }

    func isSelected(_ target: Target) -> Bool { key.choices.targets?.contains(target) ?? true }

    private func threeWay(_ target: Target) -> Verdict {
        let (wish, there) = (wanted(target), there(target))
        let base = key.agreements[target.position].map { Value($0.content) }
        let isKnown = isKnown(record(in: target))
        if isKnown, wish == there { return .wanted(wish) }
        // A value that the vault never sent keeps a comment that the vault has none of.
        if isKnown, base == nil, let wish, let there, wish.comment == nil,
            (wish.value, wish.type) == (there.value, there.type)
        {
            return .wanted(there)
        }
        if isKnown, base == there { return .wanted(wish) }
        return wish == base ? .behind : .conflict
    }

    /// Returns whether the vault knows what a record has: it is as agreed, or it shows a value that the
    /// vault has. True for no record.
    func isKnown(_ record: ModelPlatform.Record?) -> Bool {
        guard let record else { return true }
        let isAgreed = key.agreements.contains {
            $0?.record == record.id && $0?.witness == "\(record.witness)"
        }
        return isAgreed
            || record.owner != .platform && record.type.isReadable && record.value % 100 < 50
    }
}
