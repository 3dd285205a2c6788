import Vault

@testable import Groups

/// What `docs/group-format.md`, section 6, says of a set of changes, computed as naively as possible:
/// pasts are sets, every pair is compared, and nothing is shared with the fold but the decoders.
struct ModelOracle {
    /// A member after an entry.
    struct Member: Equatable {
        var person: Identifier
        var name: String
        var role: GroupRole
        var limit: [Identifier]?
        var keys: MemberKeys
        var isActive = true

        func sees(_ compartment: Identifier) -> Bool {
            isActive && (limit == nil || limit?.contains(compartment) == true)
        }
    }

    struct Lowering {
        let entry: GroupHash
        let member: Identifier
        let cut: Cut
        let before: Member
        let after: Member
    }

    struct Membership {
        var members: [Identifier: Member] = [:]
        var epochs: [Identifier: UInt32] = [:]
        var lowerings: [Lowering] = []
    }

    /// The entries that are valid.
    let entries: [GroupHash: Entry]
    /// The changes, each once, with whether the signature is the author's.
    let changes: [ReceivedChange]
    let forged: Set<GroupHash>
    private(set) var memberships: [GroupHash: Membership] = [:]
    private(set) var entryPasts: [GroupHash: Set<GroupHash>] = [:]
    let heads: [GroupHash]
    private let index: [GroupHash: Int]
    private(set) var placed: [Bool]
    private(set) var waiting: [GroupHash: WaitingReason] = [:]
    /// The past of each placed change, without itself.
    private(set) var pasts: [Set<Int>]
    private(set) var verdicts: [LateReason?]
    private(set) var endings: [[GroupHash]]
    private(set) var effective: Set<Int> = []

    init(
        entries: [GroupHash: Entry], changes: [ReceivedChange], forged: Set<GroupHash>
    ) {
        self.entries = entries
        self.changes = changes
        self.forged = forged
        let followed = Set(entries.values.flatMap { [$0.previous, $0.other ?? .zero] })
        heads = entries.keys.filter { !followed.contains($0) }
        index = Dictionary(uniqueKeysWithValues: changes.enumerated().map { ($1.name, $0) })
        placed = [Bool](repeating: false, count: changes.count)
        pasts = [Set<Int>](repeating: [], count: changes.count)
        verdicts = [LateReason?](repeating: nil, count: changes.count)
        endings = [[GroupHash]](repeating: [], count: changes.count)
        for (name, _) in entries.sorted(by: { $0.value.number < $1.value.number }) {
            memberships[name] = membership(name)
        }
        place()
        judge()
    }

    // MARK: Membership

    private mutating func membership(_ name: GroupHash) -> Membership {
        guard let entry = entries[name] else { return Membership() }
        var state = memberships[entry.previous] ?? Membership()
        entryPasts[name] = Set([entry.previous, entry.other ?? .zero].filter { $0 != .zero })
            .union(entryPasts[entry.previous] ?? [])
            .union(entry.other.flatMap { entryPasts[$0] } ?? [])
        if let other = entry.other.flatMap({ memberships[$0] }) { state = merge(state, other) }
        for item in entry.admissions {
            state.members[item.member] = Member(
                person: item.person, name: item.name, role: item.rights.role,
                limit: item.rights.limit, keys: item.keys)
        }
        func lower(_ id: Identifier, _ cut: Cut?, _ change: (inout Member) -> Void) {
            guard let before = state.members[id] else { return }
            var after = before
            change(&after)
            state.members[id] = after
            if let cut {
                state.lowerings.append(
                    Lowering(entry: name, member: id, cut: cut, before: before, after: after))
            }
        }
        for item in entry.roles {
            lower(item.member, item.cut) {
                ($0.role, $0.limit) = (item.rights.role, item.rights.limit)
            }
        }
        for item in entry.removals { lower(item.member, item.cut) { $0.isActive = false } }
        for item in entry.keyReplacements { lower(item.member, item.cut) { $0.keys = item.keys } }
        for item in entry.epochs { state.epochs[item.compartment] = item.number }
        return state
    }

    private func rank(_ lower: GroupRole, _ higher: GroupRole) -> Bool {
        let below: [GroupRole: [GroupRole]] = [
            .admin: GroupRole.allCases, .member: [.member, .writer, .reader], .writer: [.writer],
            .reader: [.reader],
        ]
        return below[higher]?.contains(lower) == true
    }

    private func merge(_ left: Membership, _ right: Membership) -> Membership {
        var state = left
        for (id, theirs) in right.members {
            guard let mine = left.members[id] else {
                state.members[id] = theirs
                continue
            }
            var both = mine
            if rank(theirs.role, mine.role) {
                both.role = theirs.role
            } else if !rank(mine.role, theirs.role) {
                both.isActive = false
            }
            if !theirs.isActive || theirs.keys != mine.keys
                || Array(theirs.name.utf8) != Array(mine.name.utf8)
                || theirs.person != mine.person
            {
                both.isActive = false
            }
            if let limit = theirs.limit {
                both.limit = mine.limit.map { $0.filter(limit.contains) } ?? limit
            }
            state.members[id] = both
        }
        for lowering in right.lowerings
        where !left.lowerings.contains(where: {
            $0.entry == lowering.entry && $0.member == lowering.member
        }) {
            state.lowerings.append(lowering)
        }
        return state
    }

    // MARK: Placing

    private mutating func place() {
        var moved = true
        while moved {
            moved = false
            for (number, change) in changes.enumerated() where !placed[number] {
                let before = change.header.predecessors.map { index[$0] }
                let entry = entries[change.header.entry]
                guard before.allSatisfy({ $0.map { placed[$0] } ?? false }), let entry,
                    entry.number == change.header.entryNumber, change.operations != nil
                else { continue }
                placed[number] = true
                moved = true
                for case let parent? in before {
                    pasts[number].insert(parent)
                    pasts[number].formUnion(pasts[parent])
                }
            }
        }
        for (number, change) in changes.enumerated() where !placed[number] {
            let waits = change.header.predecessors.contains { name in
                index[name].map { !placed[$0] } ?? true
            }
            let isKnown = entries.values.contains { $0.number == change.header.entryNumber }
            waiting[change.name] =
                waits
                ? .parents
                : entries[change.header.entry] == nil && isKnown ? .split : .entry
        }
    }

    // MARK: Judging

    private func author(_ number: Int, at entry: GroupHash) -> Member? {
        memberships[entry]?.members[changes[number].header.author]
    }

    private func operations(_ number: Int) -> [RecordOperation] { changes[number].operations ?? [] }

    private func isAllowed(_ role: GroupRole, _ number: Int) -> Bool {
        switch role {
        case .admin, .member: return true
        case .reader: return false
        case .writer: return operations(number).allSatisfy { [1, 2].contains($0.operation.kind) }
        }
    }

    private mutating func judge() {
        var simple: [LateReason?] = []
        for number in changes.indices {
            simple.append(placed[number] ? simpleVerdict(number) : .member)
        }
        for number in changes.indices where placed[number] {
            verdicts[number] = simple[number] ?? referenceVerdict(number, simple)
        }
        let stable = verdicts
        for number in changes.indices where placed[number] && stable[number] == nil {
            let (agrees, ended) = rights(number)
            if !agrees { verdicts[number] = .cut }
            endings[number] = ended
        }
        for number in changes.indices where placed[number] && verdicts[number] == .cut {
            let isBuiltOn = changes.indices.contains {
                counts($0) && pasts[$0].contains(number)
                    && changes[$0].header.author != changes[number].header.author
            }
            if isBuiltOn { effective.insert(number) }
        }
    }

    func counts(_ number: Int) -> Bool { placed[number] && verdicts[number] == nil }

    private func simpleVerdict(_ number: Int) -> LateReason? {
        let header = changes[number].header
        guard let author = author(number, at: header.entry), author.isActive else { return .member }
        if forged.contains(changes[number].name) { return .signature }
        if !author.sees(header.compartment) { return .compartment }
        if memberships[header.entry]?.epochs[header.compartment] != header.epoch { return .epoch }
        for name in header.predecessors {
            if let before = index[name], changes[before].header.entryNumber > header.entryNumber {
                return .pastEntry
            }
        }
        if let before = index[header.before] {
            let other = changes[before].header
            if other.author != header.author || other.chain != header.chain
                || other.counter &+ 1 != header.counter
            {
                return .chain
            }
        }
        if !isAllowed(author.role, number) { return .role }
        let kinds: Set<UInt8> = [3, 9, 10, 11, 12, 13, 14]
        let needsAuthority = operations(number).contains { kinds.contains($0.operation.kind) }
        return needsAuthority && header.key == .write ? .key : nil
    }

    private func referenceVerdict(_ number: Int, _ simple: [LateReason?]) -> LateReason? {
        let usable = pasts[number].filter { simple[$0] == nil }
        var known: Set<Identifier> = []
        for past in usable {
            for operation in operations(past) where operation.operation.kind == 1 {
                if let record = operation.record { known.insert(record) }
            }
        }
        for operation in operations(number) {
            guard let record = operation.record else { continue }
            if operation.operation.kind == 1 {
                known.insert(record)
            } else if !known.contains(record) {
                return .record
            }
        }
        func find(_ reference: ChangeReference) -> RecordOperation? {
            guard let place = index[reference.change], usable.contains(place),
                Int(reference.operation) < operations(place).count
            else { return nil }
            return operations(place)[Int(reference.operation)]
        }
        for operation in operations(number) {
            for reference in operation.replaces {
                guard let old = find(reference), old.record == operation.record,
                    Set(operation.operation.assigned).isSubset(of: old.operation.assigned)
                else { return .replaces }
            }
            var version: ChangeReference?
            if case .choose(let chosen) = operation.operation { version = chosen }
            if case .claim(let claim) = operation.operation { version = claim.version }
            if let version {
                guard let value = find(version), value.record == operation.record,
                    value.operation.kind == 2
                else { return .replaces }
            }
        }
        if changes[number].header.key == .write {
            for operation in operations(number) {
                for old in operation.replaces.compactMap(find) where widens(operation, old) {
                    return .widening
                }
            }
        }
        return nil
    }

    private func widens(_ operation: RecordOperation, _ old: RecordOperation) -> Bool {
        let order: [VariableAttributes.Kind] = [.plain, .system, .secret, .encrypted, .sensitive]
        var (oldType, oldScope): (VariableAttributes.Kind?, Scope?)
        switch old.operation {
        case .create(let creation): (oldType, oldScope) = (creation.type, creation.scope)
        case .type(let type): oldType = type
        case .scope(let scope): oldScope = scope
        default: break
        }
        switch operation.operation {
        case .type(let type):
            return order.firstIndex(of: type) ?? 0 < oldType.flatMap(order.firstIndex) ?? 0
        case .scope(let scope):
            guard let oldScope, scope.branch == oldScope.branch else { return true }
            return !scope.targets.subtracting(oldScope.targets).isEmpty
                || scope.customEnvironments.contains { !oldScope.customEnvironments.contains($0) }
        default: return false
        }
    }

    private func rights(_ number: Int) -> (agrees: Bool, endings: [GroupHash]) {
        let header = changes[number].header
        guard let then = author(number, at: header.entry) else { return (false, []) }
        func key(_ member: Member) -> [UInt8] {
            header.key == .write ? member.keys.write : member.keys.authority
        }
        func has(_ member: Member) -> Bool {
            member.sees(header.compartment) && isAllowed(member.role, number)
                && key(member) == key(then)
        }
        var agrees = true
        var all: [GroupHash] = []
        for head in heads {
            guard let now = author(number, at: head) else {
                agrees = false
                continue
            }
            if has(now) { continue }
            let ended = (memberships[head]?.lowerings ?? []).filter {
                $0.member == header.author && has($0.before) && !has($0.after)
            }
            let last = ended.filter { one in
                !ended.contains { entryPasts[$0.entry]?.contains(one.entry) == true }
            }
            let isInCuts = last.allSatisfy { lowering in
                lowering.cut.heads(in: header.compartment).contains { name in
                    guard let place = index[name], placed[place] else { return false }
                    return place == number || pasts[place].contains(number)
                }
            }
            if last.isEmpty || !isInCuts {
                agrees = false
                all += last.map(\.entry)
            }
        }
        return (agrees, all)
    }

    // MARK: State

    private struct Assignment {
        let place: Int
        let reference: ChangeReference
        let operation: RecordOperation
        let thing: Assigned
        let isLate: Bool
        let isByWriter: Bool
    }

    /// Computes the state that the fold should have.
    func state() -> CompartmentState {
        var state = CompartmentState()
        let parts = changes.indices.filter { counts($0) || effective.contains($0) }
        state.counted = changes.indices.filter(counts).map { changes[$0].name }.sorted()
        state.effective = effective.map { changes[$0].name }.sorted()
        state.waiting = waiting
        for number in changes.indices where placed[number] {
            state.late[changes[number].name] = verdicts[number]
        }
        state.heads = changes.indices.filter { number in
            counts(number)
                && !changes.indices.contains { counts($0) && pasts[$0].contains(number) }
        }.map { changes[$0].name }.sorted()
        var positions: [CompartmentState.Doubled: Int] = [:]
        for number in parts {
            let header = changes[number].header
            positions[
                .init(author: header.author, chain: header.chain, counter: header.counter),
                default: 0] += 1
        }
        state.doubled = positions.filter { $0.value > 1 }.keys.sorted()
        let all = assignments(parts)
        state.projectNames = Array(
            Set(
                all.compactMap { assignment -> String? in
                    guard case .projectName(let name) = assignment.operation.operation else {
                        return nil
                    }
                    return name
                })
        ).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        let bindings = Set(
            all.compactMap { assignment -> GroupBinding?? in
                guard case .binding(let binding) = assignment.operation.operation else {
                    return nil
                }
                return .some(binding)
            })
        state.bindings = bindings.sorted {
            ($0?.encoded ?? []).lexicographicallyPrecedes($1?.encoded ?? [])
        }
        for thing in [Assigned.projectName, .binding] {
            let found = all.filter { $0.thing == thing }.map(\.reference).sorted()
            if !found.isEmpty { state.candidates[thing] = found }
        }
        state.records = records(parts, all)
        for number in changes.indices where counts(number) {
            for operation in operations(number) {
                if case .settle(let item) = operation.operation { state.settled.insert(item) }
            }
        }
        return state
    }

    private func assignments(_ parts: [Int]) -> [Assignment] {
        var all: [Assignment] = []
        for number in parts {
            let role = author(number, at: changes[number].header.entry)?.role
            for (place, operation) in operations(number).enumerated() {
                for thing in operation.operation.assigned {
                    all.append(
                        Assignment(
                            place: number,
                            reference: .init(
                                change: changes[number].name, operation: UInt16(place)),
                            operation: operation, thing: thing,
                            isLate: effective.contains(number), isByWriter: role == .writer))
                }
            }
        }
        return all.filter { old in
            !all.contains { new in
                new.thing == old.thing && new.operation.replaces.contains(old.reference)
                    && decides(new, old)
            }
        }
    }

    /// Whether an assignment may replace another one.
    private func decides(_ new: Assignment, _ old: Assignment) -> Bool {
        guard old.isLate else { return true }
        let entry = changes[new.place].header.entry
        if author(new.place, at: entry)?.role == .admin { return true }
        return !endings[old.place].contains {
            $0 == entry || entryPasts[entry]?.contains($0) == true
        }
    }

    private func records(_ parts: [Int], _ all: [Assignment]) -> [RecordState] {
        var ids: Set<Identifier> = []
        for number in parts {
            for operation in operations(number) where operation.operation.kind == 1 {
                if let record = operation.record { ids.insert(record) }
            }
        }
        var records = ids.sorted().map { record($0, parts, all) }
        for left in records.indices {
            for right in records.indices where left != right {
                let (one, two) = (records[left], records[right])
                guard one.isInUse, two.isInUse, !one.isOffered, !two.isOffered else { continue }
                let isTwin = one.names.contains { name in
                    two.names.contains { $0.utf8.elementsEqual(name.utf8) }
                        && one.scopes.contains { a in two.scopes.contains { a.overlaps($0) } }
                }
                if isTwin, !one.contested.contains(.twin) { records[left].contested.append(.twin) }
            }
        }
        return records
    }

    private func record(_ id: Identifier, _ parts: [Int], _ all: [Assignment]) -> RecordState {
        var state = RecordState(id: id)
        let mine = all.filter { $0.operation.record == id }
        func of(_ thing: Assigned) -> [Assignment] {
            mine.filter { $0.thing == thing }.sorted { $0.reference < $1.reference }
        }
        func settled(_ thing: Assigned) -> [Assignment] {
            let counted = of(thing).filter { !$0.isLate }
            return counted.isEmpty ? of(thing) : counted
        }
        for thing in Assigned.allCases where !of(thing).isEmpty {
            state.candidates[thing] = of(thing).map(\.reference)
        }
        var (names, scopes): ([String], [Scope]) = ([], [])
        for assignment in of(.name) {
            switch assignment.operation.operation {
            case .create(let creation): names.append(creation.name)
            case .name(let name): names.append(name)
            default: break
            }
        }
        for assignment in of(.scope) {
            if let scope = assignment.operation.scope { scopes.append(scope) }
        }
        state.names = Set(names.map { Array($0.utf8) }).sorted {
            $0.lexicographicallyPrecedes($1)
        }.map { String(decoding: $0, as: UTF8.self) }
        state.scopes = Array(Set(scopes)).sorted {
            $0.encoded.lexicographicallyPrecedes($1.encoded)
        }
        let order: [VariableAttributes.Kind] = [.sensitive, .encrypted, .secret, .system, .plain]
        let types = settled(.type).compactMap(\.operation.type)
        state.type = order.first { types.contains($0) } ?? .plain
        switch settled(.comment).first?.operation.operation {
        case .create(let creation): state.comment = creation.comment
        case .comment(let comment): state.comment = comment
        default: break
        }
        switch settled(.reminder).first?.operation.operation {
        case .create(let creation): state.reminder = creation.reminder
        case .reminder(let seconds): state.reminder = seconds
        default: break
        }
        state.claims = settled(.claim).map(\.reference)
        state.rotations = settled(.rotation).filter { $0.operation.operation == .rotation(true) }
            .map(\.reference)
        let values = of(.value)
        let hasOthers = values.contains { !$0.isByWriter }
        let removals = values.filter { $0.operation.operation == .remove }
        let offers = values.filter {
            $0.isByWriter && hasOthers && $0.operation.operation != .remove
        }
        let choices = values.filter { value in
            value.operation.operation != .remove
                && !offers.contains { $0.reference == value.reference }
        }
        state.choices = versions(choices)
        state.offers = versions(offers)
        state.removals = removals.map(\.reference).sorted()
        state.isInUse = !choices.isEmpty || removals.isEmpty
        state.wasRemovedMeanwhile = !choices.isEmpty && !removals.isEmpty
        var hasMember = false
        for number in parts {
            let role = author(number, at: changes[number].header.entry)?.role
            for operation in operations(number) where operation.record == id && role != .writer {
                if operation.operation.kind == 1 || counts(number) { hasMember = true }
            }
        }
        state.isOffered = !hasMember
        if state.choices.count > 1 { state.contested.append(.value) }
        if (of(.name) + of(.scope) + of(.type) + values).contains(where: \.isLate) {
            state.contested.append(.late)
        }
        if state.names.count > 1 { state.contested.append(.name) }
        if state.scopes.count > 1 { state.contested.append(.scope) }
        return state
    }

    private func versions(_ assignments: [Assignment]) -> [RecordState.Choice] {
        var found: [ChangeReference: [Bool]] = [:]
        for assignment in assignments {
            var version = assignment.reference
            if case .choose(let chosen) = assignment.operation.operation { version = chosen }
            found[version, default: []].append(assignment.isLate)
        }
        return found.keys.sorted().map { version in
            var id = Identifier.zero
            if let place = index[version.change],
                case .value(let value) = operations(place)[Int(version.operation)].operation
            {
                id = VersionIdentity.id(
                    author: changes[place].header.author, seed: value.seed)
            }
            return RecordState.Choice(
                version: version, id: id, isLate: found[version]?.allSatisfy { $0 } ?? false)
        }
    }
}
