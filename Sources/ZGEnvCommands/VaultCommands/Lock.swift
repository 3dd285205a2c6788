internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Vault

/// `lock`: ends `unlock` in all sessions of the user.
struct Lock: Command {
    static let spec = CommandSpec(
        ["lock"], "Forget what unlock keeps", section: "Vault",
        discussion: """
            Ends it in all sessions of the user, and looks whether it is gone. Where the vault cannot \
            be read to say which one it is, all vaults of the user are locked.
            """,
        examples: [.init("zg-env lock", "have every command ask for the passphrase again")],
        exitCodes: ExitCode.ofOpening)

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let vault: Vault
        do {
            vault = try workspace.session.opened()
        } catch {
            guard !workspace.options.dryRun else { throw error }
            var failure = CommandError(mapping: error)
            try lock(nil)
            failure.message += " All vaults of this user were locked."
            throw failure
        }
        if workspace.options.dryRun {
            return CommandResult(
                json: ["dryRun": true, "vault": .string(vault.path)],
                text: "Would lock \(DisplayText.safe(vault.path)).\n")
        }
        let wasUnlocked = try lock(vault.header.vaultID)
        workspace.note(wasUnlocked ? "Locked." : "Locked; it was not unlocked.")
        return CommandResult(json: [
            "vault": .string(vault.path), "locked": true, "wasUnlocked": .bool(wasUnlocked),
        ])
    }

    @discardableResult
    private func lock(_ vault: Identifier?) throws(CommandError) -> Bool {
        do throws(KernelKeyringError) {
            return try UnlockCache.lock(vault)
        } catch {
            guard error.code == .unavailable else { throw CommandError(mapping: error) }
            throw CommandError(
                .failed, CommandError.sentence(error.reason),
                hint: "Nothing is kept unlocked from here; what is unlocked elsewhere must be "
                    + "locked there.")
        }
    }
}
