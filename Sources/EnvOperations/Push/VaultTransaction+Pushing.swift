package import Vault

extension VaultTransaction {
    /// Saves the results of a push of a project, and what it is about to send.
    ///
    /// - Parameter vercelTime: Vercel's time by which the results were seen.
    package mutating func keep(
        _ note: SendNote, of project: Identifier, account: String, time: UInt64,
        vercelTime: UInt64
    ) {
        keep(note.records, of: project, account: account, time: time, vercelTime: vercelTime)
        addTraces(
            of: note.departed.map {
                ProductionRemoval(key: $0.key, attributes: $0.attributes, vercelTime: vercelTime)
            },
            of: project, account: account, time: time)
        end(note.ended)
        begin(note.begun)
    }

    /// Saves the results of a push.
    ///
    /// - Parameters:
    ///   - account: The account that sent it.
    ///   - time: Milliseconds since 1970 by this machine's clock.
    ///   - vercelTime: Vercel's time by which the results were seen; nil if no record is gone.
    package mutating func keep(
        _ records: [RecordUpdate], of project: Identifier, account: String, time: UInt64,
        vercelTime: UInt64? = nil
    ) {
        var departures: [ProductionRemoval] = []
        for entry in records {
            switch entry.knowledge {
            case .gone(let id):
                release(id, from: nil, of: project, by: vercelTime ?? time, &departures)
            case .released(let id, let scope):
                release(id, from: scope, of: project, by: vercelTime ?? time, &departures)
            case .seen(let record):
                guard let position = entry.variable.flatMap({ self.position(of: $0) }) else {
                    continue
                }
                if let record {
                    index.variables[position].remote?.seenUpdatedAt = record.updatedAt
                }
                // For a removed record, only the listing shows whether another one is in its place.
                if record != nil || index.variables[position].isLive {
                    index.variables[position].remote?.isGone = record == nil
                }
            case .sent(let record, _, _), .agreed(let record, _, _):
                guard let position = entry.variable.flatMap({ self.position(of: $0) }) else {
                    continue
                }
                let known = index.variables[position].remote
                let state = state(after: entry.knowledge, at: position, account, time)
                if case .agreed = entry.knowledge,
                    let removal = known?.removal(
                        with: state.agreed, by: max(record.updatedAt, vercelTime ?? 0))
                {
                    departures.append(removal)
                }
                // Under its former name it is still to be deleted.
                if let known, known.id != record.id, known.key != record.key, !known.isGone {
                    index.keepOtherAgreement(
                        StoredAgreement(known, of: index.variables[position].id), of: project)
                }
                index.variables[position].remote = nil
                take(state, of: record, in: project, by: vercelTime ?? time)
                index.variables[position].remote = state
            }
        }
        addTraces(of: departures, of: project, account: account, time: time)
        dropObsoleteTraces(of: project)
    }

    /// Returns what is known of a variable's record after a response, or once it was read back.
    private func state(
        after knowledge: RecordUpdate.Knowledge, at position: Int, _ account: String, _ time: UInt64
    ) -> RemoteState {
        let variable = index.variables[position]
        let known = variable.remote
        // A value that Vercel shows but that has not been seen yet must still be pulled.
        let awaited =
            variable.currentVersion == 0 && SyncState(of: variable) == .behind
            ? known?.agreedUpdatedAt : nil
        switch knowledge {
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
                    before: variable.currentVersion, record, inPlaceOf: place)
            } else if let awaited {
                remote.agreedUpdatedAt = awaited
            }
            return remote
        case .agreed(let record, let version, let attributes):
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
            return remote
        case .gone, .released, .seen: preconditionFailure("tells nothing of one variable")
        }
    }

    /// Records what listing and journal show to be agreed on, without any request.
    ///
    /// A record that was never pushed takes over the comment if it has none; one that was removed
    /// meanwhile agrees on nothing.
    package mutating func agree(
        on updates: [RecordUpdate], of project: Identifier, account: String, time: UInt64,
        vercelTime: UInt64
    ) {
        let updates = updates.filter { update in
            guard let id = update.variable else { return true }
            guard let position = position(of: id),
                index.variables[position].isLive || index.variables[position].remote != nil
            else { return false }
            if case .agreed(_, _, let attributes) = update.knowledge,
                index.variables[position].remote == nil,
                index.variables[position].attributes.comment == nil
            {
                index.variables[position].attributes.comment = attributes.comment
            }
            return true
        }
        for update in updates {
            let known = update.variable.flatMap { position(of: $0) }
                .flatMap { index.variables[$0].remote }
            keep([update], of: project, account: account, time: time, vercelTime: vercelTime)
            // Elsewhere the old state stays agreed, since what changed there was not seen.
            guard case .agreed(let record, _, let attributes) = update.knowledge, var known,
                let variable = update.variable, known.key == record.key, !known.isGone
            else { continue }
            known.agreed.scope = known.agreed.scope.subtracting(attributes.scope)
            if !known.agreed.scope.isEmpty {
                index.keepOtherAgreement(StoredAgreement(known, of: variable), of: project)
            }
        }
    }

    /// Takes from other variables what is agreed about a record, and what it no longer has.
    private mutating func take(
        _ state: RemoteState, of record: VercelRecord, in project: Identifier,
        by vercelTime: UInt64
    ) {
        for position in index.variables.indices where index.variables[position].project == project {
            guard let other = index.variables[position].remote, other.id == state.id else {
                continue
            }
            let there = other.agreed.scope.shared(with: [record.attributes.scope])
            let rest = there.subtracting(state.agreed.scope)
            if !rest.isEmpty {
                index.variables[position].remote?.agreed.scope = rest
            } else if there.isEmpty {
                endRemote(at: position, by: vercelTime)
            } else {
                index.variables[position].remote = nil
            }
        }
        index.forgetOtherAgreements(of: project) {
            $0.scope.overlaps(state.agreed.scope)
                && ($0.record == state.id || $0.key == state.key)
        }
    }

    /// Records that one of Vercel's records no longer applies somewhere.
    ///
    /// - Parameter scope: Nil if it is gone.
    private mutating func release(
        _ id: String, from scope: Scope?, of project: Identifier, by vercelTime: UInt64,
        _ departures: inout [ProductionRemoval]
    ) {
        for position in index.variables.indices where index.variables[position].project == project {
            guard let known = index.variables[position].remote, known.id == id, !known.isGone else {
                continue
            }
            var rest = known.agreed
            rest.scope = scope.map { rest.scope.subtracting($0) } ?? Scope(targets: [])
            guard rest.scope.isEmpty else {
                if let removal = known.removal(with: rest, by: vercelTime) {
                    departures.append(removal)
                }
                index.variables[position].remote?.agreed = rest
                continue
            }
            endRemote(at: position, by: vercelTime)
        }
        index.forgetOtherAgreements(of: project) {
            $0.record == id && (scope.map($0.scope.overlaps) ?? true)
        }
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
