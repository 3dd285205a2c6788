internal import Vault

/// The result of comparing the vault with one rollback guard.
enum RollbackVerdict: String, CaseIterable {
    /// It is the generation last seen.
    case current
    /// It descends from the generation last seen; the guard was updated.
    case moved
    /// It descends from the generation last seen; the guard could not be updated.
    case behind
    /// It was written too often since to compare; the guard was updated.
    case forgotten
    case older
    /// It does not descend from the generation last seen.
    case otherHistory = "other"
    /// Its public key is not the one last seen.
    case otherKey = "other-key"
    /// Another vault was last seen at the path.
    case otherVault = "other-vault"
    case absent, unreadable, unavailable

    init(_ standing: VaultRelation) {
        switch standing {
        case .same: self = .current
        case .follows: self = .moved
        case .unknown: self = .forgotten
        case .older: self = .older
        case .otherHistory: self = .otherHistory
        }
    }

    /// The text after "Rollback guard in …:".
    var text: String {
        switch self {
        case .current: "this is the newest generation"
        case .moved: "this is newer than the last generation seen"
        case .behind: "this is newer than the last generation seen, and could not be recorded"
        case .forgotten: "unknown: the vault has been written too many times since the last check"
        case .older: "a newer generation of the vault has been seen"
        case .otherHistory: "a generation of the vault with a different history has been seen"
        case .otherKey: "a different public key of the vault has been seen"
        case .otherVault: "another vault was last seen at this path"
        case .absent: "this vault has not been seen before"
        case .unreadable: "cannot be read"
        case .unavailable: "cannot be checked in this session"
        }
    }
}

extension VaultSession {
    /// Compares the vault with the guards that were not checked yet, and updates them.
    ///
    /// - Throws: ``ExitCode/damaged`` for an older copy, one with a different history, and one with a
    ///   public key that the keys do not vouch for.
    func checkRollback(_ places: [RollbackGuards.Place], with keys: VaultKeys) throws {
        guard use.checksRollback else { return }
        for place in places where rollback.verdicts[place] == nil {
            let finding = try judge(place, with: keys)
            // Not stored if it throws, so that a caller that ignores the error gets it again.
            guard finding.verdict.isAccepted else { throw try rollbackFailure(finding) }
            note(finding.verdict, of: place)
            if finding.verdict == .unreadable {
                warnAboutUnreadableGuard(place, of: try opened().header.vaultID)
            }
            if finding.verdict == .forgotten {
                context.warn(
                    "anchor-forgotten",
                    "The vault has been written too many times since this machine last saw it, so zg-env "
                        + "cannot check whether it is the same vault.")
            }
        }
    }

    /// Warns about a place with something other than a guard. It was damaged or put there by something
    /// else; until it is replaced, this place does not detect an older copy.
    func warnAboutUnreadableGuard(_ place: RollbackGuards.Place, of vault: Identifier) {
        let path = place == .stateDirectory ? rollback.anchors.file(of: vault) : nil
        let remedy =
            path.map(FileKind.isDirectory) == true
            ? "The guard's path is a directory: remove or rename it."
            : "The next write replaces it."
        context.warn(
            "anchor-unreadable",
            "The rollback guard in the \(place.name)\(path.map { " (\($0))" } ?? "") cannot be read, "
                + "so an older copy of the vault would not be detected. \(remedy)")
    }

    /// Checks the keyring's guard if the state directory has none, as after it was emptied, and stores it
    /// there again. Does nothing if the keyring is missing or locked.
    func checkKeyringWhereNeeded(with keys: VaultKeys) throws {
        guard let local = rollback.verdicts[.stateDirectory], local.hasNoRecord,
            try guardPlaces().contains(.keyring)
        else { return }
        try checkRollback([.keyring], with: keys)
        guard let found = rollback.verdicts[.keyring], !found.hasNoRecord else { return }
        let vault = try opened()
        // For commands that do not use the keyring. If this fails, the next command tries again.
        try? rollback.anchors.store(
            vault.observation(),
            .stateDirectory, of: vault.header.vaultID)
    }

    /// Compares the vault with the guard of one place and returns the result with that guard. Updates a
    /// guard that is behind.
    func judge(
        _ place: RollbackGuards.Place, with keys: VaultKeys
    ) throws -> (verdict: RollbackVerdict, seen: VaultObservation?) {
        let vaultID = try opened().header.vaultID
        switch rollback.anchors.find(place, of: vaultID) {
        case .absent: return (.absent, nil)
        case .otherVault: return (.otherVault, nil)
        case .unreadable: return (.unreadable, nil)
        case .unavailable: return (.unavailable, nil)
        case .anchor(let sighting):
            var (vault, verdict) = try judged(against: sighting, with: keys)
            if !verdict.isAccepted {
                // Another writer may have come in between. It wrote the file before the guard, so the
                // file is at least as new as this guard now; a later guard could be ahead again.
                closeVault()
                (vault, verdict) = try judged(against: sighting, with: keys)
            }
            if verdict == .moved || verdict == .forgotten {
                do {
                    try rollback.anchors.store(vault.observation(), place, of: vaultID)
                } catch {
                    // An older guard still detects copies that are older than itself.
                    if verdict == .moved { verdict = .behind }
                }
            }
            return (verdict, sighting)
        }
    }

    /// Compares one opening of the file with a guard: first the public key, which says who may have
    /// written it, then the generation.
    private func judged(
        against sighting: VaultObservation, with keys: VaultKeys
    ) throws -> (vault: Vault, verdict: RollbackVerdict) {
        let vault = try opened()
        guard vault.header.publicKey == sighting.publicKey else { return (vault, .otherKey) }
        return (vault, RollbackVerdict(try vault.standing(to: sighting.position, with: keys)))
    }

    /// Returns the error for a vault that a guard does not accept.
    func rollbackFailure(
        _ finding: (verdict: RollbackVerdict, seen: VaultObservation?)
    ) throws -> CommandError {
        let vault = try opened()
        if finding.verdict == .otherKey {
            return RollbackVerdict.failure(
                vault.replacedPublicKey,
                hint: "Restore the newest copy with: zg-env restore FILE. If you ran zg-env rekey "
                    + "elsewhere, accept the new key with: zg-env verify --accept-older")
        }
        if finding.verdict == .otherVault {
            return RollbackVerdict.failure(
                VaultError(.damaged, "\(vault.path) is another vault than the one last seen there"),
                hint: "If you put it there yourself, accept it with: zg-env verify --accept-older")
        }
        let seen = try finding.seen?.position ?? vault.position()
        return RollbackVerdict.failure(
            vault.objection(
                to: finding.verdict == .older ? .older : .otherHistory, seen,
                when: "has been seen on this machine", of: "was last seen on this machine"))
    }

    /// Returns the places in which a write of this vault stores guards.
    func guardPlaces() throws -> [RollbackGuards.Place] {
        let hasItem = try opened().header.slots.contains { $0.kind == .secretService }
        return hasItem ? [.stateDirectory, .keyring] : [.stateDirectory]
    }

    /// Removes the keyring's guard if the vault has no keyring slot any more: it would no longer be
    /// updated, and a new slot would bring it back into use.
    func removeUnusedGuard(of vault: Identifier, slots: [KeySlot]) {
        guard !slots.contains(where: { $0.kind == .secretService }) else { return }
        rollback.anchors.removeFromKeyring(of: vault)
    }

    /// Returns the positions of a vault that this machine has seen at this path.
    func seenPositions(
        of vault: Identifier, _ places: [RollbackGuards.Place]
    ) -> [VaultPosition] {
        places.compactMap { place in
            switch rollback.anchors.find(place, of: vault) {
            case .anchor(let seen): return seen.position
            case .unreadable:
                // The warning was shown if the vault was opened.
                if rollback.verdicts[place] != .unreadable {
                    warnAboutUnreadableGuard(place, of: vault)
                }
                return nil
            case .absent, .otherVault, .unavailable: return nil
            }
        }
    }

    /// Updates the guards after a write of the vault.
    ///
    /// - Returns: False if one of them failed, which is only a warning.
    @discardableResult
    func updateGuards(
        _ sighting: VaultObservation, of vault: Identifier, _ places: [RollbackGuards.Place]
    ) -> Bool {
        var isKept = true
        raiseFloor(to: sighting)
        rollback.anchors.removeOthers(than: vault)
        for place in places {
            do {
                try rollback.anchors.store(sighting, place, of: vault)
            } catch {
                isKept = false
                context.warn(
                    "anchor-not-kept",
                    "The vault was written, but the rollback guard in the \(place.name) could not be "
                        + "updated. " + CommandError(mapping: error).message)
            }
        }
        return isKept
    }
}

extension RollbackVerdict {
    static let remedy =
        "Restore the newest copy with: zg-env restore FILE. If you restored this copy yourself, "
        + "accept it with: zg-env verify --accept-older"

    /// Returns the failure for a vault that is not the one expected.
    static func failure(_ error: VaultError, hint: String = remedy) -> CommandError {
        CommandError(.damaged, CommandError.sentence(error.reason), hint: hint)
    }

    /// Whether the place has no guard that can be checked.
    var hasNoRecord: Bool { self == .absent || self == .unreadable || self == .unavailable }

    /// Whether the vault may be used.
    var isAccepted: Bool {
        ![.older, .otherHistory, .otherKey, .otherVault].contains(self)
    }
}
