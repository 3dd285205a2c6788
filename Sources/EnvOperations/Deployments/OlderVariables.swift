package import Vault
package import VercelAPI

/// Which of production's variables differ in a deployment that was built before they were changed:
/// whoever makes it live again brings their older values back. Names only.
package struct OlderVariables: Equatable, Sendable {
    /// Changed on the platform since it was made, sorted.
    package let changed: [String]
    /// Not there yet when it was made, sorted.
    package let missing: [String]
    /// Removed in the vault since: it still has those that were on the platform. Sorted.
    package let removed: [String]

    /// Whether anything is known: the platform's records, or the vault's of the project.
    package let isKnown: Bool

    /// Whether nothing of what is known differs.
    package var isEmpty: Bool { changed.isEmpty && missing.isEmpty && removed.isEmpty }

    /// - Parameters:
    ///   - platform: The platform's records; nil where they cannot be listed, and then what the
    ///     vault has seen of them counts.
    ///   - local: The vault's records of the project, removed ones too.
    package init(
        in deployment: Deployment, platform: [EnvironmentVariable]?, local: [Variable]
    ) {
        guard let made = deployment.createdAt else {
            (changed, missing, removed, isKnown) = ([], [], [], false)
            return
        }
        isKnown = platform != nil || !local.isEmpty
        // What came back since, such as after a rotation that went back, is as it was then.
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
        if let platform {
            for record in platform where record.targets.contains(.production) {
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
        } else {
            for record in local where record.isLive {
                guard let remote = record.remote, !remote.isGone,
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
        // A key that was replaced by a new record has an older value, if it had any.
        self.missing = missing.subtracting(changed).sorted()
        self.removed = Set(removed.map(\.name)).sorted()
    }

    /// A record of the platform as it was at one time of change.
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
