internal import Vault

extension VaultSession {
    /// Writes a change that was planned, and asked about or compared with what is elsewhere.
    ///
    /// - Throws: ``ExitCode/conflict`` if the plan is another one now; then nothing was written.
    @discardableResult
    func commit<Plan: Equatable, Result>(
        _ change: Change<Plan, Result>, as planned: Planned<Plan>
    ) throws -> Result {
        try write(of: change.project) { transaction, news in
            let now: Plan
            do {
                now = try change.plan(transaction.index, transaction.values)
            } catch is CommandError {
                // The same plan was possible before.
                throw ChangedMeanwhile.error(since: planned, transaction.index)
            }
            guard now == planned.plan else {
                throw ChangedMeanwhile.error(since: planned, transaction.index)
            }
            return try change.apply(&transaction, now, &news)
        }
    }

    /// Writes a change without a plan.
    @discardableResult
    func commit<Result>(_ change: Change<NoPlan, Result>) throws -> Result {
        try write(of: change.project) { try change.apply(&$0, NoPlan(), &$1) }
    }

    /// Writes a change without a plan.
    @discardableResult
    func commit<Result>(
        _ apply:
            @escaping (_ transaction: inout VaultTransaction, _ news: inout News) throws -> Result
    ) throws -> Result {
        try commit(Change(apply))
    }

    private func write<Result>(
        of project: ((VaultIndex) throws -> VaultProject?)?,
        _ body: @escaping (inout VaultTransaction, inout News) throws -> Result
    ) throws -> Result {
        let keys = try keys(.values)
        guard turns.isActive else { return try writeAlone(with: keys, of: project, body) }
        var result: Result?
        try turns.write(
            keys, { result = try body(&$0, &$1) },
            commit: { keys, all in try writeAlone(with: keys, of: nil, all) })
        guard let result else { throw VaultError(.inputOutput, "the vault was not written") }
        return result
    }

    private func writeAlone<Result>(
        with keys: VaultKeys, of project: ((VaultIndex) throws -> VaultProject?)?,
        _ body: (inout VaultTransaction, inout News) throws -> Result
    ) throws -> Result {
        let writer = VaultWriter(
            session: self, vault: try opened().header.vaultID, keys: keys)
        var news = News()
        do {
            let result = try replaceVault(with: keys, of: project) { transaction in
                let result = try body(&transaction, &news)
                for stage in stages { try stage.recorded(&transaction, &news, by: writer) }
                return result
            }
            tell(news)
            for stage in stages { stage.ended(nil, news, by: writer) }
            return result
        } catch {
            for stage in stages { stage.ended(error, news, by: writer) }
            throw error
        }
    }

    /// Replaces the vault file under its lock, and updates the guards. Only for ``commit(_:as:)`` and
    /// ``changeKeys(newPlace:_:)``.
    ///
    /// - Parameter newPlace: A place that stores a guard from this write on.
    func replaceVault<Result>(
        with keys: VaultKeys, newPlace: RollbackGuards.Place? = nil,
        of project: ((VaultIndex) throws -> VaultProject?)? = nil,
        _ body: (inout VaultTransaction) throws -> Result
    ) throws -> Result {
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
            }, body)
        closeVault()
        return result
    }
}
