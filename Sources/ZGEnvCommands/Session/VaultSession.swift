internal import CommandLineKit
internal import Vault
internal import VercelAPI

/// The vault of one command: opened once, unlocked as far as the command needs.
package final class VaultSession {
    let options: GlobalOptions
    let context: Context
    /// The command's words, for the settings.
    let command: String
    let use: VaultUse
    private var vault: Vault?
    /// The newest generation that was opened before ``closeVault()``, or written.
    private var floor: VaultObservation?
    let turns = GlobalLock()
    /// Whether the vault must be the newest one seen: not for a backup, nor for commands that fix that.
    var checksRollback: Bool
    /// Whether to warn of who else can replace the file: not for a command that reports it itself.
    var warnsOfRisk = true
    /// Whether the command may change the variables of open rotations.
    var isRotating = false
    /// Whether the next write brings what colleagues did.
    var isSyncing = false
    /// What the writes so far left for groups.
    var waiting = WaitingChanges()
    /// The guards checked so far.
    var rollbackVerdicts: [RollbackGuards.Place: RollbackVerdict] = [:]
    private(set) lazy var anchors = RollbackGuards(context, path: options.vaultPath)
    var heldSightings: Sightings?
    private var heldKeys: VaultKeys?
    /// The unlock that gave the keys.
    private(set) var unlocked: UnlockedState?
    /// What a prompt says that the passphrase is for, as in "show KEY"; nil in a shell, where the
    /// command line says it.
    var purpose: String?
    /// Why the keyring did not open the vault at the last attempt.
    private var keyringProblem: String?
    /// Why the given key file did not open the vault, until that is reported.
    var keyFileProblem: String?
    /// Values that must not appear in messages from Vercel.
    private(set) lazy var knownSecrets = KnownSecrets { [weak self] in
        // Uses only keys that are open already.
        guard let self, let keys = heldKeys?.opensValues == true ? heldKeys : keysByPassphrase
        else { return nil }
        return try? everyValue(with: keys)
    }
    /// The keys that a passphrase opened in this command.
    private(set) var keysByPassphrase: VaultKeys?

    /// - Parameters:
    ///   - command: The command's words, for the settings.
    ///   - vault: An opened vault, if it is not the one that the options select.
    init(
        options: GlobalOptions, context: Context, command: String = "", use: VaultUse = VaultUse(),
        vault: Vault? = nil
    ) {
        self.options = options
        self.context = context
        self.command = command
        self.use = use
        self.vault = vault
        checksRollback = vault == nil
    }

    var path: String { options.vaultPath }

    /// Opens the vault file, without decrypting anything.
    func opened() throws -> Vault {
        if let vault { return vault }
        guard !path.isEmpty else {
            throw VaultError(.notFound, "there is no home directory to look for the vault in")
        }
        let opened = try Vault(opening: path, in: context.files)
        opened.floor = floor
        let isNew = !context.warnings.contains { $0.code == "vault-exposed" }
        if warnsOfRisk, isNew, let risk = opened.risk { context.warn("vault-exposed", risk) }
        vault = opened
        return opened
    }

    /// Opens the index, without a prompt if possible.
    ///
    /// - Parameter tier: What has to be open.
    func index(_ extent: VaultIndex.Extent, with tier: KeySlot.Tier = .index) throws -> VaultIndex {
        let keys = try keys(tier)
        return try opened().index(with: keys, extent: extent)
    }

    /// Opens the index with the variables of one project only, so that a command takes as long as
    /// that project needs.
    ///
    /// - Parameter project: Finds it in the table, which has all projects; without one the index has
    ///   no variables.
    func index(
        _ extent: VaultIndex.Extent, with tier: KeySlot.Tier = .index,
        of project: (VaultIndex) throws -> VaultProject?
    ) throws -> VaultIndex {
        try index(extent, with: try keys(tier), of: project)
    }

    /// The same with these keys.
    func index(
        _ extent: VaultIndex.Extent, with keys: VaultKeys,
        of project: (VaultIndex) throws -> VaultProject?
    ) throws -> VaultIndex {
        let vault = try opened()
        var index = try vault.index(with: keys, extent: extent, of: [])
        if let found = try project(index) { try vault.open([found.id], in: &index, with: keys) }
        return index
    }

    /// Opens the table of the index, which has no variables.
    func table() throws -> VaultIndex { try index(.listing) { _ in nil } }

    /// Opens the index if there is a vault and no prompt is needed; returns nil otherwise.
    func indexWithoutPrompt() throws -> VaultIndex? {
        try withoutPrompt { try opened().index(with: $0, extent: .listing) }
    }

    /// The same for the table of the index.
    func tableWithoutPrompt() throws -> VaultIndex? {
        try withoutPrompt { try index(.listing, with: $0) { _ in nil } }
    }

    private func withoutPrompt(_ open: (VaultKeys) throws -> VaultIndex) throws -> VaultIndex? {
        do {
            return try keysWithoutPrompt().map(open)
        } catch let error as VaultError where error.code == .notFound {
            return nil
        }
    }

    /// Drops the keys, for a command that runs for long without them.
    func dropKeys() {
        (heldKeys, unlocked, heldSightings) = (nil, nil, nil)
        // What is opened later is compared with the guards again.
        (vault, floor, rollbackVerdicts) = (nil, nil, [:])
    }

    /// Drops the keys that open values, for a command that runs for long with the index alone.
    func keepIndexTierOnly() throws {
        if let heldKeys { self.heldKeys = try heldKeys.indexTier() }
        keysByPassphrase = nil
    }

    /// Uses new keys after a rekey.
    func adopt(_ newKeys: VaultKeys) {
        (heldKeys, heldSightings) = (newKeys, nil)
        closeVault()
    }

    /// Makes the next use open the file again. What is there then must follow what was there.
    func closeVault() {
        if let vault, vault.isAuthentic, let seen = try? vault.observation() {
            raiseFloor(to: seen)
        }
        vault = nil
    }

    /// Notes the newest generation that this command saw or wrote.
    func raiseFloor(to seen: VaultObservation) {
        if let floor, floor.position.generation >= seen.position.generation { return }
        floor = seen
    }

    /// The position that a write must follow.
    func positionSeen() throws -> VaultPosition {
        let opened = try opened()
        return try opened.isAuthentic ? opened.position() : floor?.position ?? opened.position()
    }

    var passphraseSource: PassphraseSource { PassphraseSource(options, context) }

    // MARK: Keys

    /// When to ask for a passphrase.
    enum Asking {
        /// If nothing else opens the tier.
        case ifNeeded
        /// Even if the values are open or unlocked; a key file is also enough.
        case always
    }

    /// A source of keys other than a passphrase.
    private enum KeySource {
        /// The key that `unlock` keeps, if the settings let this command use it.
        case unlockCache
        /// The index key that `list` kept, for commands that show names.
        case cachedIndexKey
        case keyFile
        /// The desktop keyring, which opens the index. A locked one may ask the user to unlock it.
        case keyring
        /// The desktop keyring, only if it is unlocked.
        case openKeyring
    }

    /// Returns keys that open a tier: those already open, then from the first source that has some, and
    /// finally by passphrase.
    ///
    /// - Parameter check: Called before a person is asked, if the index opens without a prompt, to
    ///   reject what would fail anyway.
    func keys(
        _ tier: KeySlot.Tier, asking: Asking = .ifNeeded,
        checking check: ((VaultIndex) throws -> Void)? = nil
    ) throws -> VaultKeys {
        if asking == .ifNeeded, let heldKeys, heldKeys.opens(tier) { return heldKeys }
        // Typed for this command already, as for a list of names to pick from.
        if asking == .always, let keysByPassphrase { return keysByPassphrase }
        var sources: [KeySource] =
            switch tier {
            case .index: [.unlockCache, .cachedIndexKey, .keyFile, .keyring]
            // A passphrase without a prompt is preferred to the key file.
            case .values: passphraseSource.isUnattended ? [.unlockCache] : [.unlockCache, .keyFile]
            }
        if asking == .always { sources.removeFirst() }
        if let found = try keys(tier, from: sources) { return found }
        if let check, !passphraseSource.isUnattended, let index = try indexWithoutPrompt() {
            try check(index)
        }
        do {
            return try openedByPassphrase().keys
        } catch var error as CommandError {
            if error.code == .locked, let keyringProblem {
                error.message += " The desktop keyring could not open the vault: \(keyringProblem)."
            }
            throw error
        }
    }

    /// Returns keys that open the index without a prompt; nil if there are none.
    ///
    /// - Parameter waits: Whether to let a locked keyring ask the user, and to read a passphrase that
    ///   needs no prompt.
    func keysWithoutPrompt(waits: Bool = true) throws -> VaultKeys? {
        if let heldKeys { return heldKeys }
        let keyring = waits ? KeySource.keyring : .openKeyring
        if let found = try keys(.index, from: [.unlockCache, .cachedIndexKey, .keyFile, keyring]) {
            return found
        }
        guard waits else { return nil }
        if passphraseSource.isUnattended { return try openedByPassphrase().keys }
        warnAboutKeyFile()
        return nil
    }

    /// What a command that writes the vault opens first: the values, so that it asks before it works;
    /// the index for a dry run, which writes nothing.
    private var writingTier: KeySlot.Tier { options.dryRun ? .index : .values }

    /// Returns the keys for a command that writes the vault. Fails before a question and before
    /// anything is sent if the file may not be replaced.
    ///
    /// - Parameter check: As for ``keys(_:asking:checking:)``.
    @discardableResult
    func keysForWriting(
        checking check: ((VaultIndex) throws -> Void)? = nil
    ) throws -> VaultKeys {
        if !options.dryRun { _ = try context.files.open(path) }
        return try keys(writingTier, checking: check)
    }

    /// Returns keys that open the values if that needs no question, otherwise keys of the index.
    func bestKeysWithoutPrompt() throws -> VaultKeys {
        let keys = try keys(passphraseSource.isUnattended ? .values : .index)
        if keys.opensValues { return keys }
        guard try Settings(context).allowsCache(for: command), let unlocked = try unlockedKeys()
        else { return keys }
        return unlocked
    }

    /// Returns keys from the unlock cache, regardless of the settings; nil while the vault is locked or
    /// if the kernel has no keyrings for us.
    ///
    /// - Throws: ``ExitCode/damaged`` if the file does not descend from the one that was unlocked.
    func unlockedKeys() throws -> VaultKeys? {
        guard let found = try keys(from: .unlockCache) else { return nil }
        try check(found, from: .unlockCache)
        return hold(found)
    }

    /// Opens the values with a passphrase or a recovery code even if they are open, for commands that
    /// need the slot or the secret.
    ///
    /// - Parameter name: The name of the passphrase in the prompt.
    func openedByPassphrase(_ name: String = "Passphrase") throws -> PassphraseOpening {
        let vault = try opened()
        let isDefault = vault.path == (try? Directories(context).vault)
        let aside = purpose.map { " to \($0)" } ?? ""
        let prompt = "\(name)\(isDefault ? "" : " for \(vault.path)")\(aside): "
        let source = passphraseSource
        return try reportingKeyFileProblem {
            let most = source.isUnattended ? 1 : PassphraseSource.maximumTries
            var (number, lead) = (1, "")
            while true {
                do {
                    return try openedByPassphrase(vault, source, prompt: lead + prompt)
                } catch let error as VaultError
                    where error.code == .wrongPassphrase && number < most
                {
                    number += 1
                    lead = "Wrong passphrase, try \(number) of \(most). "
                }
            }
        }
    }

    /// Asks once. The terminal's echo stays off while the key is derived.
    private func openedByPassphrase(
        _ vault: Vault, _ source: PassphraseSource, prompt: String
    ) throws -> PassphraseOpening {
        var silence: EchoSuspension?
        defer { silence?.end() }
        let secret = try source.passphrase(prompt: prompt, context, keepingEchoOff: &silence)
        let opening: Vault.Opening
        do {
            opening = try recordingWrongPassphrase {
                try vault.open(with: secret, memoryLimitBytes: AvailableMemory.byteCount())
            }
        } catch let error as VaultError where error.code == .wrongPassphrase {
            guard let origin = source.origin else { throw error }
            var failure = CommandError(mapping: error)
            failure.hint =
                source.hint(about: secret)
                ?? "\(origin) does not open \(vault.path)."
            throw failure
        }
        silence?.end()
        try check(opening.keys)
        keysByPassphrase = hold(opening.keys)
        return PassphraseOpening(opening, secret: secret)
    }

    /// Returns the keys of the first source that has some for a tier.
    private func keys(_ tier: KeySlot.Tier, from sources: [KeySource]) throws -> VaultKeys? {
        keyringProblem = nil
        for source in sources {
            guard let found = try keys(from: source), found.opens(tier) else { continue }
            try check(found, from: source)
            guard
                try source != .unlockCache
                    || Settings(context).allowsCache(for: command, opening: tier)
            else { continue }
            let isForNames = tier == .index && Setting.own(of: command) != nil
            return hold(isForNames ? try found.indexTier() : found)
        }
        return nil
    }

    private func keys(from source: KeySource) throws -> VaultKeys? {
        let vault = try opened()
        switch source {
        case .unlockCache:
            guard let found = try UnlockedState.keys(of: vault, now: context.now() / 1_000)
            else { return nil }
            unlocked = found.state
            return found.keys
        case .cachedIndexKey: return try cachedIndexKeys()
        case .keyFile: return try keysFromKeyFile(vault)
        case .keyring: return try keysFromKeyring(vault)
        case .openKeyring:
            return try context.keyring()?.isUnlocked() == true ? keysFromKeyring(vault) : nil
        }
    }

    /// Compares the vault with the guards that matter for a key source.
    ///
    /// - Parameter source: The source of the keys; nil for a passphrase.
    private func check(_ found: VaultKeys, from source: KeySource? = nil) throws {
        try checkRollback([.stateDirectory], with: found)
        switch source {
        // These serve commands that must not wait for a keyring; the unlock cache has a position itself.
        case .unlockCache, .cachedIndexKey: break
        case .keyring, .openKeyring: try checkRollback([.keyring], with: found)
        case .keyFile, nil: try checkKeyringWhereNeeded(with: found)
        }
    }

    private func hold(_ found: VaultKeys) -> VaultKeys {
        warnAboutKeyFile()
        heldKeys = found
        return found
    }

    /// Returns the keys that the desktop keyring opens; nil if it has none or the vault has no slot for it.
    ///
    /// - Throws: Only for a damaged vault, which no other source would open either.
    private func keysFromKeyring(_ vault: Vault) throws -> VaultKeys? {
        let slots = vault.header.slots.filter { $0.kind == .secretService }
        guard !slots.isEmpty else { return nil }
        guard let keyring = context.keyring() else {
            keyringProblem = "there is no session bus"
            return nil
        }
        for slot in slots {
            do {
                switch try vault.unlock(slot, from: keyring) {
                case .opened(let keys): return keys
                case .otherKey:
                    keyringProblem = "the key in \(keyring.name) does not open this vault"
                case .noKey: keyringProblem = "\(keyring.name) has no key for this vault"
                }
            } catch let error as VaultError where error.code == .damaged {
                throw error
            } catch {
                keyringProblem =
                    (error as? KeyringError)?.reason ?? (error as? VaultError)?.reason
                    ?? "\(keyring.name) failed"
            }
        }
        return nil
    }
}

extension VaultKeys {
    /// Whether they open a tier; all keys open the index.
    fileprivate func opens(_ tier: KeySlot.Tier) -> Bool { tier == .index || opensValues }
}
