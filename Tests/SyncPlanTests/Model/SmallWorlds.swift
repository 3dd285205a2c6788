import SyncPlan
import TestSupport

/// All small worlds of one key: what both sides agreed on, what the vault wants since, and at most one
/// change of one record by someone else.
///
/// Worlds that differ only in the names of versions are made once.
struct SmallWorlds {
    /// Something that someone else does to the platform.
    enum Foreign: Hashable {
        case value(record: Int, Int)
        case type(record: Int)
        case comment(record: Int)
        case more(record: Int, Target)
        case less(record: Int, Target)
        case removed(record: Int)
        /// Deleted, and created with the same content and another id.
        case again(record: Int, ValueType)
        case created(Target, Int, ValueType)
    }

    let targets: [Target]
    let rules: any RecordRules
    /// What a record can have.
    let contents: [Content]
    /// Further contents for wishes.
    var more: [Content] = []

    /// All sets of records: which targets each has, and what.
    func structures() -> [[(targets: TargetSet, content: Content)]] {
        var all: [[(targets: TargetSet, content: Content)]] = []
        func extend(_ rest: [Target], _ records: [(targets: TargetSet, content: Content)]) {
            guard let first = rest.first else {
                all.append(records)
                return
            }
            let others = Array(rest.dropFirst())
            extend(others, records)
            for bits in 0..<(1 << others.count) {
                let joined = others.indices.filter { bits >> $0 & 1 == 1 }.map { others[$0] }
                let set = TargetSet([first] + joined)
                for content in contents where rules.allows(set, of: content.type) {
                    // Each record that the vault cannot read has a value of its own.
                    var content = content
                    if !content.version.isReadable {
                        let known = records.count { !$0.content.version.isReadable }
                        content.version = Version(
                            variable: 1, number: 50 + known, isReadable: false)
                    }
                    extend(others.filter { !joined.contains($0) }, records + [(set, content)])
                }
            }
        }
        extend(targets, [])
        return all
    }

    /// Calls `body` with each world.
    ///
    /// - Parameters:
    ///   - step: One in so many sets of records, at least three of them.
    ///   - random: Chooses them.
    func forEach(
        foreign: Bool, step: Int, using random: inout ProofRandom,
        _ body: (ModelWorld) throws -> Void
    ) throws {
        var structures = structures().filter(isCanonical)
        if step > 1 {
            let count = max(3, structures.count / step)
            structures = Array(structures.shuffled(using: &random).prefix(count))
        }
        for records in structures {
            var platform = ModelPlatform(rules: rules)
            for (targets, content) in records {
                try platform.create(
                    "KEY", targets, ModelWorld.value(of: content.version), content.type,
                    comment: content.comment, isOurs: true)
            }
            var agreements = [Agreement?](repeating: nil, count: targets.count)
            for (place, record) in platform.records.enumerated() {
                for target in record.targets {
                    agreements[target.position] = Agreement(
                        record: record.id, witness: "\(record.witness)",
                        content: records[place].content)
                }
            }
            var changed: [ModelPlatform] = [platform]
            if foreign { changed = changes(of: platform).compactMap { $0 } }
            for wishes in wishes(records.map(\.content)) {
                for platform in changed {
                    try body(
                        ModelWorld(
                            platform: platform,
                            keys: [.init(name: "KEY", wishes: wishes, agreements: agreements)]))
                }
            }
        }
    }

    /// Versions that the vault has can be renamed: the first one that a record has is the first.
    private func isCanonical(_ records: [(targets: TargetSet, content: Content)]) -> Bool {
        let numbers = records.map(\.content.version).filter(\.isReadable).map(\.number)
        var highest = 0
        for number in numbers {
            if number > highest + 1 { return false }
            highest = max(highest, number)
        }
        return true
    }

    private func wishes(_ present: [Content]) -> [[Content?]] {
        let readable = (contents + more).filter(\.version.isReadable)
        let own = present.filter { !$0.version.isReadable }
        let choices: [Content?] = [nil] + readable + own
        var all: [[Content?]] = [[]]
        for _ in targets { all = all.flatMap { begun in choices.map { begun + [$0] } } }
        return all
    }

    /// The platform after each possible change by someone else.
    private func changes(of platform: ModelPlatform) -> [ModelPlatform?] {
        let types = Set(contents.map(\.type)).sorted { $0.number < $1.number }
        var all: [ModelPlatform?] = []
        func attempt(_ change: (inout ModelPlatform) throws -> Void) {
            var platform = platform
            if (try? change(&platform)) != nil { all.append(platform) }
        }
        for place in platform.records.indices {
            let record = platform.records[place]
            for value in [101, 102, 9_051] where value != record.value {
                attempt { try $0.change(place, isOurs: false) { $0.value = value } }
            }
            for type in types where type != record.type {
                attempt { try $0.change(place, isOurs: false) { $0.type = type } }
            }
            attempt { try $0.change(place, isOurs: false) { $0.comment = "theirs" } }
            for target in targets {
                attempt {
                    try $0.change(place, isOurs: false) {
                        $0.targets =
                            $0.targets.contains(target)
                            ? $0.targets.subtracting([target]) : $0.targets.union([target])
                    }
                }
            }
            attempt { $0.records.remove(at: place) }
            for type in types {
                attempt {
                    $0.records.remove(at: place)
                    try $0.create(
                        "KEY", record.targets, record.value, type, isOurs: false)
                }
            }
        }
        for target in targets {
            for value in [101, 9_051] {
                for type in types {
                    attempt { try $0.create("KEY", [target], value, type, isOurs: false) }
                }
            }
        }
        return all
    }
}
