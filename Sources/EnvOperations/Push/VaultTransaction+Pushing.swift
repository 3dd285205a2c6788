package import Vault

extension VaultTransaction {
    /// Saves the results of a push of a project, and what it is about to send.
    ///
    /// - Parameter vercelTime: Vercel's time by which the results were seen.
    package mutating func keep(
        _ note: SendNote, of project: Identifier, account: String, time: UInt64,
        vercelTime: UInt64
    ) {
        keep(note.records, account: account, time: time, vercelTime: vercelTime)
        addTraces(
            of: note.departed.map {
                ProductionRemoval(key: $0.key, attributes: $0.attributes, vercelTime: vercelTime)
            },
            of: project, account: account, time: time)
        end(note.ended)
        begin(note.begun)
    }

    /// Saves the results of writes with formerly unknown outcome.
    package mutating func keep(_ resolution: SendResolution, account: String, time: UInt64) {
        keep(resolution.records, account: account, time: time)
        end(resolution.settled)
    }

    /// Saves the results of a push.
    ///
    /// - Parameters:
    ///   - account: The account that sent it.
    ///   - time: Milliseconds since 1970 by this machine's clock.
    ///   - vercelTime: Vercel's time by which the results were seen; nil if no record is gone.
    package mutating func keep(
        _ records: [RecordUpdate], account: String, time: UInt64, vercelTime: UInt64? = nil
    ) {
        let positions = Dictionary(
            firstOf: index.variables.enumerated().map { ($0.element.id, $0.offset) })
        var departures: [Identifier: [ProductionRemoval]] = [:]
        var touched: Set<Identifier> = []
        for entry in records {
            guard let position = positions[entry.variable] else { continue }
            let known = index.variables[position].remote
            let project = index.variables[position].project
            touched.insert(project)
            // A value that Vercel shows but that has not been seen yet must still be pulled.
            let variable = index.variables[position]
            let awaited =
                variable.currentVersion == 0 && SyncState(of: variable) == .behind
                ? known?.agreedUpdatedAt : nil
            switch entry.knowledge {
            case .gone: endRemote(at: position, by: vercelTime ?? time)
            case .sent(let record, let withValue, let place):
                // The previous state stays agreed until the rest is verified.
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
                // For a removed record, only the listing shows whether another one is in its place.
                if record != nil || variable.isLive {
                    index.variables[position].remote?.isGone = record == nil
                }
            case .agreed(let record, let version, let attributes):
                if let removal = known?.removal(
                    with: attributes, by: max(record.updatedAt, vercelTime ?? 0))
                {
                    departures[project, default: []].append(removal)
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
            addTraces(of: departures, of: project, account: account, time: time)
        }
        for project in touched { dropObsoleteTraces(of: project) }
    }

    /// Records Vercel's records of equal value, scope and type as pushed.
    ///
    /// - Parameter versions: The compared version by record. The vault may have a newer one by now,
    ///   which Vercel does not have; a record removed meanwhile adopts nothing.
    package mutating func adopt(
        _ adopted: [Identifier: VercelRecord], versions: [Identifier: UInt64], account: String,
        time: UInt64
    ) {
        let records = adopted.compactMap { id, record -> RecordUpdate? in
            guard let position = position(of: id), let version = versions[id],
                index.variables[position].isLive
            else { return nil }
            if index.variables[position].remote == nil,
                index.variables[position].attributes.comment == nil
            {
                index.variables[position].attributes.comment = record.attributes.comment
            }
            return RecordUpdate(
                variable: id,
                knowledge: .agreed(record, version: version, attributes: record.attributes))
        }
        keep(records, account: account, time: time)
    }

    /// Forgets Vercel's record of variables that are removed on both sides, except for its end if
    /// production may have been built before.
    ///
    /// - Parameter vercelTime: Vercel's time when they were seen to be gone.
    package mutating func forget(_ variables: [Identifier], by vercelTime: UInt64) {
        for id in variables {
            if let position = position(of: id) { endRemote(at: position, by: vercelTime) }
        }
    }

    /// Records that Vercel has no record any more. For a removed production variable, that time is
    /// kept until a later deployment is live.
    mutating func endRemote(at position: Int, by vercelTime: UInt64) {
        let variable = index.variables[position]
        guard !variable.isLive, var remote = variable.remote,
            remote.agreed.scope.targets.contains(.production)
        else {
            index.variables[position].remote = nil
            return
        }
        remote.end(by: vercelTime)
        index.variables[position].remote = remote
    }
}

extension RemoteState {
    /// Returns the value to remember once another version is sent: the replaced one or, if that
    ///   version was there before, the time of that.
    ///
    /// - Parameter place: Vercel's record right before. If its modification time is not the agreed
    ///   one, another user's value was replaced.
    fileprivate func earlier(
        before version: UInt64, _ record: VercelRecord, inPlaceOf place: VercelRecord?
    ) -> EarlierValue? {
        guard hasPlace(of: record) else { return nil }
        if let earlier, earlier.version == version || pushedVersion == 0 { return earlier }
        guard pushedVersion > 0, place?.updatedAt == agreedUpdatedAt else { return nil }
        return EarlierValue(
            version: pushedVersion, from: agreedUpdatedAt, until: record.updatedAt)
    }

    fileprivate func hasPlace(of record: VercelRecord) -> Bool {
        !isGone && id == record.id && key == record.key && agreed.scope == record.attributes.scope
    }
}
