internal import CommandLineKit
internal import Vault

/// The vault of one command: opened once, unlocked as far as the command needs.
package final class VaultSession {
    let options: GlobalOptions
    let context: Context
    /// The command's words, for the settings.
    let command: String
    let use: VaultUse
    private var vault: Vault?
    let turns = GlobalLock()
    /// The features that take part in each write of variables.
    let stages: [any WriteStage]
    /// What the writes so far reported.
    private(set) var told = News()
    private(set) var rollback: RollbackState
    private var held = HeldKeys()
    /// What features keep with this session, by type.
    private var attachments: [ObjectIdentifier: AnyObject] = [:]
    /// What a prompt says that the passphrase is for, as in "show KEY"; nil in a shell, where the
    /// command line says it.
    private(set) var purpose: String?

    /// The keys that are open, and why others are not.
    private struct HeldKeys {
        var keys: VaultKeys?
        /// The unlock that gave the keys.
        var unlocked: UnlockedState?
        /// The keys that a passphrase opened in this command.
        var byPassphrase: VaultKeys?
        /// Why the keyring did not open the vault at the last attempt.
        var keyringProblem: String?
        /// Why the given key file did not open the vault, until that is reported.
        var keyFileProblem: String?
    }

    /// What is known against older copies of the vault.
    struct RollbackState {
        let anchors: RollbackGuards
        /// The newest generation that was opened before ``closeVault()``, or written.
        var floor: VaultObservation?
        /// The guards checked so far.
        var verdicts: [RollbackGuards.Place: RollbackVerdict] = [:]
    }

    /// - Parameters:
    ///   - command: The command's words, for the settings.
    ///   - stages: None for a session that only reads.
    ///   - vault: An opened vault, if it is not the one that the options select.
    init(
        options: GlobalOptions, context: Context, command: String = "", use: VaultUse = VaultUse(),
        stages: [any WriteStage], vault: Vault? = nil
    ) {
        self.options = options
        self.context = context
        self.command = command
        self.use = use
        self.stages = stages
        self.vault = vault
        rollback = RollbackState(anchors: RollbackGuards(context, path: options.vaultPath))
    }

    var path: String { options.vaultPath }

    /// Notes what a write, or a command after it, reports.
    func tell(_ news: News) { told.add(news) }
    func tell(_ part: some NewsPart) { told.add(part) }

    /// Returns what a feature keeps with this session, until its keys are dropped.
    func attached<Feature: AnyObject>(_ make: () throws -> Feature) rethrows -> Feature {
        let key = ObjectIdentifier(Feature.self)
        if let found = attachments[key] as? Feature { return found }
        let made = try make()
        attachments[key] = made
        return made
    }

    /// Names in prompts what a passphrase is for.
    func asking<Result>(
        for purpose: String?, _ body: () throws -> Result
    ) rethrows -> Result {
        self.purpose = purpose
        defer { self.purpose = nil }
        return try body()
    }

    var unlocked: UnlockedState? { held.unlocked }
    /// Keys that open values, if some are open already.
    var openValueKeys: VaultKeys? {
        held.keys?.opensValues == true ? held.keys : held.byPassphrase
    }
    var keysByPassphrase: VaultKeys? { held.byPassphrase }

    /// Notes the result of comparing the vault with a guard.
    func note(_ verdict: RollbackVerdict, of place: RollbackGuards.Place) {
        rollback.verdicts[place] = verdict
    }

    /// Opens the vault file, without decrypting anything.
    func opened() throws -> Vault {
        if let vault { return vault }
        guard !path.isEmpty else {
            throw VaultError(.notFound, "there is no home directory to look for the vault in")
        }
        let opened = try Vault(opening: path, in: context.files)
        opened.floor = rollback.floor
        let isNew = !context.warnings.contains { $0.code == "vault-exposed" }
        if use.warnsOfRisk, isNew, let risk = opened.risk { context.warn("vault-exposed", risk) }
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
        (held.keys, held.unlocked, attachments) = (nil, nil, [:])
        // What is opened later is compared with the guards again.
        (vault, rollback.floor, rollback.verdicts) = (nil, nil, [:])
    }

    /// Drops the keys that open values, for a command that runs for long with the index alone.
    func keepIndexTierOnly() throws {
        held.keys = try held.keys?.indexTier()
        held.byPassphrase = nil
    }

    /// Uses new keys after a rekey.
    func adopt(_ newKeys: VaultKeys) {
        (held.keys, attachments) = (newKeys, [:])
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
        if let floor = rollback.floor,
            floor.position.generation >= seen.position.generation
        {
            return
        }
        rollback.floor = seen
    }

    /// The position that a write must follow.
    func positionSeen() throws -> VaultPosition {
        let opened = try opened()
        return try opened.isAuthentic
            ? opened.position() : rollback.floor?.position ?? opened.position()
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
        if asking == .ifNeeded, let keys = held.keys, keys.opens(tier) { return keys }
        // Typed for this command already, as for a list of names to pick from.
        if asking == .always, let keys = held.byPassphrase { return keys }
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
            if error.code == .locked, let problem = held.keyringProblem {
                error.message += " The desktop keyring could not open the vault: \(problem)."
            }
            throw error
        }
    }

    /// Returns keys that open the index without a prompt; nil if there are none.
    ///
    /// - Parameter waits: Whether to let a locked keyring ask the user, and to read a passphrase that
    ///   needs no prompt.
    func keysWithoutPrompt(waits: Bool = true) throws -> VaultKeys? {
        if let keys = held.keys { return keys }
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
        held.byPassphrase = hold(opening.keys)
        return PassphraseOpening(opening, secret: secret)
    }

    /// Returns the keys of the first source that has some for a tier.
    private func keys(_ tier: KeySlot.Tier, from sources: [KeySource]) throws -> VaultKeys? {
        held.keyringProblem = nil
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
            held.unlocked = found.state
            return found.keys
        case .cachedIndexKey: return try cachedIndexKeys()
        case .keyFile:
            let found = try keysFromKeyFile(vault)
            held.keyFileProblem = found.problem
            return found.keys
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

    /// Warns that the given key file did not help, if something else opened the vault or nothing has to.
    private func warnAboutKeyFile() {
        guard let problem = held.keyFileProblem else { return }
        held.keyFileProblem = nil
        context.warn("key-file-unused", problem)
    }

    /// Adds to a failure that leaves the vault locked why the key file did not help.
    func reportingKeyFileProblem<R: ~Copyable>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            var failure = CommandError(mapping: error)
            guard failure.code == .locked, let problem = held.keyFileProblem else { throw error }
            failure.message += " \(problem)"
            throw failure
        }
    }

    private func hold(_ found: VaultKeys) -> VaultKeys {
        warnAboutKeyFile()
        held.keys = found
        return found
    }

    /// Returns the keys that the desktop keyring opens; nil if it has none or the vault has no slot for it.
    ///
    /// - Throws: Only for a damaged vault, which no other source would open either.
    private func keysFromKeyring(_ vault: Vault) throws -> VaultKeys? {
        let slots = vault.header.slots.filter { $0.kind == .secretService }
        guard !slots.isEmpty else { return nil }
        guard let keyring = context.keyring() else {
            held.keyringProblem = "there is no session bus"
            return nil
        }
        for slot in slots {
            do {
                switch try vault.unlock(slot, from: keyring) {
                case .opened(let keys): return keys
                case .otherKey:
                    held.keyringProblem = "the key in \(keyring.name) does not open this vault"
                case .noKey: held.keyringProblem = "\(keyring.name) has no key for this vault"
                }
            } catch let error as VaultError where error.code == .damaged {
                throw error
            } catch {
                held.keyringProblem =
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
