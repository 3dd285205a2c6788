package import Vault

/// The versions of one record, and which of them may be pruned.
package struct History {
    package let variable: Variable
    /// In ascending order.
    package let versions: [StoredVersion]
    /// Whether unfinished work may need any of them.
    private let needsAll: Bool
    /// Versions sent by writes with unknown outcome, which the next push compares.
    private let neededVersions: Set<UInt64>

    /// Versions younger than this are never pruned.
    package static let protectedMilliseconds: UInt64 = 30 * 86_400_000

    /// - Parameter index: Must be completely decoded.
    package init(of variable: Variable, in index: VaultIndex) {
        let earlier = index.earlierVersions.filter { $0.variable == variable.id }
        self.init(
            of: variable, earlier + (index.currentVersions[variable.id].map { [$0] } ?? []),
            Journal(index))
    }

    fileprivate init(of variable: Variable, _ versions: [StoredVersion], _ journal: Journal) {
        self.variable = variable
        self.versions = versions.sorted { $0.version < $1.version }
        needsAll = journal.hasOtherWork
        neededVersions = journal.sent[variable.id] ?? []
    }

    /// The part of a vault's journal that concerns versions.
    fileprivate struct Journal {
        let hasOtherWork: Bool
        /// By record.
        let sent: [Identifier: Set<UInt64>]

        init(_ index: VaultIndex) {
            // An unreadable entry may need anything.
            let sends = try? index.sends()
            hasOtherWork = sends == nil || index.otherOpenWorkCount > 0
            var sent: [Identifier: Set<UInt64>] = [:]
            for send in sends ?? [] {
                if let variable = send.variable { sent[variable, default: []].insert(send.version) }
            }
            self.sent = sent
        }
    }

    /// Returns the version with that number.
    package func version(_ number: UInt64) -> StoredVersion? {
        versions.first { $0.version == number }
    }

    /// Returns the versions to prune: all but the newest `keep`, but never the current one, one
    ///   younger than 30 days, the one on Vercel, or one that a push may have sent. Empty while
    ///   other work is unfinished, because it may need any of them.
    package func prunable(keeping keep: Int, at time: UInt64) -> [StoredVersion] {
        if needsAll { return [] }
        return versions.dropLast(max(keep, 1)).filter { version in
            version.version != variable.currentVersion
                && version.version != variable.vercelVersion
                && !neededVersions.contains(version.version)
                && time > version.createdAt
                && time - version.createdAt >= Self.protectedMilliseconds
        }
    }
}

extension VaultTransaction {
    /// Returns whether a record that got a version in this transaction has one old enough to prune.
    package func mayPrune(at time: UInt64) -> Bool {
        guard time > History.protectedMilliseconds, !index.earlierVersions.isEmpty else {
            return false
        }
        let latest = time - History.protectedMilliseconds
        return index.earlierVersions.contains {
            $0.createdAt <= latest && storedVariables.contains($0.variable)
        }
    }

    /// Prunes the history of every record that got a version in this transaction.
    package mutating func pruneHistory(keeping keep: Int, at time: UInt64) {
        let earlier = Dictionary(
            grouping: index.earlierVersions.filter { storedVariables.contains($0.variable) },
            by: \.variable)
        let journal = History.Journal(index)
        let shared = index.sharedProjectIDs
        let versions = index.variables.flatMap { variable -> [StoredVersion] in
            guard let versions = earlier[variable.id], !shared.contains(variable.project) else {
                return []
            }
            let current = index.currentVersions[variable.id].map { [$0] } ?? []
            // What is replaced just now may be old: an earlier version that was restored.
            return History(of: variable, versions + current, journal)
                .prunable(keeping: keep, at: time).filter { !wasCurrent($0) }
        }
        erase(versions)
    }
}
