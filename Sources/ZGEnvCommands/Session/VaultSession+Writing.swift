internal import DotEnv
internal import EnvOperations
internal import SharedProjects
internal import Vault

extension VaultSession {
    /// Changes the vault under its lock, with the keys of the values; see
    /// ``Vault/update(_:in:keys:vaultID:_:)``. Nothing else in a command writes the variables,
    /// accounts, settings or slots.
    ///
    /// - Parameters:
    ///   - newPlace: A place that stores a guard from this write on.
    ///   - news: What the write reports to groups besides what it changes.
    ///   - project: Finds, in the table, the only project whose variables the write reads or changes,
    ///     or nil for a new one; without it all are opened.
    @discardableResult
    func update<R>(
        newPlace: RollbackGuards.Place? = nil, telling news: GroupNews = GroupNews(),
        of project: ((VaultIndex) throws -> VaultProject?)? = nil,
        _ body: @escaping (inout VaultTransaction) throws -> R
    ) throws -> R {
        let keys = try keys(.values)
        guard turns.isActive, newPlace == nil else {
            return try updateAlone(with: keys, newPlace: newPlace, of: project) {
                transaction, told in
                told = news
                return try body(&transaction)
            }
        }
        var result: Result<R, VaultError> = .failure(
            VaultError(.inputOutput, "the vault was not written"))
        try turns.write(
            keys,
            { transaction, told in
                result = .success(try body(&transaction))
                told.add(news)
            },
            commit: { keys, all in try updateAlone(with: keys, newPlace: nil, all) })
        return try result.get()
    }

    private func updateAlone<R>(
        with keys: VaultKeys, newPlace: RollbackGuards.Place?,
        of project: ((VaultIndex) throws -> VaultProject?)? = nil,
        _ body: (inout VaultTransaction, inout GroupNews) throws -> R
    ) throws -> R {
        var news = GroupNews()
        let places = try guardPlaces()
        try checkRollback(places, with: keys)
        let opened = try opened()
        let vaultID = opened.header.vaultID
        let result = try Vault.update(
            path, in: context.files, keys: keys, vaultID: vaultID,
            since: try positionSeen(), after: opened,
            of: project.map { find in { Set([try find($0)?.id].compactMap { $0 }) } },
            written: { sighting in
                let new = newPlace.map { places.contains($0) ? [] : [$0] } ?? []
                updateGuards(sighting, of: vaultID, places + new)
            },
            recorder: { transaction in
                let count = try ChangeRecorder(
                    vault: vaultID, keys: keys, now: context.now(),
                    memory: ChainFile(context, vault: vaultID, path: path), news: news
                ).record(in: &transaction)
                if count > 0 || waiting.count > 0 {
                    waiting.count = transaction.index.groupEntries(.outgoingChange).count
                }
            }
        ) { transaction in
            recordAudit(in: &transaction)
            let result = try body(&transaction, &news)
            // A rotation finds what a sync changed, and stops.
            if !isSyncing {
                try checkRotations(in: transaction)
                try RotationNoticeGate.check(transaction)
            }
            pruneHistory(in: &transaction)
            return result
        }
        closeVault()
        return result
    }

    /// Refuses a change of variables that an open rotation is working on.
    private func checkRotations(in transaction: borrowing VaultTransaction) throws {
        guard !isRotating, let open = try transaction.affectedRotation() else { return }
        let projects = open.plan.members.map(\.name)
        throw CommandError(
            .conflict,
            "The rotation of \(open.plan.key) in \(projects.joined(separator: ", ")) is not finished.",
            hint: "Continue it with: zg-env rotate \(word: open.plan.key) --resume, or revert it "
                + "with: zg-env rotate \(word: open.plan.key) --abort")
    }

    /// Removes old versions of changed variables as the setting `history-keep` allows.
    private func pruneHistory(in transaction: inout VaultTransaction) {
        let time = context.now()
        guard transaction.mayPrune(at: time) else { return }
        do {
            guard let keep = try Settings(context).number(.historyKeep) else { return }
            transaction.pruneHistory(keeping: keep, at: time)
        } catch {
            // The change itself does not depend on the settings.
            context.warn(
                "history-not-pruned",
                "No old versions were removed, because the settings cannot be read. "
                    + CommandError(mapping: error).message)
        }
    }
}
