package import Vault

extension VaultTransaction {
    /// Keeps what a push of a project left on the platform, and what it is about to do there.
    ///
    /// - Parameter platformTime: The platform's time by which that was seen.
    package mutating func keep(
        _ note: PushNote, of project: Identifier, account: String, time: UInt64,
        platformTime: UInt64
    ) {
        keep(note.records, account: account, time: time, platformTime: platformTime)
        leaveTraces(
            of: note.departed.map { Departure(of: $0.key, $0.attributes, by: platformTime) },
            of: project, account: account, time: time)
        end(note.ended)
        begin(note.begun)
    }

    /// Keeps what became of writes whose outcome was not known.
    package mutating func keep(_ resolution: SendResolution, account: String, time: UInt64) {
        keep(resolution.records, account: account, time: time)
        end(resolution.settled)
    }

    /// Keeps what a push left on the platform.
    ///
    /// - Parameters:
    ///   - account: Through whom it was sent.
    ///   - time: This machine's clock, in milliseconds since 1970.
    ///   - platformTime: The platform's time by which that was seen; nil where nothing of it is gone.
    package mutating func keep(
        _ records: [PushRecord], account: String, time: UInt64, platformTime: UInt64? = nil
    ) {
        let positions = Dictionary(
            index.variables.enumerated().map { ($0.element.id, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        var departures: [Identifier: [Departure]] = [:]
        var touched: Set<Identifier> = []
        for entry in records {
            guard let position = positions[entry.variable] else { continue }
            let known = index.variables[position].remote
            let project = index.variables[position].project
            touched.insert(project)
            // A value that Vercel shows, and was not seen yet, is still to be taken by a pull.
            let variable = index.variables[position]
            let awaited =
                variable.currentVersion == 0 && SyncState(of: variable) == .behind
                ? known?.agreedUpdatedAt : nil
            switch entry.knowledge {
            case .gone: endRemote(at: position, by: platformTime ?? time)
            case .sent(let record, let withValue, let place):
                // What was there before stays agreed until the rest is proved.
                let version = withValue ? 0 : known?.pushedVersion ?? 0
                let before = withValue ? nil : place
                var remote = RemoteState(
                    id: record.id, key: before?.key ?? record.key, account: account,
                    pushedVersion: version,
                    agreed: before?.attributes ?? known?.agreed ?? record.attributes,
                    updatedAt: record.updatedAt, pushedAt: time)
                if withValue {
                    remote.earlier = known?.earlier(
                        before: index.variables[position].currentVersion, record,
                        inPlaceOf: place)
                } else if let awaited {
                    remote.agreedUpdatedAt = awaited
                }
                index.variables[position].remote = remote
            case .seen(let record):
                if let record {
                    index.variables[position].remote?.seenUpdatedAt = record.updatedAt
                }
                // Whether another one is in the place of a removed one is seen in the list.
                if record != nil || variable.isLive {
                    index.variables[position].remote?.isGone = record == nil
                }
            case .agreed(let record, let version, let attributes):
                if let known, known.leavesProduction(with: attributes) {
                    departures[project, default: []].append(
                        Departure(
                            of: known.key, known.agreed,
                            by: max(record.updatedAt, platformTime ?? 0)))
                }
                var remote = RemoteState(
                    id: record.id, key: record.key, account: account,
                    pushedVersion: version ?? known?.pushedVersion ?? 0, agreed: attributes,
                    updatedAt: record.updatedAt, pushedAt: time)
                if version != nil, known?.hasPlace(of: record) == true {
                    remote.earlier = known?.earlier
                }
                if version == nil, let awaited, record.attributes.kind != .sensitive {
                    remote.agreedUpdatedAt = awaited
                }
                index.variables[position].remote = remote
            }
        }
        for (project, departures) in departures {
            leaveTraces(of: departures, of: project, account: account, time: time)
        }
        for project in touched { dropReturned(of: project) }
    }

    /// Takes platform records whose value, scope and type were found equal as pushed.
    ///
    /// - Parameter versions: Which version was compared, by record. The vault may have a newer one by
    ///   now, which the platform does not have; a record removed meanwhile adopts nothing.
    package mutating func adopt(
        _ adopted: [Identifier: PlatformRecord], versions: [Identifier: UInt64], account: String,
        time: UInt64
    ) {
        let records = adopted.compactMap { id, record -> PushRecord? in
            guard let position = position(of: id), let version = versions[id],
                index.variables[position].isLive
            else { return nil }
            if index.variables[position].remote == nil,
                index.variables[position].attributes.comment == nil
            {
                index.variables[position].attributes.comment = record.attributes.comment
            }
            return PushRecord(
                variable: id,
                knowledge: .agreed(record, version: version, attributes: record.attributes))
        }
        keep(records, account: account, time: time)
    }

    /// Forgets the platform's record of variables that are removed on both sides, but for when it ended where
    /// production may have been built before.
    ///
    /// - Parameter platformTime: The platform's time when they were seen to be gone.
    package mutating func forget(_ variables: [Identifier], by platformTime: UInt64) {
        for id in variables {
            if let position = position(of: id) { endRemote(at: position, by: platformTime) }
        }
    }

    /// Notes that the platform has nothing of a record any more. Of a removed one of production it stays known
    /// when that was, until what serves production was made later.
    mutating func endRemote(at position: Int, by platformTime: UInt64) {
        let variable = index.variables[position]
        guard !variable.isLive, var remote = variable.remote,
            remote.agreed.scope.targets.contains(.production)
        else {
            index.variables[position].remote = nil
            return
        }
        remote.end(by: platformTime)
        index.variables[position].remote = remote
    }

    /// Keeps what was seen of the platform without writing to it.
    ///
    /// - Parameter listedAt: When the list was asked for, by this machine's clock; what another
    ///   process pushed since is newer than the list.
    /// - Parameter platformTime: The platform's time of the list.
    package mutating func see(
        _ platform: [PlatformRecord], listedAt: UInt64, platformTime: UInt64, of project: Identifier
    ) {
        let news = index.news(from: platform, listedAt: listedAt, of: project, by: platformTime)
        for (position, remote) in news { index.variables[position].remote = remote }
    }

    /// Keeps which deployment serves production. What a record without a value stands for that was removed
    /// before it was made is forgotten; other removed records keep when that was, for a rollback.
    ///
    /// - Parameter removed: Records that were gone from the platform before it was asked for it, whatever its
    ///   clock says.
    package mutating func see(
        live: VaultProject.LiveDeployment?, of project: Identifier, time: UInt64,
        without removed: Set<Identifier> = []
    ) {
        guard let position = index.projects.firstIndex(where: { $0.id == project }) else { return }
        index.projects[position].live = live
        index.projects[position].seenAt = time
        let seen = index.projects[position]
        for place in index.variables.indices where index.variables[place].project == project {
            guard index.variables[place].isRemovedEverywhere else { continue }
            if let live, removed.contains(index.variables[place].id) {
                let time = index.variables[place].remote?.seenUpdatedAt ?? 0
                index.variables[place].remote?.seenUpdatedAt = min(time, live.createdAt &- 1)
            }
            let variable = index.variables[place]
            if SyncState.isLive(variable, in: seen) == false { continue }
            if live == nil || variable.isTrace || !variable.wasInProduction {
                index.variables[place].remote = nil
            }
        }
        dropTraces(of: project) { $0.remote == nil }
    }
}

extension VaultIndex {
    /// Tells whether ``VaultTransaction/see(_:listedAt:of:)`` would change anything.
    package func learns(
        from platform: [PlatformRecord], listedAt: UInt64, of project: Identifier
    ) -> Bool {
        !news(from: platform, listedAt: listedAt, of: project, by: 0).isEmpty
    }

    /// What the vault's records are to remember of the platform after a list of it, by position; only
    /// those of which it is another thing than before.
    fileprivate func news(
        from platform: [PlatformRecord], listedAt: UInt64, of project: Identifier,
        by platformTime: UInt64
    ) -> [Int: RemoteState] {
        let found = Dictionary(
            platform.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let positions = variables.indices.filter { variables[$0].project == project }
        let owned = Set(positions.compactMap { variables[$0].remote?.id })
        let strangers = Dictionary(
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
                    strangers[remote.key]?.first(where: place.isTaken)
                })
            {
                // Another one is in its place, which is a change and no end.
                seen.isGone = false
                seen.seenUpdatedAt = max(remote.agreedUpdatedAt &+ 1, other.updatedAt)
            } else {
                seen.end(by: platformTime)
            }
            if seen != remote { news[position] = seen }
        }
        return news
    }
}

extension RemoteState {
    /// Which value to remember once another version is sent: the one that is replaced or, where that version
    /// was there before, when it was.
    ///
    /// - Parameter place: Vercel's record right before; another time of change than was agreed on means that
    ///   somebody else's value was replaced.
    fileprivate func earlier(
        before version: UInt64, _ record: PlatformRecord, inPlaceOf place: PlatformRecord?
    ) -> EarlierValue? {
        guard hasPlace(of: record) else { return nil }
        if let earlier, earlier.version == version || pushedVersion == 0 { return earlier }
        guard pushedVersion > 0, place?.updatedAt == agreedUpdatedAt else { return nil }
        return EarlierValue(
            version: pushedVersion, from: agreedUpdatedAt, until: record.updatedAt)
    }

    fileprivate func hasPlace(of record: PlatformRecord) -> Bool {
        !isGone && id == record.id && key == record.key && agreed.scope == record.attributes.scope
    }
}
