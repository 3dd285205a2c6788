internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Vault

/// `lock`: locks the vault in all sessions of the user.
struct Lock: Command {
    static let spec = CommandSpec(
        ["lock"], "Lock the vault",
        discussion: """
            Locks the vault in all your sessions and checks that its key is gone. If the vault \
            file cannot be read, this locks all your vaults.
            """,
        examples: [
            .init("zg-env lock", "require the passphrase again for commands that read values")
        ],
        exitCodes: ExitCode.ofOpening)
    static let fields = "vault: string; locked?: true; wasUnlocked?: boolean; dryRun?: true"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let vault: Vault
        do {
            vault = try workspace.session.opened()
        } catch {
            guard !workspace.options.dryRun else { throw error }
            var failure = CommandError(mapping: error)
            try lock(nil)
            failure.message += " All your vaults were locked."
            throw failure
        }
        if workspace.options.dryRun {
            return CommandResult(
                json: ["dryRun": true, "vault": .string(vault.path)],
                text: "Would lock \(DisplayText.safe(vault.path)).\n")
        }
        let wasUnlocked = try lock(vault.header.vaultID)
        workspace.note(wasUnlocked ? "Locked." : "Already locked.")
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
                hint:
                    "This process cannot use the unlock cache. If a vault is unlocked in another session, run zg-env lock there."
            )
        }
    }
}
