import SyncPlan

/// A vault and a platform, and a push that can be stopped anywhere.
struct ModelWorld {
    /// Where a push stops.
    enum Stop: CaseIterable {
        /// The request is in the journal, and was not sent.
        case beforeRequest
        /// The platform carried it out, and the response was lost.
        case beforeNote
        /// The response is noted.
        case afterNote
    }

    /// What the vault has for one key.
    struct Key {
        let name: String
        var wishes: [Content?]
        var agreements: [Agreement?]
        var sends: [OpenSend] = []
        var choices = PushChoices()
    }

    var platform: ModelPlatform
    var keys: [Key]
    var hidden = TargetSet()
    /// Records with hidden targets that are listed.
    var listed: Set<String> = []
    /// The plan of the last push.
    private(set) var plan: [KeyPlan] = []
    private(set) var requests: [PlannedRequest] = []

    init(platform: ModelPlatform, keys: [Key]) { (self.platform, self.keys) = (platform, keys) }

    /// The number that stands for a version's value.
    static func value(of version: Version) -> Int { 100 * version.variable + version.number }

    /// What the caller would tell the planner.
    func state(of place: Int) -> KeyState {
        let key = keys[place]
        let records = platform.records.compactMap { record -> ListedRecord? in
            guard record.key == key.name, isListed(record) else { return nil }
            return ListedRecord(
                id: record.id, targets: record.targets, type: record.type,
                comment: record.comment, witness: "\(record.witness)", owner: record.owner,
                mayBeOurs: record.isOurs || record.isInOurName)
        }
        var state = KeyState(
            key: key.name, wishes: key.wishes, agreements: key.agreements, records: records,
            sends: key.sends, hidden: hidden, choices: key.choices)
        for id in state.recordsToRead {
            guard let place = records.firstIndex(where: { $0.id == id }),
                let record = platform.records.first(where: { $0.id == id })
            else { continue }
            let version = ModelWorld.version(of: record.value)
            state.records[place].value = version.isReadable ? .equal(version) : .differs
        }
        return state
    }

    func isListed(_ record: ModelPlatform.Record) -> Bool {
        record.targets.isDisjoint(with: hidden) || listed.contains(record.id)
    }

    /// The version that has a value. The vault has those with numbers below 50.
    static func version(of value: Int) -> Version {
        Version(variable: value / 100, number: value % 100, isReadable: value % 100 < 50)
    }

    /// Plans, and takes over what needs no request.
    mutating func planAll() {
        let states = keys.indices.map(state)
        // One key is planned by itself: the proof does it millions of times.
        if states.count == 1 {
            plan = [ModelWorld.plan(states[0], platform.planned)]
            requests = plan[0].requests
        } else {
            let all = ModelWorld.plan(states, platform.planned)
            (plan, requests) = (all.keys, all.requests)
        }
        for place in keys.indices {
            keys[place].agreements = plan[place].agreements
            keys[place].sends = plan[place].open.map { keys[place].sends[$0] }
            for note in plan[place].comments {
                keys[place].wishes[note.target.position]?.comment = note.reason
            }
        }
    }

    private static func plan(_ state: KeyState, _ rules: some RecordRules) -> KeyPlan {
        KeyPlan(state, rules: rules)
    }

    private static func plan(_ states: [KeyState], _ rules: some RecordRules) -> ProjectPlan {
        ProjectPlan(states, rules: rules)
    }

    /// Carries out the requests of the plan one by one.
    ///
    /// - Parameter watch: Is called at each point where the process can be killed, with the state that
    ///   the next one finds.
    mutating func send(
        _ watch: (ModelWorld, _ number: Int, Stop) throws -> Void = { _, _, _ in }
    ) throws {
        var witnesses: [String: String] = [:]
        for (number, request) in requests.enumerated() {
            guard let place = keys.firstIndex(where: { $0.name == request.key }) else { continue }
            var before: OpenSend.Before?
            if let subject = request.subject {
                let witness = subject.witness ?? witnesses[subject.record] ?? ""
                before = OpenSend.Before(record: subject.record, witness: witness)
            }
            keys[place].sends.append(
                OpenSend(
                    before: before, targets: request.targets, released: request.released,
                    type: request.type, comment: request.comment, version: request.version,
                    sendsValue: request.sendsValue, agreed: request.agreed))
            try watch(self, number, .beforeRequest)
            let value = request.sendsValue ? request.version : nil
            if let value, !value.isReadable {
                throw ModelPlatform.Refusal(description: "the vault does not have \(value)")
            }
            let changed = try platform.perform(
                request, witness: before?.witness, value: value.map(ModelWorld.value))
            try watch(self, number, .beforeNote)
            keys[place].sends.removeLast()
            let record = changed.map { platform.records[$0] }
            if let record { witnesses[record.id] = "\(record.witness)" }
            keys[place].note(request, record)
            try watch(self, number, .afterNote)
        }
    }
}

extension ModelWorld {
    /// Returns whether the plan is the rest of another one, and all that it depends on is as it was
    /// then.
    func goesOn(as rest: ArraySlice<PlannedRequest>, from other: ModelWorld) -> Bool {
        requests.count == rest.count && hasSameKeys(as: other)
            && zip(requests, rest).allSatisfy { request, old in
                request.targets == old.targets && request.type == old.type
                    && request.comment == old.comment && request.version == old.version
                    && request.sendsValue == old.sendsValue && request.agreed == old.agreed
                    && request.subject?.record == old.subject?.record
                    && request.subject?.targets == old.subject?.targets
            }
    }

    private func hasSameKeys(as other: ModelWorld) -> Bool {
        zip(keys, other.keys).allSatisfy {
            $0.wishes == $1.wishes && $0.agreements == $1.agreements && $0.sends == $1.sends
        }
    }
}

extension ModelWorld.Key {
    /// Takes over what a response says.
    fileprivate mutating func note(_ request: PlannedRequest, _ record: ModelPlatform.Record?) {
        for target in request.released { agreements[target.position] = nil }
        guard let record, let version = request.version else { return }
        for target in request.agreed {
            agreements[target.position] = Agreement(
                record: record.id, witness: "\(record.witness)",
                content: Content(version, record.type, comment: record.comment))
        }
    }
}
