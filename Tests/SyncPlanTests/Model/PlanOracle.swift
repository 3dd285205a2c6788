import SyncPlan

/// What a push must end in, for one target after the other, from the values themselves. Knows nothing
/// of records that share targets, or of requests.
struct PlanOracle {
    /// What a target has on the platform.
    struct Value: Hashable {
        let value: Int
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
        let (wish, there) = (wanted(target), there(target))
        let base = key.agreements[target.position].map { Value($0.content) }
        let record = record(in: target)
        // What someone else changed, and the platform does not show, may be anything.
        let isKnown = record.map { $0.isOurs || $0.type.isReadable } ?? true
        let isWanted = isKnown && wish == there && (record?.isOurs ?? true || isShown(wish))
        if isWanted { return .wanted(wish) }
        // A value that the vault never sent keeps a comment that the vault has none of.
        if isKnown, base == nil, let wish, let there, wish.comment == nil, isShown(wish),
            (wish.value, wish.type) == (there.value, there.type)
        {
            return .wanted(there)
        }
        if isKnown, base == there, record?.isOurs ?? true || isShown(base) { return .wanted(wish) }
        return wish == base ? .behind : .conflict
    }

    /// Only a value that the vault has can be compared.
    private func isShown(_ value: Value?) -> Bool { value.map { $0.value % 100 < 50 } ?? true }
}
