internal import Sealing
package import Vault

/// Compares the values that somebody knows with those in use.
package struct ExposureComparison {
    /// A variable with known versions.
    package struct Item {
        package let id: Identifier
        package let variable: Identifier?
        package let project: Identifier
        package let name: String
        package let scope: Scope
        package let isInUse: Bool
        package let isContested: Bool
        /// The known values; nil where one does not open.
        package let known: [ValueFingerprints.Fingerprint?]
        /// When the first of them was stored, in milliseconds since 1970.
        package let since: UInt64
        /// The values in use: several if the variable is contested; nil where one does not open.
        package let current: [ValueFingerprints.Fingerprint?]
        /// The known versions, by the vault's numbers, as far as it has them.
        package let numbers: Set<UInt64>
        package let acceptance: ExposedVariable.Acceptance?
    }

    private let fingerprints: ValueFingerprints
    private let index: VaultIndex
    private let reader: ValueReader

    /// - Parameter index: With all versions.
    package init(
        _ fingerprints: ValueFingerprints, _ index: VaultIndex, _ reader: ValueReader
    ) {
        (self.fingerprints, self.index, self.reader) = (fingerprints, index, reader)
    }

    /// Shorter values are equal by chance: `true`, `3000`, `info`.
    package static let distinctiveByteCount = 8

    /// Returns the variables by project and name.
    package func variables(_ items: [Item]) throws -> [ExposedVariable] {
        let revoked = try revokedVersions()
        let holders = try holders()
        let standings = items.map { Self.standing($0, Set($0.known.compactMap { $0 })) }
        let listed = Set(
            zip(items, standings).compactMap { $1 == .known ? $0.variable : nil })
        return zip(items, standings).map { item, standing in
            let copies = Set(item.known.compactMap { $0 }).flatMap { holders[$0] ?? [] }
                .filter { $0 != item.variable && !listed.contains($0) }
            return ExposedVariable(
                id: item.id, variable: item.variable, project: item.project, name: item.name,
                scope: item.scope, versionCount: item.known.count, since: item.since,
                standing: standing,
                unrevokedCount: unrevoked(item, revoked), copies: copies.sorted(),
                acceptance: item.acceptance)
        }.sorted {
            (index.project($0.project)?.name ?? "", $0.name, $0.scope.description, $0.id)
                < (index.project($1.project)?.name ?? "", $1.name, $1.scope.description, $1.id)
        }
    }

    private static func standing(
        _ item: Item, _ known: Set<ValueFingerprints.Fingerprint>
    ) -> ExposedVariable.Standing {
        if !item.isInUse { return .removed }
        if item.current.contains(where: { $0.map(known.contains) == true }) { return .known }
        if item.current.contains(nil) || item.known.contains(nil) { return .unreadable }
        return item.isContested ? .contested : .replaced
    }

    private func unrevoked(_ item: Item, _ revoked: [Identifier: Set<UInt64>]) -> Int {
        let current = item.variable.flatMap { id in
            index.variables.first { $0.id == id }?.currentVersion
        }
        let ended = item.variable.flatMap { revoked[$0] } ?? []
        let inUse = item.isInUse ? current.map { item.numbers.contains($0) ? 1 : 0 } ?? 0 : 0
        return max(0, item.known.count - inUse - item.numbers.intersection(ended).count)
    }

    /// The versions that a finished rotation revoked, by variable.
    private func revokedVersions() throws -> [Identifier: Set<UInt64>] {
        var found: [Identifier: Set<UInt64>] = [:]
        for rotation in try index.rotations()
        where rotation.plan.commands.revoke != nil && rotation.progress[.revoke] == .done {
            for record in rotation.plan.members.flatMap(\.records) {
                found[record.variable, default: []].insert(record.oldVersion)
            }
        }
        return found
    }

    /// The variables in use that hold each value, without values that many have by chance.
    private func holders() throws -> [ValueFingerprints.Fingerprint: [Identifier]] {
        var found: [ValueFingerprints.Fingerprint: [Identifier]] = [:]
        let arena = SecretArena()
        for variable in index.variables where variable.isLive && variable.currentVersion > 0 {
            guard let version = index.currentVersions[variable.id] else { continue }
            let value = try reader.value(of: variable, version, in: arena)
            guard value.count >= Self.distinctiveByteCount else { continue }
            found[try fingerprints.fingerprint(of: value), default: []].append(variable.id)
        }
        return found
    }
}
