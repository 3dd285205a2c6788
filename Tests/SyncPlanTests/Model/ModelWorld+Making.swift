import SyncPlan

/// The targets of the tests, heaviest first.
enum Place {
    static let production = Target(0)
    static let custom = Target(1)
    static let preview = Target(2)
    static let branch = Target(3)
    static let development = Target(4)
    static let count = 5
}

extension ModelRules {
    static func model(requiresSensitive: Bool = false, separatesProduction: Bool = false)
        -> ModelRules
    {
        ModelRules(
            branches: [Place.branch], requiresSensitive: requiresSensitive,
            separatesProduction: separatesProduction)
    }
}

extension Version {
    /// A version that the vault has.
    static func known(_ number: Int, of variable: Int = 1) -> Version {
        Version(variable: variable, number: number)
    }

    /// A version whose value the vault does not have.
    static func unread(_ number: Int, of variable: Int = 1) -> Version {
        Version(variable: variable, number: 50 + number, isReadable: false)
    }
}

extension ModelWorld {
    /// A world without anything.
    init(_ names: String..., rules: ModelRules = .model()) {
        self.init(
            platform: ModelPlatform(rules: rules),
            keys: names.map { name in
                Key(
                    name: name, wishes: Array(repeating: nil, count: Place.count),
                    agreements: Array(repeating: nil, count: Place.count))
            })
    }

    /// Adds a record that both sides agreed on, and wants that it stays.
    mutating func agree(_ targets: TargetSet, _ content: Content, key place: Int = 0) throws {
        let record = platform.records[
            try platform.create(
                keys[place].name, targets, Self.value(of: content.version), content.type,
                comment: content.comment, isOurs: true)]
        for target in targets {
            keys[place].wishes[target.position] = content
            keys[place].agreements[target.position] = Agreement(
                record: record.id, witness: "\(record.witness)", content: content)
        }
    }

    mutating func want(_ targets: TargetSet, _ content: Content?, key place: Int = 0) {
        for target in targets { keys[place].wishes[target.position] = content }
    }

    func value(_ target: Target, key place: Int = 0) -> PlanOracle.Value? {
        platform.record(keys[place].name, in: target).map(PlanOracle.Value.init)
    }

    /// Plans and sends everything.
    mutating func push() throws {
        planAll()
        try send()
    }

    /// What happens to the records, for expectations: `r1 [0] value`.
    var steps: [String] {
        requests.map { request in
            let name = request.subject?.record ?? "new"
            let targets = request.targets.map { String($0.position) }.joined(separator: " ")
            let key = keys.count > 1 ? "\(request.key) " : ""
            return "\(key)\(name) [\(targets)]\(request.sendsValue ? " value" : "")"
        }
    }
}
