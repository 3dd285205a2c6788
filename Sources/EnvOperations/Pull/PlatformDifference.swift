package import Vault

/// How the vault stands against the platform, record by record, or key by key in one place. Pure.
package struct PlatformDifference: Equatable {
    /// What was found of one record.
    package enum State: String, CaseIterable, Sendable {
        /// Only the platform has it.
        case added
        /// Only the vault has it.
        case removed
        /// Both have it, differently.
        case changed
        /// Both have the same.
        case same
        /// Both have it; one of the values cannot be had.
        case unreadable
        /// Both have the name; nothing else was compared.
        case present
    }

    /// One record, or one key of a place.
    package struct Entry: Equatable, Sendable {
        /// The key.
        package let key: String
        /// Where.
        package let scope: Scope
        /// What was found.
        package let state: State
        /// What differs: `value`, `key`, `type`, `scope`, `comment`.
        package let differing: [String]
    }

    /// A record that both sides have.
    package struct Pair {
        /// The vault's side.
        package let variable: Variable
        /// The platform's side.
        package let record: PlatformRecord
    }

    /// By key and scope.
    package let entries: [Entry]

    /// The entries that are not known to be the same.
    package var differences: [Entry] {
        entries.filter { $0.state != .same && $0.state != .present }
    }

    /// The keys of one state, each once.
    package func keys(_ state: State) -> [String] {
        var keys: [String] = []
        for entry in entries where entry.state == state && keys.last != entry.key {
            keys.append(entry.key)
        }
        return keys
    }

    /// Compares.
    ///
    /// - Parameters:
    ///   - sides: Which records belong together.
    ///   - isEqual: Whether both sides hold one value, nil where one cannot be had; nil to compare
    ///     names alone.
    package init(_ sides: Sides, isEqual: ((Pair) throws -> Bool?)?) throws {
        var entries = sides.onlyThere.map {
            Entry(key: $0.key, scope: $0.attributes.scope, state: .added, differing: [])
        }
        entries += sides.onlyHere.map {
            Entry(key: $0.name, scope: $0.attributes.scope, state: .removed, differing: [])
        }
        for pair in sides.both {
            guard let isEqual else {
                entries.append(Self.entry(pair, .present, []))
                continue
            }
            let equality = try isEqual(pair)
            var differing = pair.differing(inOnePlace: sides.areInOnePlace)
            if equality == false { differing.insert("value", at: 0) }
            let state: State =
                differing.isEmpty ? (equality == nil ? .unreadable : .same) : .changed
            entries.append(Self.entry(pair, state, differing))
        }
        self.entries = entries.sorted {
            ($0.key, $0.scope.description) < ($1.key, $1.scope.description)
        }
    }

    private static func entry(_ pair: Pair, _ state: State, _ differing: [String]) -> Entry {
        Entry(
            key: pair.variable.name, scope: pair.variable.attributes.scope, state: state,
            differing: differing)
    }

    /// Which records of both sides belong together.
    package struct Sides {
        /// What both have.
        package private(set) var both: [Pair] = []
        fileprivate var onlyHere: [Variable] = []
        fileprivate var onlyThere: [PlatformRecord] = []
        fileprivate let areInOnePlace: Bool

        /// Brings sides together.
        ///
        /// - Parameters:
        ///   - variables: The project's records in use.
        ///   - place: Where a program would see them; nil for all records as they are.
        package init(
            variables: [Variable], platform: [PlatformRecord], place: EffectiveVariables.Place?
        ) {
            areInOnePlace = place != nil
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

        private mutating func add(_ variable: Variable?, _ record: PlatformRecord?) {
            switch (variable, record) {
            case (let variable?, let record?): both.append(Pair(variable: variable, record: record))
            case (let variable?, nil): onlyHere.append(variable)
            case (nil, let record?): onlyThere.append(record)
            case (nil, nil): break
            }
        }

        private static func inPlace(
            _ place: EffectiveVariables.Place, among platform: [PlatformRecord]
        ) -> [String: PlatformRecord] {
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
                seen.compactMap { variable in records[variable.id].map { (variable.name, $0) } },
                uniquingKeysWith: { first, _ in first })
        }
    }
}

extension PlatformDifference.Pair {
    /// What stands beside the value and differs. In one place the scope does not matter: both are
    /// seen there.
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
