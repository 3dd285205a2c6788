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
    ///   - vercelTime: Vercel's time by which the results were seen.
    package mutating func keep(
        _ records: [RecordUpdate], of project: Identifier, account: String, time: UInt64,
        vercelTime: UInt64
    ) {
        var holders = RecordHolders(index.variables, of: project)
        var departures: [ProductionRemoval] = []
        for entry in records {
            switch entry.knowledge {
            case .gone(let id):
                release(id, from: nil, of: project, by: vercelTime, holders, &departures)
            case .released(let id, let scope):
                release(id, from: scope, of: project, by: vercelTime, holders, &departures)
            case .seen(let record):
                guard let position = holders[entry.variable] else { continue }
                if let record {
                    index.variables[position].remote?.seenUpdatedAt = record.updatedAt
                }
                // For a removed record, only the listing shows whether another one is in its place.
                if record != nil || index.variables[position].isLive {
                    index.variables[position].remote?.isGone = record == nil
                }
            case .sent(let record, let withValue, let place):
                guard let position = holders[entry.variable] else { continue }
                let state = sent(record, withValue, inPlaceOf: place, at: position, account, time)
                take(state, of: record, at: position, in: project, by: vercelTime, &holders)
            case .agreed(let record, let version, let attributes):
                guard let position = holders[entry.variable] else { continue }
                let known = index.variables[position].remote
                let state = agreed(record, version, attributes, at: position, account, time)
                if let removal = known?.removal(
                    with: attributes, by: max(record.updatedAt, vercelTime))
                {
                    departures.append(removal)
                }
                take(state, of: record, at: position, in: project, by: vercelTime, &holders)
            case .matched(let record, let version, let attributes):
                guard let position = holders[entry.variable] else { continue }
                match(
                    record, version, attributes, at: position, account, time, vercelTime, &holders)
            }
        }
        addTraces(of: departures, of: project, account: account, time: time)
        dropObsoleteTraces(of: project)
    }

    /// Records what listing and journal show to be agreed on, without any request.
    ///
    /// A record that was never pushed takes over the comment if it has none; one that was removed
    /// meanwhile agrees on nothing.
    private mutating func match(
        _ record: VercelRecord, _ version: UInt64, _ attributes: VariableAttributes,
        at position: Int, _ account: String, _ time: UInt64, _ vercelTime: UInt64,
        _ holders: inout RecordHolders
    ) {
        let variable = index.variables[position]
        guard variable.isLive || variable.remote != nil else { return }
        if variable.remote == nil, variable.attributes.comment == nil {
            index.variables[position].attributes.comment = attributes.comment
        }
        let state = agreed(record, version, attributes, at: position, account, time)
        take(state, of: record, at: position, in: variable.project, by: vercelTime, &holders)
        // Elsewhere the old state stays agreed, since what changed there was not seen.
        guard var rest = variable.remote, rest.key == record.key, !rest.isGone else { return }
        rest.agreed.scope = rest.agreed.scope.subtracting(attributes.scope)
        if !rest.agreed.scope.isEmpty {
            index.keepOtherAgreement(StoredAgreement(rest, of: variable.id), of: variable.project)
        }
    }

    /// Returns what is known of a variable's record after a response.
    private func sent(
        _ record: VercelRecord, _ withValue: Bool, inPlaceOf place: VercelRecord?,
        at position: Int, _ account: String, _ time: UInt64
    ) -> RemoteState {
        let known = index.variables[position].remote
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
                before: index.variables[position].currentVersion, record, inPlaceOf: place)
        } else if let awaited = awaited(at: position) {
            remote.agreedUpdatedAt = awaited
        }
        return remote
    }

    /// Returns what is known of a variable's record once it was read back.
    private func agreed(
        _ record: VercelRecord, _ version: UInt64?, _ attributes: VariableAttributes,
        at position: Int, _ account: String, _ time: UInt64
    ) -> RemoteState {
        let known = index.variables[position].remote
        var remote = RemoteState(
            id: record.id, key: record.key, account: account,
            pushedVersion: version ?? known?.pushedVersion ?? 0, agreed: attributes,
            updatedAt: record.updatedAt, pushedAt: time)
        if version != nil, known?.hasPlace(of: record) == true {
            remote.earlier = known?.earlier
        }
        if version == nil, record.attributes.kind != .sensitive,
            let awaited = awaited(at: position)
        {
            remote.agreedUpdatedAt = awaited
        }
        return remote
    }

    /// Returns the agreed time of a value that Vercel shows and that is still to be pulled.
    private func awaited(at position: Int) -> UInt64? {
        let variable = index.variables[position]
        guard variable.currentVersion == 0, SyncState(of: variable) == .behind else { return nil }
        return variable.remote?.agreedUpdatedAt
    }

    /// Gives a record of Vercel's to a variable, and takes it from others, with what the record no longer
    /// has.
    private mutating func take(
        _ state: RemoteState, of record: VercelRecord, at own: Int, in project: Identifier,
        by vercelTime: UInt64, _ holders: inout RecordHolders
    ) {
        // Under its former name it is still to be deleted.
        if let known = index.variables[own].remote, known.id != record.id, known.key != record.key,
            !known.isGone
        {
            index.keepOtherAgreement(
                StoredAgreement(known, of: index.variables[own].id), of: project)
        }
        for position in holders[state.id] where position != own {
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
        index.variables[own].remote = state
        holders.add(own, to: state.id)
    }

    /// Records that one of Vercel's records no longer applies somewhere.
    ///
    /// - Parameter scope: Nil if it is gone.
    private mutating func release(
        _ id: String, from scope: Scope?, of project: Identifier, by vercelTime: UInt64,
        _ holders: RecordHolders, _ departures: inout [ProductionRemoval]
    ) {
        for position in holders[id] {
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

/// Where the variables of a project are, by their ids and by those of Vercel's records.
private struct RecordHolders {
    private let positions: [Identifier: Int]
    private var holders: [String: [Int]] = [:]

    init(_ variables: [Variable], of project: Identifier) {
        let own = variables.indices.filter { variables[$0].project == project }
        positions = Dictionary(firstOf: own.map { (variables[$0].id, $0) })
        for position in own {
            if let id = variables[position].remote?.id { add(position, to: id) }
        }
    }

    subscript(variable: Identifier?) -> Int? { variable.flatMap { positions[$0] } }

    /// Those that may have a record.
    subscript(id: String) -> [Int] { holders[id] ?? [] }

    mutating func add(_ position: Int, to id: String) { holders[id, default: []].append(position) }
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
