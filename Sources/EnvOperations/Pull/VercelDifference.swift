package import Vault

/// The differences between the vault and Vercel, record by record, or key by key for one
/// environment.
package struct VercelDifference: Equatable {
    /// One record, or one key of an environment.
    package struct Entry: Equatable, Sendable {
        package let key: String
        package let scope: Scope
        package let state: DifferenceState
        /// What differs: `value`, `key`, `type`, `scope`, `comment`.
        package let differing: [String]
    }

    /// A record that exists on both sides.
    package struct Pair {
        package let variable: Variable
        package let record: VercelRecord
    }

    /// Sorted by key and scope.
    package let entries: [Entry]

    /// The entries that are not known to be the same.
    package var differences: [Entry] { entries.filter { !$0.state.isNoDifference } }

    /// Returns the keys in one state, each once.
    package func keys(_ state: DifferenceState) -> [String] {
        var keys: [String] = []
        for entry in entries where entry.state == state && keys.last != entry.key {
            keys.append(entry.key)
        }
        return keys
    }

    /// - Parameters:
    ///   - sides: The matched records.
    ///   - isEqual: Returns whether both sides have the same value, or nil if one is not available.
    ///     A nil closure compares only names.
    package init(_ sides: Sides, isEqual: ((Pair) throws -> Bool?)?) throws {
        var entries = sides.onlyOnVercel.map {
            Entry(key: $0.key, scope: $0.attributes.scope, state: .added, differing: [])
        }
        entries += sides.onlyInVault.map {
            Entry(
                key: $0.name, scope: $0.attributes.scope,
                state: sides.isComplete ? .removed : .unlisted, differing: [])
        }
        entries += try sides.both.map { pair in
            var (state, differing) = (DifferenceState.present, [String]())
            if let isEqual {
                let equality = try isEqual(pair)
                differing = pair.differing(inOnePlace: sides.isOneEnvironment)
                if equality == false { differing.insert("value", at: 0) }
                state = differing.isEmpty ? (equality == nil ? .unreadable : .same) : .changed
            }
            return Entry(
                key: pair.variable.name, scope: pair.variable.attributes.scope, state: state,
                differing: differing)
        }
        self.entries = entries.sorted {
            ($0.key, $0.scope.description) < ($1.key, $1.scope.description)
        }
    }

    /// The records of both sides, matched with each other.
    package struct Sides {
        /// The records that exist on both sides.
        package private(set) var both: [Pair] = []
        fileprivate var onlyInVault: [Variable] = []
        fileprivate var onlyOnVercel: [VercelRecord] = []
        fileprivate let isOneEnvironment: Bool
        /// Whether Vercel listed every record that it has.
        fileprivate let isComplete: Bool

        /// Matches the records of both sides.
        ///
        /// - Parameters:
        ///   - variables: The project's live records.
        ///   - place: The environment of a program; nil to compare all records.
        package init(
            variables: [Variable], platform: ListedRecords, place: ValueTarget?
        ) {
            isOneEnvironment = place != nil
            isComplete = platform.isComplete
            guard let place else {
                let pairs = PullPairs(variables: variables, platform: platform, rules: .init())
                for pair in pairs.pairs { add(pair.variable, pair.record) }
                return
            }
            let here = EffectiveVariables.inPlace(place, among: variables)
            let there = Self.inPlace(place, among: platform)
            for variable in here { add(variable, there[variable.name]) }
            let names = Set(here.map(\.name))
            for record in there.values where !names.contains(record.key) { add(nil, record) }
        }

        private mutating func add(_ variable: Variable?, _ record: VercelRecord?) {
            switch (variable, record) {
            case (let variable?, let record?): both.append(Pair(variable: variable, record: record))
            case (let variable?, nil): onlyInVault.append(variable)
            case (nil, let record?): onlyOnVercel.append(record)
            case (nil, nil): break
            }
        }

        private static func inPlace(
            _ place: ValueTarget, among platform: ListedRecords
        ) -> [String: VercelRecord] {
            let project = Identifier.random()
            let stands = platform.map { record in
                (
                    Variable(
                        project: project, name: record.key, attributes: record.attributes,
                        createdAt: 0), record
                )
            }
            let records = Dictionary(uniqueKeysWithValues: stands.map { ($0.0.id, $0.1) })
            let seen = EffectiveVariables.inPlace(place, among: stands.map(\.0))
            return Dictionary(
                firstOf: seen.compactMap { variable in
                    records[variable.id].map { (variable.name, $0) }
                })
        }
    }
}

extension VercelDifference.Pair {
    /// Returns the attributes that differ. Within one environment the scope does not matter.
    fileprivate func differing(inOnePlace: Bool) -> [String] {
        var differing: [String] = []
        if variable.name != record.key { differing.append("key") }
        if variable.attributes.kind != record.attributes.kind { differing.append("type") }
        if !inOnePlace && variable.attributes.scope != record.attributes.scope {
            differing.append("scope")
        }
        if variable.attributes.comment != record.attributes.comment { differing.append("comment") }
        return differing
    }
}
