internal import CommandLineKit
internal import JSON

/// `doctor`: checks what works on this machine and suggests remedies.
struct Doctor: Command {
    static let vaultUse = VaultUse(warnsOfRisk: false)
    static let spec = CommandSpec(
        ["doctor"], "Check the setup and suggest fixes",
        discussion: """
            Checks the vault and its files, libraries, guarded memory, the desktop and kernel \
            keyrings, the audit log, notifications, the clock and the connection to Vercel. Works \
            without a vault or with a damaged vault, and never asks for a passphrase. With -p, it \
            also checks the variables of a project, and their values if the vault is unlocked. \
            Unused keys in the desktop keyring are removed with --yes or after confirmation; \
            nothing else is changed.
            """,
        examples: [
            .init("zg-env doctor", "check everything"),
            .init("zg-env doctor -p web", "also check the variables of a project"),
            .init("zg-env doctor --offline --json", "check in a script, without contacting Vercel"),
        ], exitCodes: ExitCode.numbers(.notFound))
    static let fields = "findings: [{ \(Finding.fields) }]"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let vault = VaultChecks(workspace)
        var findings = vault.findings()
        findings += FileChecks(workspace).findings()
        findings += RollbackChecks.findings(workspace, vault: vault.vault)
        findings += LibraryChecks.findings(workspace.context)
        findings += MemoryChecks.findings(vault: vault.vault)
        findings += KernelKeyringChecks.findings()
        findings += KeyringChecks(workspace, vault: vault.vault).findings()
        findings += AuditChecks.findings(workspace, vault: vault.vault)
        findings += DesktopChecks.findings(workspace.context)
        findings += NotificationChecks.findings(workspace.context)
        findings += ClockChecks.findings(workspace, vault: vault.vault)
        findings += VercelChecks(workspace).findings()
        findings += try ProjectFindings.findings(workspace, vault: vault.vault)
        let count = findings.count { $0.state == .failed }
        let look = TerminalStyle(workspace.context)
        return CommandResult(
            json: ["findings": .array(findings.map(\.json))],
            text: Finding.table(findings, width: look.width).text(style: look.style),
            failure: count == 0
                ? nil
                : CommandError(
                    .failed, "\(DisplayText.count(count, "check")) failed.",
                    hint: "The line below each failed check says what to do."))
    }
}
