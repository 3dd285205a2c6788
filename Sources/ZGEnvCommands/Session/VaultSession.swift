internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import KernelKeyring
internal import Sealing
internal import Vault
internal import VercelAPI

/// The vault of one command: opened once, unlocked as far as the command needs, asked for once.
package final class VaultSession {
    let options: GlobalOptions
    let context: Context
    /// The command's words, for what the settings say of it.
    let command: String
    private var vault: Vault?
    /// Whose turn it is, where several pieces of work go on side by side.
    let turns = TurnTaking()
    /// Whether the vault must be the newest one that was seen: not for a backup, nor for what mends that.
    var holdsToAnchors: Bool
    /// What was found of the anchors so far.
    var anchorVerdicts: [AnchorKeeper.Place: AnchorVerdict] = [:]
    private(set) lazy var anchors = AnchorKeeper(context, path: options.vaultPath)
    /// What the anchors say was seen here last; nil where none says anything.
    var pinned: VaultSighting?
    private var keys: VaultKeys?
    /// For whom and until when the values are unlocked, once that was looked up.
    private(set) var unlocked: UnlockedState?
    /// Why the named key file did not open the vault, where that is still to be said.
    var keyFileProblem: String?
    /// What nothing that the platform says may repeat.
    private(set) lazy var knownSecrets = KnownSecrets { [weak self] in self?.everyValue() }
    /// What a passphrase has opened in this command.
    private(set) var keysByPassphrase: VaultKeys?

    /// - Parameters:
    ///   - command: The command's words, for what the settings say of it.
    ///   - vault: Opened already, where it is not the one that the options name.
    init(options: GlobalOptions, context: Context, command: String = "", vault: Vault? = nil) {
        self.options = options
        self.context = context
        self.command = command
        self.vault = vault
        holdsToAnchors = vault == nil
    }

    /// The vault's path.
    var path: String { options.vaultPath }

    /// The vault, still sealed.
    func opened() throws -> Vault {
        if let vault { return vault }
        guard !path.isEmpty else {
            throw VaultError(.notFound, "there is no home directory to look for the vault in")
        }
        let opened = try Vault(opening: path, in: context.files)
        vault = opened
        return opened
    }

    /// Keys that open the index: those of an unlocked vault, from a key file or the keyring without a
    /// question, else by passphrase.
    func indexKeys() throws -> VaultKeys {
        if let keys { return keys }
        let vault = try opened()
        if let found = try cachedKeys() { return found }
        if let found = try keptIndexKeys(for: command) { return try take(found) }
        if let found = try keysFromKeyFile(vault) {
            return try take(found, .keyringWhereNeeded)
        }
        let (found, failure) = try keysFromKeyring(vault)
        if let found { return try take(found, .keyring) }
        do {
            return try valueKeys()
        } catch var error as CommandError {
            // Why the keyring did not help is half of the remedy.
            if error.code == .locked, let failure {
                error.message += " The desktop's keyring did not help: \(failure)."
            }
            throw error
        }
    }

    /// Keys that open the index where that takes no question; nil otherwise.
    func indexKeysWithoutAsking() throws -> VaultKeys? {
        if let found = try indexKeysAtHand(waitingForKeyring: true) { return found }
        if passphraseSource.isUnattended { return try valueKeys() }
        warnOfKeyFile()
        return nil
    }

    /// Keys that open the index without a passphrase; nil where nothing else opens it.
    ///
    /// - Parameter waitingForKeyring: Whether a desktop's keyring that is locked may ask the user to
    ///   open it; else it is left alone.
    func indexKeysAtHand(waitingForKeyring: Bool) throws -> VaultKeys? {
        if let keys { return keys }
        if let found = try cachedKeys() { return found }
        let vault = try opened()
        if let found = try keptIndexKeys(for: command) { return try take(found) }
        if let found = try keysFromKeyFile(vault) {
            return try take(found, .keyringWhereNeeded)
        }
        guard try waitingForKeyring || context.keyring()?.isUnlocked() == true,
            let found = try keysFromKeyring(vault).0
        else { return nil }
        return try take(found, .keyring)
    }

    /// The index where there is a vault and opening it takes no question; nil otherwise.
    func indexWithoutAsking() throws -> VaultIndex? {
        do {
            guard let keys = try indexKeysWithoutAsking() else { return nil }
            return try opened().index(with: keys, extent: .listing)
        } catch let error as VaultError where error.code == .notFound {
            return nil
        }
    }

    /// Keys that open the values: those of an unlocked vault, else by passphrase, asked for even
    /// where the index is open already. Never from the desktop's keyring.
    func valueKeys() throws -> VaultKeys {
        if let keys, keys.opensValues { return keys }
        return try cachedKeys() ?? askedValueKeys()
    }

    /// Keys that open the values, from the kernel's keyring while the vault is unlocked for this
    /// process; nil while it is locked, also where the kernel has no keyrings for us.
    ///
    /// - Throws: ``ExitCode/damaged`` where the file is not the one that was unlocked, or older.
    func unlockedKeys() throws -> VaultKeys? {
        guard let found = try UnlockedState.keys(of: try opened(), now: context.now() / 1_000)
        else { return nil }
        unlocked = found.state
        return try take(found.keys)
    }

    /// Those of ``unlockedKeys()`` where the settings let this command use them.
    private func cachedKeys() throws -> VaultKeys? {
        guard let found = try unlockedKeys() else { return nil }
        guard try !Settings(context).allowsCache(for: command) else { return found }
        keys = nil
        return nil
    }

    /// Every value of the vault, earlier ones too; nil while this command has not opened the values.
    /// Asks nobody, and looks for no further key.
    private func everyValue() -> [SecretSlice]? {
        guard let keys = keys?.opensValues == true ? keys : keysByPassphrase,
            let vault = try? opened(),
            let index = try? vault.index(with: keys, extent: .everything),
            let reader = try? ValueReader(
                vault: vault, index: index, keys: keys, givesAny: true)
        else { return nil }
        let arena = SecretArena()
        let records = Dictionary(
            index.variables.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        do throws(VaultError) {
            var values: [SecretSlice] = []
            for variable in index.variables {
                if let value = try reader.currentValue(of: variable, in: arena) {
                    values.append(value)
                }
            }
            for version in index.earlierVersions {
                guard let variable = records[version.variable] else { continue }
                values.append(try reader.value(of: variable, version, in: arena))
            }
            return values
        } catch {
            return nil
        }
    }

    /// Forgets the keys, for a command that goes on for long without them.
    func forgetKeys() {
        (keys, unlocked, vault) = (nil, nil, nil)
    }

    /// Goes on with keys that open names and metadata alone, for a command that runs for long: what
    /// opens the values leaves the memory.
    func keepIndexTierOnly() throws {
        if let keys { self.keys = try keys.indexTier() }
        keysByPassphrase = nil
    }

    /// Keys that open the values, by passphrase even where the vault is unlocked.
    func askedValueKeys() throws -> VaultKeys {
        let vault = try opened()
        if !passphraseSource.isUnattended, let found = try keysFromKeyFile(vault), found.opensValues
        {
            return try take(found, .keyringWhereNeeded)
        }
        return try openedByPassphrase().keys
    }

    /// Opens the values by a passphrase or a recovery code, whatever is open already: for commands
    /// that must know the slot or the secret.
    func openedByPassphrase() throws -> PassphraseOpening {
        let vault = try opened()
        let secret = try mentioningKeyFile {
            try passphraseSource.passphrase(
                prompt: "Passphrase for \(vault.path): ", context)
        }
        let opening = try mentioningKeyFile {
            try notingWrongPassphrase {
                try vault.open(with: secret, memoryLimitBytes: AvailableMemory.byteCount())
            }
        }
        keysByPassphrase = try take(opening.keys, .keyringWhereNeeded)
        return PassphraseOpening(opening, secret: secret)
    }

    /// Which anchors decide on keys, beside the one in the state directory.
    private enum FurtherAnchor {
        /// None: the keys were kept for commands that must not wait for a keyring. Those of the unlock
        /// cache were held against what the cache knows of the vault.
        case none
        /// That of the keyring, which the keys came from.
        case keyring
        /// That of the keyring, where the state directory has none.
        case keyringWhereNeeded
    }

    /// Keeps keys, once the vault is known to be the newest one that was seen.
    private func take(_ found: VaultKeys, _ further: FurtherAnchor = .none) throws -> VaultKeys {
        try checkAnchors([.stateDirectory], with: found)
        switch further {
        case .none: break
        case .keyring: try checkAnchors([.keyring], with: found)
        case .keyringWhereNeeded: try checkKeyringWhereNeeded(with: found)
        }
        warnOfKeyFile()
        keys = found
        return found
    }

    /// Goes on with the vault as it is after new keys were made.
    func adopt(_ newKeys: VaultKeys) {
        keys = newKeys
        forgetVault()
    }

    /// Opens the file anew when it is next needed.
    func forgetVault() { vault = nil }

    /// Keys for a write that is better with the values open: those of an unlocked vault, or where a
    /// passphrase comes without asking anybody, else what opens the index.
    func bestUnattendedKeys() throws -> VaultKeys {
        passphraseSource.isUnattended ? try valueKeys() : try indexKeys()
    }

    /// Where the passphrase would come from.
    var passphraseSource: PassphraseSource { PassphraseSource(options, context) }

    /// - Returns: The keys, or why there are none; neither where the vault has no slot for a keyring.
    /// - Throws: That the vault is damaged, which no other way to open it would mend.
    private func keysFromKeyring(_ vault: Vault) throws -> (VaultKeys?, String?) {
        let slots = vault.header.slots.filter { $0.kind == .secretService }
        guard !slots.isEmpty else { return (nil, nil) }
        guard let keyring = context.keyring() else {
            return (nil, "there is no session bus to find it on")
        }
        var failure: String?
        for slot in slots {
            do {
                switch try vault.unlock(slot, from: keyring) {
                case .opened(let keys): return (keys, nil)
                case .otherKey: failure = "the key in \(keyring.name) does not open this vault"
                case .noKey: failure = "\(keyring.name) has no key for this vault"
                }
            } catch let error as KeyringError {
                failure = error.reason
            } catch let error as VaultError where error.code != .damaged {
                failure = error.reason
            } catch let error as VaultError {
                throw error
            } catch {
                failure = "\(keyring.name) failed"
            }
        }
        return (nil, failure)
    }

    /// The index, opened with what opens it without a question where that is possible.
    func index(_ extent: VaultIndex.Extent) throws -> VaultIndex {
        let keys = try indexKeys()
        return try opened().index(with: keys, extent: extent)
    }

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
        vault = nil
        return result.result
    }

    /// Leaves to a rotation that has begun what it is about.
    private func checkRotations(in transaction: borrowing VaultTransaction) throws {
        guard command != Rotate.spec.name else { return }
        guard let open = try transaction.disturbedRotation() else { return }
        let key = DisplayText.safe(open.plan.key)
        let projects = open.plan.members.map { DisplayText.safe($0.name) }
        throw CommandError(
            .conflict,
            "A rotation of \(key) in \(projects.joined(separator: ", ")) has begun and not ended.",
            hint:
                "Nothing was changed. Go on with: zg-env rotate \(word: key) --resume, or go back with: zg-env rotate \(word: key) --abort"
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
