internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Sealing
internal import Vault

/// `init`: creates the vault.
struct Init: Command {
    static let spec = CommandSpec(
        ["init"], "Create a new vault",
        discussion: """
            Asks for a passphrase, which unlocks everything. If the desktop has a keyring, a \
            random key stored there unlocks names and tokens, so that listing does not need the \
            passphrase. The new vault stays unlocked for 15 minutes unless --lock is given, if the login \
            session has a kernel keyring.
            """,
        options: [
            OptionSpec(flag: "no-secret-service", "Do not store a key in the desktop keyring"),
            OptionSpec(flag: "lock", "Leave the vault locked"),
            OptionSpec(flag: "recovery", "Print a recovery code that unlocks everything"),
            KdfOption.spec,
        ],
        examples: [.init("zg-env init", "create the vault and ask for a passphrase")],
        exitCodes: ExitCode.numbers(.conflict, .locked))
    static let fields = """
        vault: string; id?: string; secretService?: string | null
        unlocked?: null | { \(UnlockedState.fields) }
        recoveryCode?: string (with --recovery; a secret); dryRun?: true
        """

    private let cost: String?
    private let usesKeyring: Bool
    private let hasRecovery: Bool
    private let staysLocked: Bool

    init(_ command: ParsedCommand) {
        cost = command.value(KdfOption.spec.name)
        usesKeyring = !command.has("no-secret-service")
        hasRecovery = command.has("recovery")
        staysLocked = command.has("lock")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (options, context) = (workspace.options, workspace.context)
        let usual = try PassphraseCost(text: Settings(context)[.kdf].text)
        let cost = try KdfOption.cost(cost, workspace, or: usual)
        if try context.files.exists(options.vaultPath) {
            throw VaultError(.exists, "\(options.vaultPath) already exists")
        }
        if options.dryRun {
            return CommandResult(
                json: ["vault": .string(options.vaultPath), "dryRun": true],
                text: "Would create vault \(DisplayText.safe(options.vaultPath)).\n")
        }
        var silence: EchoSuspension?
        defer { silence?.end() }
        let passphrase = try Self.newPassphrase(workspace, keepingEchoOff: &silence)
        let keyring = usesKeyring ? context.keyring() : nil
        let recovery = hasRecovery ? try RecoveryCode.random() : nil
        let creation = try Vault.create(
            at: options.vaultPath, in: context.files, passphrase: passphrase,
            recipe: .init(
                cost: cost, keyring: keyring, recovery: recovery, time: context.now()))
        silence?.end()
        let hasItem = keyring != nil && creation.keyringError == nil
        workspace.session.updateGuards(
            creation.sighting, of: creation.vaultID,
            hasItem ? [.stateDirectory, .keyring] : [.stateDirectory])
        if let error = creation.keyringError {
            context.warn(
                "no-keyring",
                "No key was stored in \(keyring?.name ?? "a keyring"): \(error.reason). "
                    + "Listing names will ask for the passphrase.")
        }
        let service = hasItem ? keyring?.name : nil
        workspace.note("Created vault \(options.vaultPath).")
        if let service {
            workspace.note("Stored a key for names and tokens in \(service).")
        }
        if recovery != nil { workspace.note(RecoveryNote.text) }
        let unlocked = try unlock(creation, workspace)
        let now = context.now()
        if let unlocked {
            workspace.note(
                "Unlocked \(unlocked.text(now: now)). Lock with: zg-env lock")
        }
        return CommandResult(
            json: [
                "vault": .string(options.vaultPath), "id": .string(creation.vaultID.hexadecimal),
                "secretService": .string(orNull: service),
                "unlocked": unlocked?.json(now: now) ?? .null,
            ], secret: try recovery.map { NamedSecret("recoveryCode", try $0.text()) })
    }
}

extension Init {
    private static let unlockSeconds: UInt32 = 900

    /// Asks for the passphrase, and for another one if the user takes back a very weak one.
    private static func newPassphrase(
        _ workspace: Workspace, keepingEchoOff silence: inout EchoSuspension?
    ) throws -> SecretBytes {
        let source = workspace.session.passphraseSource
        while true {
            let passphrase = try source.newPassphrase(workspace.context, keepingEchoOff: &silence)
            let isUsed = try PassphraseStrength.isAccepted(
                passphrase, asks: !source.isUnattended, workspace, &silence)
            if isUsed { return passphrase }
        }
    }

    /// Unlocks the new vault for this session, so that the first import does not ask again.
    /// A failure leaves it locked and is not an error.
    private func unlock(
        _ creation: Vault.Creation, _ workspace: Workspace
    ) throws -> UnlockedState? {
        if staysLocked { return nil }
        do {
            try Unlock.mapped { () throws(KernelKeyringError) in try UnlockCache.check(.session) }
            let isKept = try UnlockCaching.keep(
                creation.keys, of: workspace.session.opened(), at: creation.sighting.position,
                seconds: Self.unlockSeconds, scope: .session, workspace)
            guard isKept else {
                workspace.note(
                    "The vault is locked: a second process could not read the key back from the kernel."
                )
                return nil
            }
            return UnlockedState(
                scope: .session,
                endsAt: workspace.context.now() / 1_000 + UInt64(Self.unlockSeconds))
        } catch let error as CommandError {
            let why = [error.message, error.hint].compactMap { $0 }.joined(separator: " ")
            workspace.note("The vault is locked. \(why)")
            return nil
        }
    }
}

/// The advice printed with a recovery code.
enum RecoveryNote {
    static let text =
        "You can enter this recovery code at any passphrase prompt; it unlocks everything. It is shown only "
        + "once: write it down and keep it away from this machine."
}
