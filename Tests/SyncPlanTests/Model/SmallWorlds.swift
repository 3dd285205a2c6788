import SyncPlan
import TestSupport

/// All small worlds of one key: what both sides agreed on, what the vault wants since, and at most one
/// change of one record by someone else.
///
/// Worlds that differ only in the names of versions, or of targets that the rules treat alike, are
/// one world. The seed chooses which of them is tried.
struct SmallWorlds {
    let rules: ModelRules
    let targets: Int
    /// The targets whose names do not matter.
    let alike: Range<Int>
    /// The versions whose values the vault has.
    let versions: Int
    /// The most records whose values the vault lacks. A version without a value is also wanted where
    /// no record has it.
    let unreadRecords: Int
    let types: [ValueType]
    /// The types of records whose values the vault lacks.
    var unreadTypes: [ValueType] = [.sensitive]
    /// Whether someone else may also change a comment, or replace a record by an equal one.
    var hasMoreChanges = true
    /// Whether the heaviest target's record has no other.
    var isHeaviestAlone = false

    /// Calls `body` with each world.
    ///
    /// - Parameters:
    ///   - part: Only each `step`-th set of records, from the `first` on.
    ///   - share: Only one in so many wishes, chosen at random.
    func forEach(
        part: (first: Int, step: Int) = (0, 1), share: Int = 1,
        using random: inout ProofRandom, _ body: (ModelWorld) throws -> Void
    ) throws {
        let renamings = renamings()
        var number = 0
        for records in structures() {
            let (isFirst, same) = least(records, of: renamings) { $0.records(records) }
            guard isFirst else { continue }
            number += 1
            if number % part.step != part.first { continue }
            for wishes in wishes(records) {
                let (isFirst, same) = least(wishes, of: same) { $0.wishes(wishes, records) }
                guard isFirst, share == 1 || Int.random(in: 0..<share, using: &random) == 0
                else { continue }
                for change in changes(of: records) {
                    guard least(change, of: same, { $0.change(change, records) }).isFirst,
                        let renaming = renamings.randomElement(using: &random),
                        let world = world(
                            renaming.records(records), renaming.wishes(wishes, records),
                            renaming.change(change, records))
                    else { continue }
                    try body(world)
                }
            }
        }
    }

    /// Returns whether a form is the first of all its renamed forms, and the renamings that keep it.
    private func least(
        _ form: [Int], of renamings: [Renaming], _ renamed: (Renaming) -> [Int]
    ) -> (isFirst: Bool, same: [Renaming]) {
        var same: [Renaming] = []
        for renaming in renamings {
            let other = renamed(renaming)
            if other.lexicographicallyPrecedes(form) { return (false, []) }
            if other == form { same.append(renaming) }
        }
        return (true, same)
    }

    // MARK: Forms

    /// What has a version and a type is one number: 0 for nothing. A version is its place among those
    /// with values; then come those without, by the first target of the record that has it; then one
    /// that no record has; then one that only someone else knows.
    fileprivate func code(_ version: Int, _ type: Int) -> Int {
        1 + type + types.count * version
    }

    fileprivate func version(_ code: Int) -> Int { (code - 1) / types.count }
    fileprivate func type(_ code: Int) -> Int { (code - 1) % types.count }
    private var missing: Int { versions + targets }
    private var theirs: Int { versions + targets + 1 }

    /// Returns all sets of records: for each target the first target of its record, or -1, and what it
    /// has.
    private func structures() -> [[Int]] {
        var all: [[Int]] = []
        func extend(_ rest: [Int], _ records: [Int], _ unread: Int) {
            guard let first = rest.first else {
                all.append(records)
                return
            }
            let others = Array(rest.dropFirst())
            extend(others, records, unread)
            for bits in 0..<(1 << others.count) {
                let joined =
                    [first] + others.indices.filter { bits >> $0 & 1 == 1 }.map { others[$0] }
                for version in 0...versions where version < versions || unread < unreadRecords {
                    for type in types.indices
                    where (version < versions || unreadTypes.contains(types[type]))
                        && !(isHeaviestAlone && first == 0 && joined.count > 1)
                        && rules.allows(TargetSet(joined.map(Target.init)), of: types[type])
                    {
                        var records = records
                        for target in joined {
                            records[2 * target] = first
                            records[2 * target + 1] = code(
                                version < versions ? version : versions + first, type)
                        }
                        extend(
                            others.filter { !joined.contains($0) }, records,
                            unread + (version < versions ? 0 : 1))
                    }
                }
            }
        }
        extend(
            Array(0..<targets), Array(repeating: [-1, 0], count: targets).flatMap { $0 }, 0)
        return all
    }

    private func wishes(_ records: [Int]) -> [[Int]] {
        let held = Set((0..<targets).map { records[2 * $0 + 1] }.filter { $0 > 0 }.map(version))
        var wanted = Array(0..<versions) + held.filter { $0 >= versions }.sorted()
        if unreadRecords > 0, wanted.count == versions { wanted.append(missing) }
        let choices = [0] + wanted.flatMap { version in types.indices.map { code(version, $0) } }
        var all: [[Int]] = [[]]
        for _ in 0..<targets { all = all.flatMap { begun in choices.map { begun + [$0] } } }
        return all
    }

    private enum Kind: Int {
        case content, comment, more, less, removed, again, created
    }

    /// Returns what someone else may do, or nothing: kind, first target of the record, another target,
    /// and what the record has then.
    private func changes(of records: [Int]) -> [[Int]] {
        var all: [[Int]] = [[]]
        func add(_ kind: Kind, _ record: Int, _ target: Int, _ content: Int) {
            all.append([kind.rawValue, record, target, content])
        }
        let values = Array(0..<versions) + [theirs]
        for target in 0..<targets {
            let (record, content) = (records[2 * target], records[2 * target + 1])
            guard record >= 0 else {
                for value in values {
                    for type in types.indices { add(.created, -1, target, code(value, type)) }
                }
                continue
            }
            let size = (0..<targets).count { records[2 * $0] == record }
            if size > 1 { add(.less, record, target, 0) }
            guard record == target else { continue }
            for value in values where value != version(content) {
                add(.content, record, -1, code(value, type(content)))
            }
            for type in types.indices {
                if type != self.type(content) {
                    add(.content, record, -1, code(version(content), type))
                }
                if hasMoreChanges { add(.again, record, -1, code(version(content), type)) }
            }
            if hasMoreChanges { add(.comment, record, -1, 0) }
            add(.removed, record, -1, 0)
            for other in 0..<targets where records[2 * other] < 0 { add(.more, record, other, 0) }
        }
        return all
    }

    // MARK: Renaming

    fileprivate struct Renaming {
        /// By the old name.
        let targets: [Int]
        let versions: [Int]
        let worlds: SmallWorlds

        /// Returns the new first target of a record.
        private func record(_ first: Int, _ records: [Int]) -> Int {
            if first < 0 { return first }
            return targets.indices.filter { records[2 * $0] == first }.map { targets[$0] }.min()
                ?? first
        }

        private func content(_ code: Int, _ records: [Int]) -> Int {
            if code == 0 { return 0 }
            var version = worlds.version(code)
            if version < versions.count {
                version = versions[version]
            } else if version < versions.count + targets.count {
                version = versions.count + record(version - versions.count, records)
            }
            return worlds.code(version, worlds.type(code))
        }

        func records(_ records: [Int]) -> [Int] {
            var renamed = records
            for (old, new) in targets.enumerated() {
                renamed[2 * new] = record(records[2 * old], records)
                renamed[2 * new + 1] = content(records[2 * old + 1], records)
            }
            return renamed
        }

        func wishes(_ wishes: [Int], _ records: [Int]) -> [Int] {
            var renamed = wishes
            for (old, new) in targets.enumerated() { renamed[new] = content(wishes[old], records) }
            return renamed
        }

        func change(_ change: [Int], _ records: [Int]) -> [Int] {
            if change.isEmpty { return [] }
            return [
                change[0], record(change[1], records), change[2] < 0 ? -1 : targets[change[2]],
                content(change[3], records),
            ]
        }
    }

    private func renamings() -> [Renaming] {
        func orders(_ names: [Int]) -> [[Int]] {
            if names.isEmpty { return [[]] }
            return names.flatMap { first in
                orders(names.filter { $0 != first }).map { [first] + $0 }
            }
        }
        return orders(Array(alike)).flatMap { order in
            orders(Array(0..<versions)).map { versions in
                Renaming(
                    targets: Array(0..<alike.lowerBound) + order
                        + Array(alike.upperBound..<targets), versions: versions, worlds: self)
            }
        }
    }

    // MARK: Worlds

    private func content(_ code: Int) -> Content? {
        if code == 0 { return nil }
        let version = version(code)
        return Content(
            version < versions ? .known(version + 1) : .unread(version - versions),
            types[type(code)])
    }

    private func value(_ code: Int) -> Int {
        version(code) == theirs
            ? 9_051 : content(code).map { ModelWorld.value(of: $0.version) } ?? 0
    }

    /// - Returns: nil if the platform refuses the change.
    private func world(_ records: [Int], _ wishes: [Int], _ change: [Int]) -> ModelWorld? {
        var platform = ModelPlatform(rules: rules)
        var agreements = [Agreement?](repeating: nil, count: targets)
        do throws(ModelPlatform.Refusal) {
            for first in 0..<targets where records[2 * first] == first {
                let set = (first..<targets).filter { records[2 * $0] == first }
                guard let content = content(records[2 * first + 1]) else { continue }
                let place = try platform.create(
                    "KEY", TargetSet(set.map(Target.init)), ModelWorld.value(of: content.version),
                    content.type, isOurs: true)
                let record = platform.records[place]
                for target in set {
                    agreements[target] = Agreement(
                        record: record.id, witness: "\(record.witness)", content: content)
                }
            }
            if !change.isEmpty { try perform(change, on: &platform) }
        } catch {
            return nil
        }
        return ModelWorld(
            platform: platform,
            keys: [.init(name: "KEY", wishes: wishes.map(content), agreements: agreements)])
    }

    private func perform(_ change: [Int], on platform: inout ModelPlatform)
        throws(ModelPlatform.Refusal)
    {
        guard let kind = Kind(rawValue: change[0]) else { return }
        let target = TargetSet(change[2] < 0 ? [] : [Target(change[2])])
        let content = change[3]
        guard
            let place = platform.records.firstIndex(where: {
                $0.targets.heaviest?.position == change[1]
            })
        else {
            try platform.create(
                "KEY", target, value(content), types[type(content)], isOurs: false)
            return
        }
        let record = platform.records[place]
        if kind == .removed || kind == .again { platform.records.remove(at: place) }
        if kind == .again {
            let place = try platform.create(
                "KEY", record.targets, record.value, types[type(content)], isOurs: false)
            // Only the id says that it is another one.
            platform.records[place].witness = record.witness
        }
        if kind == .removed || kind == .again { return }
        try platform.change(place, isOurs: false) { record in
            switch kind {
            case .content: (record.value, record.type) = (value(content), types[type(content)])
            case .comment: record.comment = "theirs"
            case .more: record.targets = record.targets.union(target)
            case .less: record.targets = record.targets.subtracting(target)
            case .removed, .again, .created: break
            }
        }
    }
}
