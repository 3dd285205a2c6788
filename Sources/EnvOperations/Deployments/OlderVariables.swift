package import Vault
package import VercelAPI

/// The production variables that differ in an older deployment: making it live again restores their
/// older values. Contains names only.
package struct OlderVariables: Equatable, Sendable {
    /// Changed on Vercel since it was created, sorted.
    package let changed: [String]
    /// Not yet present when it was created, sorted.
    package let missing: [String]
    /// Removed from the vault since, so the deployment still has them; sorted.
    package let removed: [String]

    /// Whether there is any information: Vercel's records, or the vault's.
    package let isKnown: Bool

    /// Whether no known variable differs.
    package var isEmpty: Bool { changed.isEmpty && missing.isEmpty && removed.isEmpty }

    /// - Parameters:
    ///   - platform: Vercel's records; nil if they cannot be listed, in which case the vault's last
    ///     known state counts.
    ///   - local: The vault's records of the project, including removed ones.
    package init(
        in deployment: Deployment, platform: VariableList<EnvironmentVariable>?,
        local: [Variable]
    ) {
        guard let made = deployment.createdAt else {
            (changed, missing, removed, isKnown) = ([], [], [], false)
            return
        }
        let isComplete = platform?.hiddenProduction == 0
        isKnown = isComplete || !local.isEmpty
        // A value that was restored since, for example by a reverted rotation, is the same as then.
        let same = Set(
            local.compactMap { variable -> Place? in
                guard let remote = variable.remote,
                    remote.hadValue(at: UInt64(clamping: made.milliseconds))
                else { return nil }
                return Place(record: remote.id, time: .init(remote.agreedUpdatedAt))
            })
        var changed: Set<String> = []
        var missing: Set<String> = []
        var present: Set<String> = []
        let listed = Set((platform?.variables ?? []).map(\.id))
        if let platform {
            for record in platform.variables where record.targets.contains(.production) {
                present.insert(record.key)
                if let updated = record.updatedAt,
                    same.contains(Place(record: record.id, time: updated))
                {
                    continue
                }
                if let created = record.createdAt, created > made {
                    missing.insert(record.key)
                } else if let updated = record.updatedAt, updated > made {
                    changed.insert(record.key)
                }
            }
        }
        // What Vercel does not show is as the vault last saw it.
        if !isComplete {
            for record in local where record.isLive {
                guard let remote = record.remote, !remote.isGone, !listed.contains(remote.id),
                    remote.agreed.scope.targets.contains(.production)
                else { continue }
                present.insert(remote.key)
                if same.contains(Place(record: remote.id, time: .init(remote.seenUpdatedAt))) {
                    continue
                }
                if APITime(remote.seenUpdatedAt) > made {
                    changed.insert(remote.key)
                }
            }
        }
        let removed = local.filter { record in
            guard let deletedAt = record.deletedAt,
                record.attributes.scope.targets.contains(.production)
            else { return false }
            return APITime(deletedAt) > made
                && !present.contains(record.name)
        }
        self.changed = changed.sorted()
        // A variable that was replaced by a new record has an older value, if any.
        self.missing = missing.subtracting(changed).sorted()
        self.removed = Set(removed.map(\.name)).sorted()
    }

    /// A record on Vercel at one modification time.
    private struct Place: Hashable {
        let record: String
        let time: APITime
    }
}

extension APITime {
    fileprivate init(_ milliseconds: UInt64) {
        self.init(milliseconds: Int64(clamping: milliseconds))
    }
}
