package import Vault

extension VaultIndex {
    /// Brings a project to what a look at Vercel shows, in memory.
    package mutating func see(_ snapshot: ProjectSnapshot) {
        see(
            snapshot.records, listedAt: snapshot.listedAt, vercelTime: snapshot.vercelTime,
            of: snapshot.project)
        see(live: snapshot.live, of: snapshot.project, time: snapshot.listedAt)
    }

    /// Brings the records to what a listing shows, in memory: what was only seen is not the vault's
    /// to keep.
    ///
    /// - Parameters:
    ///   - listedAt: When the list was requested, by this machine's clock. What another process
    ///     pushed since is newer than the list.
    ///   - vercelTime: Vercel's time of the list.
    package mutating func see(
        _ platform: ListedRecords, listedAt: UInt64, vercelTime: UInt64, of project: Identifier
    ) {
        let news = news(from: platform, listedAt: listedAt, of: project, by: vercelTime)
        for (position, remote) in news { variables[position].remote = remote }
    }

    /// Brings the project to the live deployment. Traces of variables removed before it was built
    /// are dropped; other removed records keep their time for a rollback.
    package mutating func see(
        live: VaultProject.LiveDeployment?, of project: Identifier, time: UInt64
    ) {
        guard let position = projects.firstIndex(where: { $0.id == project }) else { return }
        projects[position].live = live
        projects[position].seenAt = time
        forgetRemovals(of: project, builtWithout: live, seenAt: time)
    }

    /// Drops the end of removed records that no deployment will need any more: production was built
    /// without them, or nothing is live.
    package mutating func forgetRemovals(
        of project: Identifier, builtWithout live: VaultProject.LiveDeployment?, seenAt: UInt64
    ) {
        guard var seen = self.project(project) else { return }
        (seen.live, seen.seenAt) = (live, seenAt)
        for place in variables.indices where variables[place].project == project {
            let variable = variables[place]
            guard variable.isRemovedEverywhere, SyncState.isLive(variable, in: seen) != false
            else { continue }
            if live == nil || variable.isTrace || !variable.wasInProduction {
                variables[place].remote = nil
            }
        }
        dropTraces(of: project) { $0.remote == nil }
    }

    /// Keeps the end of records whose places the vault has left, by removing or renaming their
    /// variables: one that is created there afterwards is an ordinary one.
    package mutating func endVacated(
        _ platform: ListedRecords, listedAt: UInt64, vercelTime: UInt64, of project: Identifier
    ) {
        let vacated = VacatedScopes(variables.lazy.filter { $0.project == project })
        let news = news(from: platform, listedAt: listedAt, of: project, by: vercelTime)
        for (position, remote) in news
        where remote.isGone && vacated.place(of: variables[position]) != nil {
            variables[position].remote = remote
        }
    }

    /// Returns the states of the records after a listing, by position, if they differ.
    private func news(
        from platform: ListedRecords, listedAt: UInt64, of project: Identifier,
        by vercelTime: UInt64
    ) -> [Int: RemoteState] {
        let found = Dictionary(firstOf: platform.map { ($0.id, $0) })
        let positions = variables.indices.filter { variables[$0].project == project }
        let owned = Set(positions.compactMap { variables[$0].remote?.id })
        let unownedRecords = Dictionary(
            grouping: platform.filter { !owned.contains($0.id) }, by: \.key)
        let vacated = VacatedScopes(positions.lazy.map { variables[$0] })
        var news: [Int: RemoteState] = [:]
        for position in positions {
            let variable = variables[position]
            guard let remote = variable.remote, remote.pushedAt < listedAt else { continue }
            var seen = remote
            if let record = found[remote.id] {
                seen.seenUpdatedAt = record.updatedAt
                seen.isGone = false
            } else if !variable.isLive,
                let other = vacated.place(of: variable).flatMap({ place in
                    unownedRecords[remote.key]?.first(where: place.isTaken)
                })
            {
                // Another record is in its place, which is a change and not the end.
                seen.isGone = false
                seen.seenUpdatedAt = max(remote.agreedUpdatedAt &+ 1, other.updatedAt)
            } else if platform.isComplete {
                seen.end(by: vercelTime)
            }
            if seen != remote { news[position] = seen }
        }
        return news
    }
}
