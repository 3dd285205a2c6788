internal import Vault

/// How the vault stands to what one place says of it.
enum AnchorVerdict: String {
    /// It is the generation that was seen last.
    case current
    /// It came from that one; the anchor was moved on.
    case moved
    /// It came from that one; the anchor could not be moved on, and stays behind.
    case behind
    /// It was written so often since that nobody can tell; the anchor was moved on.
    case forgotten
    case older
    /// It did not come from that one.
    case otherHistory = "other"
    /// It has another public key than the one that was seen, and nobody has the root.
    case otherKey = "other-key"
    /// Its checkpoint is older than the one that was seen.
    case olderCheckpoint = "older-checkpoint"
    case absent, unreadable, unavailable

    init(_ standing: VaultStanding) {
        switch standing {
        case .same: self = .current
        case .follows: self = .moved
        case .unknown: self = .forgotten
        case .older: self = .older
        case .otherHistory: self = .otherHistory
        }
    }

    /// For people.
    var text: String {
        switch self {
        case .current: "this is the newest one"
        case .moved: "this came from the newest one that was seen"
        case .behind:
            "this came from the newest one that was seen, and could not be noted as the newest"
        case .forgotten: "cannot tell: the vault was written too often since"
        case .older: "a newer one was seen"
        case .otherHistory: "another one was seen"
        case .otherKey: "another public key was seen"
        case .olderCheckpoint: "a newer state was accepted"
        case .absent: "none was seen yet"
        case .unreadable: "what is kept there cannot be read"
        case .unavailable: "cannot be checked here"
        }
    }
}

extension VaultSession {
    /// Holds the vault against the anchors that were not looked at yet, and moves them on.
    ///
    /// - Parameter keys: Open the index.
    /// - Throws: ``ExitCode/damaged`` for an older copy, and for another history.
    func checkAnchors(_ places: [AnchorKeeper.Place], with keys: VaultKeys) throws {
        guard holdsToAnchors else { return }
        for place in places where anchorVerdicts[place] == nil {
            let finding = try judge(place, with: keys)
            // Not remembered where it throws: whoever passes over the error gets it again.
            guard finding.verdict.isAccepted else { throw try anchorFailure(finding) }
            anchorVerdicts[place] = finding.verdict
            if finding.verdict == .unreadable {
                warnOfUnreadableAnchor(place, of: try opened().header.vaultID)
            }
            if finding.verdict == .forgotten {
                context.warn(
                    "anchor-forgotten",
                    "The vault was written so often since it was last seen here that nobody can tell "
                        + "whether it is the same one.")
            }
        }
    }

    /// Says that a place kept something that is no anchor. Nothing that zg-env writes is: it was damaged
    /// or put there, and as long as it stands an older copy is not noticed by this place.
    func warnOfUnreadableAnchor(_ place: AnchorKeeper.Place, of vault: Identifier) {
        let path = place == .stateDirectory ? anchors.file(of: vault) : nil
        let remedy =
            path.map(FileKind.isDirectory) == true
            ? "A directory stands in its place: move it away." : "The next write replaces it."
        context.warn(
            "anchor-unreadable",
            "What the \(place.name) keeps of the newest generation that was seen cannot be "
                + "read\(path.map { " (\($0))" } ?? ""), so it does not tell an older copy. \(remedy)"
        )
    }

    /// Asks the keyring's anchor where the state directory says nothing of the vault, as when it was
    /// emptied, and has it say so again. A keyring that is not there or locked is passed over.
    func checkKeyringWhereNeeded(with keys: VaultKeys) throws {
        guard let local = anchorVerdicts[.stateDirectory], local.saysNothing,
            try anchorPlaces().contains(.keyring)
        else { return }
        try checkAnchors([.keyring], with: keys)
        guard let found = anchorVerdicts[.keyring], !found.saysNothing else { return }
        let vault = try opened()
        // For the commands that ask no keyring. Without it the next one asks the keyring again.
        let pinned = pinned
        try? anchors.store(
            VaultSighting(
                position: try vault.position(), publicKey: vault.header.publicKey,
                checkpointGeneration: pinned?.checkpointGeneration ?? 0), .stateDirectory,
            of: vault.header.vaultID)
    }

    /// What one place says, and the generation that it has seen. Where the vault is newer, the anchor is
    /// moved on.
    func judge(
        _ place: AnchorKeeper.Place, with keys: VaultKeys
    ) throws -> (verdict: AnchorVerdict, seen: VaultSighting?) {
        let vaultID = try opened().header.vaultID
        switch anchors.find(place, of: vaultID) {
        case .absent: return (.absent, nil)
        case .unreadable: return (.unreadable, nil)
        case .unavailable: return (.unavailable, nil)
        case .anchor(let sighting):
            let seen = sighting.position
            var verdict = AnchorVerdict(try opened().standing(to: seen, with: keys))
            if !verdict.isAccepted {
                // Another writer may have come in between. It wrote the file before the anchor, so that
                // the file is at least as new as this anchor now; a later anchor could be ahead again.
                forgetVault()
                verdict = AnchorVerdict(try opened().standing(to: seen, with: keys))
            }
            guard verdict.isAccepted else { return (verdict, sighting) }
            let isOtherKey = try opened().header.publicKey != sighting.publicKey
            if isOtherKey {
                guard keys.opensValues else { return (.otherKey, sighting) }
                try opened().checkPublicKey(with: keys)
                context.warn(
                    "key-changed",
                    "The vault has another public key than the one last seen on this machine, and it is the root's: new keys were made elsewhere."
                )
            }
            pin(sighting, at: try opened().header.publicKey)
            if verdict == .moved || verdict == .forgotten || isOtherKey {
                do {
                    try anchors.store(
                        VaultSighting(
                            position: try opened().position(),
                            publicKey: try opened().header.publicKey,
                            checkpointGeneration: sighting.checkpointGeneration), place, of: vaultID
                    )
                } catch {
                    // An older anchor still holds back what is older than itself.
                    if verdict == .moved { verdict = .behind }
                }
            }
            return (verdict, sighting)
        }
    }

    /// Remembers what was seen here, the newest checkpoint of all places.
    private func pin(_ sighting: VaultSighting, at publicKey: [UInt8]) {
        pinned = VaultSighting(
            position: sighting.position, publicKey: publicKey,
            checkpointGeneration: max(
                sighting.checkpointGeneration, pinned?.checkpointGeneration ?? 0))
    }

    /// Holds a checkpoint, whose code was checked, against the newest one that was seen here, and has the
    /// anchors say so where it is newer.
    ///
    /// - Throws: ``ExitCode/damaged`` for an older one: somebody put back what was accepted before.
    func noteCheckpoint(of index: VaultIndex) throws {
        guard holdsToAnchors, let pinned else { return }
        let vault = try opened()
        do throws(VaultError) {
            try vault.expectCheckpoint(index, notBefore: pinned.checkpointGeneration)
        } catch {
            throw CommandError(
                .damaged, CommandError.sentence(error.reason), hint: AnchorVerdict.remedy)
        }
        guard index.checkpointGeneration > pinned.checkpointGeneration else { return }
        let newer = VaultSighting(
            position: try vault.position(), publicKey: vault.header.publicKey,
            checkpointGeneration: index.checkpointGeneration)
        self.pinned = newer
        for (place, verdict) in anchorVerdicts where !verdict.saysNothing {
            // One that stays behind still holds back what is older than itself.
            try? anchors.store(newer, place, of: vault.header.vaultID)
        }
    }

    /// What to say of a vault that an anchor speaks against.
    func anchorFailure(
        _ finding: (verdict: AnchorVerdict, seen: VaultSighting?)
    ) throws -> CommandError {
        let vault = try opened()
        if finding.verdict == .olderCheckpoint {
            return CommandError(
                .damaged, CommandError.sentence(vault.olderCheckpoint.reason),
                hint: AnchorVerdict.remedy)
        }
        if finding.verdict == .otherKey {
            return CommandError(
                .damaged, CommandError.sentence(vault.foreignKey.reason),
                hint:
                    "Nothing was written. Run zg-env unlock, which checks it with the passphrase.")
        }
        let seen = try finding.seen?.position ?? vault.position()
        let error = vault.objection(
            to: finding.verdict == .older ? .older : .otherHistory, seen,
            when: "on this machine", of: "was last seen on this machine")
        return CommandError(
            .damaged, CommandError.sentence(error.reason), hint: AnchorVerdict.remedy)
    }

    /// The places that a write of this vault keeps anchors in.
    func anchorPlaces() throws -> [AnchorKeeper.Place] {
        let hasItem = try opened().header.slots.contains { $0.kind == .secretService }
        return hasItem ? [.stateDirectory, .keyring] : [.stateDirectory]
    }

    /// Takes the anchor out of the keyring where no slot of the vault is there any more: it would not be
    /// moved on, and speak against the vault one day. One that stays is harmless until then.
    func dropUnusedAnchor(of vault: Identifier, slots: [KeySlot]) {
        guard !slots.contains(where: { $0.kind == .secretService }) else { return }
        anchors.removeFromKeyring(of: vault)
    }

    /// Generations of a vault that this machine has seen at this path, whatever is there now.
    func seenPositions(
        of vault: Identifier, _ places: [AnchorKeeper.Place]
    ) -> [VaultPosition] {
        places.compactMap { place in
            switch anchors.find(place, of: vault) {
            case .anchor(let seen): return seen.position
            case .unreadable:
                // Said already where the vault that is there was opened.
                if anchorVerdicts[place] != .unreadable {
                    warnOfUnreadableAnchor(place, of: vault)
                }
                return nil
            case .absent, .unavailable: return nil
            }
        }
    }

    /// Keeps where the vault stands after a write. The vault is written whatever comes of it.
    ///
    /// - Returns: Whether all places kept it; else there is a warning.
    @discardableResult
    func keepAnchors(
        _ sighting: VaultSighting, of vault: Identifier, _ places: [AnchorKeeper.Place]
    ) -> Bool {
        var isKept = true
        pinned = sighting
        for place in places {
            do {
                try anchors.store(sighting, place, of: vault)
            } catch {
                isKept = false
                context.warn(
                    "anchor-not-kept",
                    "The vault was written, but the \(place.name) did not keep which generation is the "
                        + "newest. "
                        + CommandError(mapping: error).message)
            }
        }
        return isKept
    }
}

extension AnchorVerdict {
    static let remedy =
        "Nothing was given out or changed. Put the newest copy back with zg-env restore FILE; or, if "
        + "you put this one there yourself, go on with it: zg-env verify --accept-older"

    /// Tells whether the place knows nothing of the vault.
    var saysNothing: Bool { self == .absent || self == .unreadable || self == .unavailable }

    /// Tells whether nothing speaks against the vault.
    var isAccepted: Bool {
        ![.older, .otherHistory, .otherKey, .olderCheckpoint].contains(self)
    }
}
