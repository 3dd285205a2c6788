internal import Vault
internal import VercelAPI

/// The vault of one command: opened once, unlocked as far as the command needs, asked for once.
package final class VaultSession {
    let options: GlobalOptions
    let context: Context
    /// The command's words, for what the settings say of it.
    let command: String
    let use: VaultUse
    private var vault: Vault?
    /// Whose turn it is, where several pieces of work go on side by side.
    let turns = TurnTaking()
    /// Whether the vault must be the newest one that was seen: not for a backup, nor for what mends that.
    var holdsToAnchors: Bool
    /// Whether the command goes on with rotations, which nothing else may disturb.
    var isRotating = false
    /// What was found of the anchors so far.
    var anchorVerdicts: [AnchorKeeper.Place: AnchorVerdict] = [:]
    private(set) lazy var anchors = AnchorKeeper(context, path: options.vaultPath)
    /// What the anchors say was seen here last; nil where none says anything.
    var pinned: VaultSighting?
    private var heldKeys: VaultKeys?
    /// For whom and until when the values are unlocked, once that was looked up.
    private(set) var unlocked: UnlockedState?
    /// Why the keyring did not open the vault, where that was tried last.
    private var keyringProblem: String?
    /// Why the named key file did not open the vault, where that is still to be said.
    var keyFileProblem: String?
    /// What nothing that the platform says may repeat.
    private(set) lazy var knownSecrets = KnownSecrets { [weak self] in
        // Asks nobody, and looks for no further key.
        guard let self, let keys = heldKeys?.opensValues == true ? heldKeys : keysByPassphrase
        else { return nil }
        return try? everyValue(with: keys)
    }
    /// What a passphrase has opened in this command.
    private(set) var keysByPassphrase: VaultKeys?

    /// - Parameters:
    ///   - command: The command's words, for what the settings say of it.
    ///   - vault: Opened already, where it is not the one that the options name.
    init(
        options: GlobalOptions, context: Context, command: String = "", use: VaultUse = VaultUse(),
        vault: Vault? = nil
    ) {
        self.options = options
        self.context = context
        self.command = command
        self.use = use
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

    /// The index, opened with what opens it without a question where that is possible.
    func index(_ extent: VaultIndex.Extent) throws -> VaultIndex {
        try opened().index(with: try keys(.index), extent: extent)
    }

    /// The index where there is a vault and opening it takes no question; nil otherwise.
    func indexAtHand() throws -> VaultIndex? {
        do {
            guard let keys = try keysAtHand() else { return nil }
            return try opened().index(with: keys, extent: .listing)
        } catch let error as VaultError where error.code == .notFound {
            return nil
        }
    }

    /// Forgets what opens the vault, for a command that goes on for long without it.
    func forgetKeys() {
        (heldKeys, unlocked, vault) = (nil, nil, nil)
    }

    /// Goes on with keys that open names and metadata alone, for a command that runs for long: what
    /// opens the values leaves the memory.
    func keepIndexTierOnly() throws {
        if let heldKeys { self.heldKeys = try heldKeys.indexTier() }
        keysByPassphrase = nil
    }

    /// Goes on with the vault as it is after new keys were made.
    func adopt(_ newKeys: VaultKeys) {
        heldKeys = newKeys
        forgetVault()
    }

    /// Opens the file again when it is next needed.
    func forgetVault() { vault = nil }

    /// Where the passphrase would come from.
    var passphraseSource: PassphraseSource { PassphraseSource(options, context) }

    // MARK: Keys

    /// When a passphrase is asked for.
    enum Asking {
        /// Where nothing else opens what is wanted.
        case ifNeeded
        /// Also where the values are open or unlocked; a key file answers it too.
        case always
    }

    /// What opens the vault beside a passphrase.
    private enum KeySource {
        /// What `unlock` keeps, where the settings let this command use it.
        case unlockCache
        /// The index key that `list` kept, for commands that show names.
        case keptIndexKey
        case keyFile
        /// The desktop's, which opens the index. One that is locked may ask the user to open it.
        case keyring
        /// The desktop's where it is open already.
        case openKeyring
    }

    /// Keys that open a tier: those that are open already, else of the first source that has some, at
    /// last by passphrase.
    func keys(_ tier: KeySlot.Tier, asking: Asking = .ifNeeded) throws -> VaultKeys {
        if asking == .ifNeeded, let heldKeys, heldKeys.opens(tier) { return heldKeys }
        var sources: [KeySource] =
            switch tier {
            case .index: [.unlockCache, .keptIndexKey, .keyFile, .keyring]
            // A passphrase that nobody has to type goes before the key file.
            case .values: passphraseSource.isUnattended ? [.unlockCache] : [.unlockCache, .keyFile]
            }
        if asking == .always { sources.removeFirst() }
        if let found = try keys(tier, from: sources) { return found }
        do {
            return try openedByPassphrase().keys
        } catch var error as CommandError {
            // Why the keyring did not help is half of the remedy.
            if error.code == .locked, let keyringProblem {
                error.message += " The desktop's keyring did not help: \(keyringProblem)."
            }
            throw error
        }
    }

    /// Keys that open the index where that takes no question; nil otherwise.
    ///
    /// - Parameter waits: Whether a locked keyring may have the user open it, and a passphrase is taken
    ///   where it comes without asking anybody; else neither is waited for.
    func keysAtHand(waits: Bool = true) throws -> VaultKeys? {
        if let heldKeys { return heldKeys }
        let keyring = waits ? KeySource.keyring : .openKeyring
        if let found = try keys(.index, from: [.unlockCache, .keptIndexKey, .keyFile, keyring]) {
            return found
        }
        guard waits else { return nil }
        if passphraseSource.isUnattended { return try openedByPassphrase().keys }
        warnOfKeyFile()
        return nil
    }

    /// The tier to open for what is better done with the values open: theirs where a passphrase comes
    /// without asking anybody.
    var unattendedTier: KeySlot.Tier { passphraseSource.isUnattended ? .values : .index }

    /// Keys from the kernel's keyring while the vault is unlocked for this process, whatever the
    /// settings say; nil while it is locked, also where the kernel has no keyrings for us.
    ///
    /// - Throws: ``ExitCode/damaged`` where the file is not the one that was unlocked, or older.
    func unlockedKeys() throws -> VaultKeys? {
        guard let found = try keys(from: .unlockCache) else { return nil }
        try check(found, from: .unlockCache)
        return hold(found)
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
        try check(opening.keys)
        keysByPassphrase = hold(opening.keys)
        return PassphraseOpening(opening, secret: secret)
    }

    /// Keys of the first source that has some for a tier.
    private func keys(_ tier: KeySlot.Tier, from sources: [KeySource]) throws -> VaultKeys? {
        keyringProblem = nil
        for source in sources {
            guard let found = try keys(from: source), found.opens(tier) else { continue }
            try check(found, from: source)
            guard
                try source != .unlockCache
                    || Settings(context).allowsCache(for: command)
            else { continue }
            return hold(found)
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
        case .keptIndexKey: return try keptIndexKeys()
        case .keyFile: return try keysFromKeyFile(vault)
        case .keyring: return try keysFromKeyring(vault)
        case .openKeyring:
            return try context.keyring()?.isUnlocked() == true ? keysFromKeyring(vault) : nil
        }
    }

    /// Holds the vault against the anchors that decide on keys: they must be of the newest one seen.
    ///
    /// - Parameter source: Where the keys came from; nil for a passphrase.
    private func check(_ found: VaultKeys, from source: KeySource? = nil) throws {
        try checkAnchors([.stateDirectory], with: found)
        switch source {
        // Kept for commands that must not wait for a keyring; the unlock cache knows the vault itself.
        case .unlockCache, .keptIndexKey: break
        case .keyring, .openKeyring: try checkAnchors([.keyring], with: found)
        case .keyFile, nil: try checkKeyringWhereNeeded(with: found)
        }
    }

    private func hold(_ found: VaultKeys) -> VaultKeys {
        warnOfKeyFile()
        heldKeys = found
        return found
    }

    /// Keys that the desktop's keyring opens; nil where it has none, or the vault no slot for it.
    ///
    /// - Throws: That the vault is damaged, which no other way to open it would mend.
    private func keysFromKeyring(_ vault: Vault) throws -> VaultKeys? {
        let slots = vault.header.slots.filter { $0.kind == .secretService }
        guard !slots.isEmpty else { return nil }
        guard let keyring = context.keyring() else {
            keyringProblem = "there is no session bus to find it on"
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
    /// Tells whether they open a tier; every key opens the index.
    fileprivate func opens(_ tier: KeySlot.Tier) -> Bool { tier == .index || opensValues }
}
