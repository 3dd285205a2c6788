import SyncPlan

/// A platform in memory that knows the values, refuses what its rules forbid, and remembers who
/// changed a record last.
struct ModelPlatform {
    struct Record: Equatable {
        let id: String
        let key: String
        var targets: TargetSet
        /// The value itself, as a number.
        var value: Int
        var type: ValueType
        var comment: String?
        var witness: Int
        var isOurs: Bool
        var owner = ListedRecord.Owner.project
        /// Whether someone else changed it in the user's name.
        var isInOurName = false
    }

    /// Why a request was refused. None of a correct plan is.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    var records: [Record] = []
    let rules: ModelRules
    let planned: any RecordRules
    private var clock = 0

    init(rules: ModelRules) { (self.rules, planned) = (rules, rules.planned) }

    func record(_ key: String, in target: Target) -> Record? {
        records.first { $0.key == key && $0.targets.contains(target) }
    }

    /// Creates a record.
    ///
    /// - Returns: The place of the record.
    @discardableResult
    mutating func create(
        _ key: String, _ targets: TargetSet, _ value: Int, _ type: ValueType,
        comment: String? = nil, isOurs: Bool, owner: ListedRecord.Owner = .project
    ) throws(Refusal) -> Int {
        clock += 1
        let record = Record(
            id: "r\(clock)", key: key, targets: targets, value: value, type: type,
            comment: comment, witness: clock, isOurs: isOurs, owner: owner)
        try check(record)
        try checkValue(record)
        records.append(record)
        return records.count - 1
    }

    /// Changes a record as anybody may.
    mutating func change(
        _ place: Int, isOurs: Bool, _ change: (inout Record) -> Void
    ) throws(Refusal) {
        var record = records[place]
        change(&record)
        guard records[place].type.isReadable || !record.type.isReadable else {
            throw Refusal(description: "\(record.id) cannot become readable")
        }
        // A record may keep a form that is forbidden by now if nothing is sent.
        if record != records[place] { try check(record) }
        if record.value != records[place].value || record.type != records[place].type {
            try checkValue(record)
        }
        clock += 1
        (record.witness, record.isOurs, record.isInOurName) = (clock, isOurs, false)
        records[place] = record
    }

    /// Carries out a request.
    ///
    /// - Parameters:
    ///   - witness: What the sender expects the record to be.
    ///   - value: The value that is sent; nil for none.
    /// - Returns: The place of the record; nil after a deletion.
    mutating func perform(
        _ request: PlannedRequest, witness: String?, value: Int?
    ) throws(Refusal) -> Int? {
        guard let subject = request.subject else {
            guard let value else { throw Refusal(description: "a creation without a value") }
            return try create(
                request.key, request.targets, value, request.type, comment: request.comment,
                isOurs: true)
        }
        guard let place = records.firstIndex(where: { $0.id == subject.record }) else {
            throw Refusal(description: "\(subject.record) does not exist")
        }
        guard "\(records[place].witness)" == witness, records[place].targets == subject.targets
        else { throw Refusal(description: "\(subject.record) is not as the plan showed it") }
        guard records[place].owner != .platform else {
            throw Refusal(description: "\(subject.record) is not the project's")
        }
        if request.isDeletion {
            records.remove(at: place)
            return nil
        }
        try change(place, isOurs: true) { record in
            (record.targets, record.type) = (request.targets, request.type)
            record.comment = request.comment
            if let value { record.value = value }
        }
        return place
    }

    private func check(_ record: Record) throws(Refusal) {
        guard record.owner == .platform || rules.allows(record.targets, of: record.type) else {
            throw Refusal(description: "\(record.id) has forbidden targets")
        }
        for other in records where other.id != record.id && other.key == record.key {
            guard other.targets.isDisjoint(with: record.targets) else {
                throw Refusal(description: "\(record.id) overlaps \(other.id)")
            }
        }
    }

    private func checkValue(_ record: Record) throws(Refusal) {
        for other in records where other.id != record.id && other.key == record.key {
            guard !rules.forbids(record, beside: other) else {
                throw Refusal(description: "\(record.id) has the value of \(other.id)")
            }
        }
    }
}

extension ModelPlatform {
    /// The same records under other rules.
    init(copying other: ModelPlatform, rules: ModelRules) {
        self.init(rules: rules)
        (records, clock) = (other.records, other.clock)
    }
}
