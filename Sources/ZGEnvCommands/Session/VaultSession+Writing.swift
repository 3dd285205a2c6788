internal import DotEnv
internal import EnvOperations
internal import Vault

extension VaultSession {
    /// Changes the vault under its lock; see ``Vault/update(_:in:keys:vaultID:_:)``.
    ///
    /// - Parameter newPlace: A place that keeps an anchor from this write on.
    @discardableResult
    func update<R>(
        with keys: VaultKeys, newPlace: AnchorKeeper.Place? = nil,
        _ body: @escaping (inout VaultTransaction) throws -> R
    ) throws -> R {
        guard turns.isActive, newPlace == nil else {
            return try updateAlone(with: keys, newPlace: newPlace, body)
        }
        var result: Result<R, VaultError> = .failure(
            VaultError(.inputOutput, "the vault was not written"))
        try turns.write(
            keys, { result = .success(try body(&$0)) },
            commit: { keys, all in try updateAlone(with: keys, newPlace: nil, all) })
        return try result.get()
    }

    private func updateAlone<R>(
        with keys: VaultKeys, newPlace: AnchorKeeper.Place?,
        _ body: (inout VaultTransaction) throws -> R
    ) throws -> R {
        let places = try anchorPlaces()
        try checkAnchors(places, with: keys)
        let opened = try opened()
        let vaultID = opened.header.vaultID
        let result = try Vault.update(
            path, in: context.files, keys: keys, vaultID: vaultID,
            since: holdsToAnchors ? try opened.position() : nil, after: opened,
            pinned: holdsToAnchors ? pinned : nil,
            by: .init(command: command, time: context.now()),
            written: { sighting, _ in
                let new = newPlace.map { places.contains($0) ? [] : [$0] } ?? []
                // A locked writer cannot tell whether the checkpoint is one: the number that was seen stays.
                keepAnchors(
                    keys.opensValues
                        ? sighting
                        : sighting.with(
                            checkpointGeneration: pinned?.checkpointGeneration ?? 0), of: vaultID,
                    places + new)
            }
        ) { transaction in
            recordAudit(in: &transaction)
            let result = try body(&transaction)
            try checkRotations(in: transaction)
            pruneHistory(in: &transaction)
            return result
        }
        forgetVault()
        return result.result
    }

    /// Leaves to a rotation that has begun what it is about.
    private func checkRotations(in transaction: borrowing VaultTransaction) throws {
        guard !isRotating, let open = try transaction.disturbedRotation() else { return }
        let projects = open.plan.members.map(\.name)
        throw CommandError(
            .conflict,
            "A rotation of \(open.plan.key) in \(projects.joined(separator: ", ")) has begun and not ended.",
            hint:
                "Nothing was changed. Go on with: zg-env rotate \(word: open.plan.key) --resume, or go back with: zg-env rotate \(word: open.plan.key) --abort"
        )
    }

    /// Drops old versions of what got a new one, as the settings say.
    private func pruneHistory(in transaction: inout VaultTransaction) {
        let time = context.now()
        guard transaction.mayPrune(at: time) else { return }
        do {
            guard let keep = try Settings(context).number(.historyKeep) else { return }
            transaction.pruneHistory(keeping: keep, at: time)
        } catch {
            // The change itself does not depend on them.
            context.warn(
                "history-not-pruned",
                "Old versions were all kept, since the settings cannot be read. "
                    + CommandError(mapping: error).message)
        }
    }
}
