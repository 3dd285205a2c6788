package import Vault

/// What Vercel showed of a project at the last look, as far as the vault does not say it.
///
/// It decides what lists show and nothing else: it is kept with the index key alone, which is enough
/// to forge it. What writes the vault, changes something on Vercel or answers by its exit code asks
/// Vercel instead.
package struct ProjectSighting: CacheableResponse, Equatable {
    /// The state of a variable's record, seen while the vault's own state was as given.
    struct Record: Codable, Equatable, Sendable {
        /// Identify the agreement that it was seen under: any later one takes its place.
        let id: String
        let agreedUpdatedAt: UInt64
        let pushedAt: UInt64
        /// As in ``RemoteState``.
        var seenUpdatedAt: UInt64
        var isGone: Bool
    }

    /// The live deployment, by Vercel's id and creation time.
    struct Live: Codable, Equatable, Sendable {
        let id: String
        let createdAt: UInt64
    }

    /// By the hexadecimal id of the variable.
    var records: [String: Record] = [:]
    /// The hexadecimal ids of variables of which Vercel has a record of its own, which the vault
    /// never agreed on.
    var occupied: [String] = []
    var live: Live?
    /// When the live deployment was asked for, by this machine's clock; 0 for never.
    var seenAt: UInt64 = 0

    package init() {}

    // MARK: Looking

    /// Notes a listing.
    ///
    /// - Parameters:
    ///   - index: The vault, without sightings.
    ///   - listedAt: When the list was requested, by this machine's clock. What was pushed since is
    ///     newer than the list.
    ///   - vercelTime: Vercel's time of the list.
    package mutating func note(
        _ listing: ListedRecords, listedAt: UInt64, vercelTime: UInt64, of project: Identifier,
        in index: VaultIndex
    ) {
        var seen = index
        show(in: &seen.variables, of: project)
        seen.see(listing, listedAt: listedAt, vercelTime: vercelTime, of: project)
        note(seen.variables, of: project, in: index)
        let listed = Dictionary(grouping: listing.records, by: \.key)
        occupied =
            index.variables(of: project).filter { variable in
                variable.remote == nil
                    && listed[variable.name]?.contains {
                        $0.attributes.scope.overlaps(variable.attributes.scope)
                    } == true
            }.map(\.id.hexadecimal)
    }

    /// Returns the variables that the vault never agreed on with Vercel, where Vercel has a record of
    /// the same key in a part of the scope.
    package func occupied(of project: Identifier, in index: VaultIndex) -> [Variable] {
        if occupied.isEmpty { return [] }
        return index.variables(of: project).filter {
            $0.remote == nil && occupied.contains($0.id.hexadecimal)
        }
    }

    /// Notes the live deployment.
    ///
    /// - Parameter removed: Records that were gone from Vercel before the request, regardless of its
    ///   clock.
    package mutating func note(
        live: VaultProject.LiveDeployment?, at time: UInt64, without removed: Set<Identifier>,
        of project: Identifier, in index: VaultIndex
    ) {
        self.live = live.map { Live(id: $0.id, createdAt: $0.createdAt) }
        seenAt = time
        guard let live, !removed.isEmpty else { return }
        var seen = index
        show(in: &seen.variables, of: project)
        for place in seen.variables.indices where removed.contains(seen.variables[place].id) {
            guard seen.variables[place].isRemovedEverywhere else { continue }
            let time = seen.variables[place].remote?.seenUpdatedAt ?? 0
            seen.variables[place].remote?.seenUpdatedAt = min(time, live.createdAt &- 1)
        }
        note(seen.variables, of: project, in: index)
    }

    /// Keeps the differences between what was seen and what the vault says.
    private mutating func note(
        _ seen: [Variable], of project: Identifier, in index: VaultIndex
    ) {
        records = [:]
        for (known, seen) in zip(index.variables, seen) where known.project == project {
            guard let known = known.remote, let seenRemote = seen.remote, known != seenRemote else {
                continue
            }
            records[seen.id.hexadecimal] = Record(
                id: known.id, agreedUpdatedAt: known.agreedUpdatedAt, pushedAt: known.pushedAt,
                seenUpdatedAt: seenRemote.seenUpdatedAt, isGone: seenRemote.isGone)
        }
    }

    // MARK: Showing

    /// Shows in an index what was seen.
    package func show(in index: inout VaultIndex, of project: Identifier) {
        show(in: &index.variables, of: project)
        guard let known = index.project(project), seenAt > known.seenAt else { return }
        index.see(
            live: live.map { .init(id: $0.id, createdAt: $0.createdAt) }, of: project, time: seenAt)
    }

    private func show(in variables: inout [Variable], of project: Identifier) {
        if records.isEmpty { return }
        for place in variables.indices where variables[place].project == project {
            guard let record = records[variables[place].id.hexadecimal],
                let remote = variables[place].remote, remote.id == record.id,
                remote.agreedUpdatedAt == record.agreedUpdatedAt,
                remote.pushedAt == record.pushedAt
            else { continue }
            variables[place].remote?.seenUpdatedAt = record.seenUpdatedAt
            variables[place].remote?.isGone = record.isGone
        }
    }
}
