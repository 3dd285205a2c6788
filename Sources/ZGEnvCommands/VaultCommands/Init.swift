internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Sealing
internal import Vault

/// `init`: makes the vault.
struct Init: Command {
    static let spec = CommandSpec(
        ["init"], "Make a new vault", section: "Vault",
        discussion: """
            Asks for a passphrase, which opens the values. Where the desktop has a keyring, a random \
            key is put there that opens names and tokens, so that listing needs no passphrase. The vault \
            is unlocked for 15 minutes then, as by zg-env unlock, unless --lock is given.
            """,
        options: [
            OptionSpec(flag: "no-secret-service", "Put no key into the desktop's keyring"),
            OptionSpec(flag: "lock", "Leave the vault locked"),
            OptionSpec(flag: "recovery", "Print a recovery code, once: it opens everything"),
            KdfOption.spec,
        ],
        examples: [.init("zg-env init", "make the vault, asking for a passphrase")],
        exitCodes: ExitCode.numbers(.conflict, .locked))

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
            throw VaultError(.exists, "there is something at \(options.vaultPath) already")
        }
        if options.dryRun {
            return CommandResult(
                json: ["vault": .string(options.vaultPath), "dryRun": true],
                text: "Would make a vault at \(DisplayText.safe(options.vaultPath)).\n")
        }
        let passphrase = try workspace.session.passphraseSource.newPassphrase(context)
        let keyring = usesKeyring ? context.keyring() : nil
        let recovery = hasRecovery ? try RecoveryCode.random() : nil
        let creation = try Vault.create(
            at: options.vaultPath, in: context.files, passphrase: passphrase,
            recipe: .init(
                cost: cost, keyring: keyring, recovery: recovery, time: context.now()))
        let hasItem = keyring != nil && creation.keyringError == nil
        workspace.session.keepAnchors(
            creation.sighting, of: creation.vaultID,
            hasItem ? [.stateDirectory, .keyring] : [.stateDirectory])
        if let error = creation.keyringError {
            context.warn(
                "no-keyring",
                "No key was put into \(keyring?.name ?? "a keyring"): \(error.reason). "
                    + "Listing needs the passphrase.")
        }
        let service = hasItem ? keyring?.name : nil
        workspace.note("Made a vault at \(options.vaultPath).")
        if let service { workspace.note("Names and tokens open through \(service).") }
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

    /// Leaves the new vault unlocked for this session, so that the first import needs no second passphrase.
    /// Where that cannot be, the vault is made all the same.
    private func unlock(
        _ creation: Vault.Creation, _ workspace: Workspace
    ) throws -> UnlockedState? {
        if staysLocked { return nil }
        do {
            try Unlock.mapped { () throws(KernelKeyringError) in try UnlockCache.check(.session) }
            let isKept = try UnlockCaching.keep(
                creation.keys, of: workspace.session.opened(), at: creation.sighting.position,
                seconds: Self.unlockSeconds, scope: .session, workspace)
            guard isKept else { return nil }
            return UnlockedState(
                scope: .session,
                endsAt: workspace.context.now() / 1_000 + UInt64(Self.unlockSeconds))
        } catch let error as CommandError {
            workspace.detail("The vault is locked: \(error.message)")
            return nil
        }
    }
}

/// What people must know of a recovery code when it is printed.
enum RecoveryNote {
    static let text =
        "The recovery code opens everything, wherever a passphrase is asked for. It is shown this "
        + "once: write it down and keep it apart from this machine."
}
