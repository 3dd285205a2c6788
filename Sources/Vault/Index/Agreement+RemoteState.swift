/// The index stores agreements by name and scope; commands use ``Variable/remote``, one for each
/// variable. Here one becomes the other, without loss.
extension Agreement {
    /// - Parameter variable: Whose state it is.
    package init(_ remote: RemoteState, of variable: Identifier) {
        // A record that is gone has no time of its own any more. Vercel reports no time before 1.
        let seenAt = remote.seenUpdatedAt
        self.init(
            key: remote.key, scope: remote.agreed.scope, record: remote.id,
            account: remote.account, variable: variable, version: remote.pushedVersion,
            kind: remote.agreed.kind, comment: remote.agreed.comment,
            changedAt: remote.agreedUpdatedAt,
            awaitedAt: remote.isGone || seenAt == remote.agreedUpdatedAt ? 0 : seenAt,
            pushedAt: remote.pushedAt, endedAt: remote.isGone ? max(1, seenAt) : 0,
            earlier: remote.earlier)
    }

    /// The state of its variable; nil if ``init(_:of:)`` would not make the same agreement of it.
    var remote: RemoteState? {
        guard variable != nil, awaitedAt == 0 || endedAt == 0 && awaitedAt != changedAt else {
            return nil
        }
        var remote = RemoteState(
            id: record, key: key, account: account, pushedVersion: version,
            agreed: VariableAttributes(kind: kind, scope: scope, comment: comment),
            updatedAt: changedAt, pushedAt: pushedAt)
        if awaitedAt != 0 { remote.seenUpdatedAt = awaitedAt }
        if endedAt != 0 { (remote.seenUpdatedAt, remote.isGone) = (endedAt, true) }
        remote.earlier = earlier
        return remote
    }
}

extension ByteReader {
    /// Reads the part of a section with its agreements, as the states of its variables.
    ///
    /// - Parameter variables: Ascending by id, without states. Of several agreements of a variable,
    ///   its state is that of its own name, and of those one that stands.
    /// - Returns: The other agreements.
    mutating func agreements(
        into variables: inout [Variable]
    ) throws(VaultError) -> [Agreement] {
        var part = try section(Int(try uint32()))
        let count = try part.count(
            limit: VaultFormat.recordLimit, minimumByteCount: Agreement.minimumByteCount,
            of: "agreements")
        // Compared without the variables, which are large.
        var ids: [Identifier] = []
        if count > 0 { ids.reserveCapacity(variables.count) }
        for place in variables.indices where count > 0 { ids.append(variables[place].id) }
        var order = AgreementOrder()
        var others: [Agreement] = []
        for _ in 0..<count {
            let before = part
            let next = try Agreement.decode(from: &part)
            try order.check(next, at: before)
            guard let id = next.variable, let remote = next.remote,
                case let place = ids.indices.firstIndex(notPreceding: { ids[$0] < id }),
                place < ids.count, ids[place] == id
            else {
                others.append(next)
                continue
            }
            if let other = variables[place].choose(remote) {
                others.append(Agreement(other, of: id))
            }
        }
        try part.expectEnd(of: "agreements")
        return others
    }
}

extension VaultIndex {
    /// Forgets what was agreed about records that are no variable's state.
    package mutating func forgetOtherAgreements(
        of project: Identifier? = nil, where isMeant: (Agreement) -> Bool
    ) {
        for section in otherAgreements.keys where project.map({ $0 == section }) ?? true {
            otherAgreements[section]?.removeAll(where: isMeant)
        }
    }

    /// Keeps what was agreed about a record of Vercel that is no longer a variable's state.
    package mutating func keepOtherAgreement(_ agreement: Agreement, of project: Identifier) {
        otherAgreements[project, default: []].append(agreement)
    }

    /// Returns the agreements of a project, in their order: the states of its variables, and the
    /// others.
    ///
    /// - Parameter variables: The positions of its variables.
    func agreements(of project: Identifier, variables positions: [Int]) -> [Agreement] {
        var found: [Agreement] = []
        for position in positions {
            guard let remote = variables[position].remote else { continue }
            found.append(Agreement(remote, of: variables[position].id))
        }
        if let others = otherAgreements[project] {
            let own = Dictionary(grouping: found) { $0.variable }
            found += others.filter { other in
                // What a command has agreed meanwhile replaces what cannot be beside it.
                !(own[other.variable]?.contains { $0.excludes(other) } ?? false)
            }
        }
        var places = found.indices.map { (name: SortableName(found[$0].key), place: $0) }
        func key(_ place: Int) -> String { found[place].key }
        places.sort { left, right in
            left.name == right.name && byteOrder(key(left.place), key(right.place)) == 0
                ? found[left.place].place.precedes(sameKey: found[right.place].place)
                : SortableName.precedes(left.name, right.name) {
                    (key(left.place), key(right.place))
                }
        }
        return places.map { found[$0.place] }
    }
}

extension Agreement {
    /// Returns whether an index with this one cannot have another one of the same variable.
    fileprivate func excludes(_ other: Agreement) -> Bool {
        let (own, others) = (place, other.place)
        guard byteOrder(key, other.key) == 0, own.branchOrder(others) == 0 else { return false }
        return content == other.content
            || !own.precedes(sameKey: others) && !others.precedes(sameKey: own)
    }
}
