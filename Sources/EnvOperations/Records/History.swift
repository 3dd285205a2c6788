package import Vault

/// The versions of one record, and which of them may go.
package struct History {
    /// The record.
    package let variable: Variable
    /// In ascending order of numbers, the current one last where there is one.
    package let versions: [StoredVersion]
    /// Versions that a write of unknown outcome sent: the next push compares with them.
    private let neededVersions: Set<UInt64>

    /// Versions younger than this are never pruned.
    package static let protectedMilliseconds: UInt64 = 30 * 86_400_000

    /// Gathers the versions of a record.
    ///
    /// - Parameter index: Decoded as a whole.
    package init(of variable: Variable, in index: VaultIndex) {
        self.variable = variable
        let earlier = index.earlierVersions.filter { $0.variable == variable.id }
        versions =
            (earlier + (index.currentVersions[variable.id].map { [$0] } ?? []))
            .sorted { $0.version < $1.version }
        // An entry that cannot be read names no version; the push that stumbles over it says so.
        let sends = (try? index.sends(of: variable.project)) ?? []
        neededVersions = Set(sends.filter { $0.variable == variable.id }.map(\.version))
    }

    /// The version of that number.
    package func version(_ number: UInt64) -> StoredVersion? {
        versions.first { $0.version == number }
    }

    /// What pruning would drop: all but the newest `keep`, never the current one, one younger than
    /// 30 days, the one that the platform has, or one that a push may have brought there.
    package func prunable(keeping keep: Int, at time: UInt64) -> [StoredVersion] {
        versions.dropLast(max(keep, 1)).filter { version in
            version.version != variable.currentVersion
                && version.version != variable.remote?.pushedVersion
                && !neededVersions.contains(version.version)
                && time > version.createdAt
                && time - version.createdAt >= Self.protectedMilliseconds
        }
    }
}
