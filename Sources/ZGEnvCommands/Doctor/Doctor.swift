internal import CommandLineKit
internal import JSON

/// `doctor`: what works here and what does not, each with a remedy.
struct Doctor: Command {
    static let spec = CommandSpec(
        ["doctor"], "Show what works here and what does not", section: "Vault",
        discussion: """
            Looks at the vault and its files, the libraries, guarded memory, both keyrings, the audit \
            log, notifications, the clock, and whether the platform can be reached; works without a vault and with a \
            damaged one, and asks for no passphrase. Only keys in the desktop's keyring that belong to \
            no slot any more are changed: they are removed with --yes, or when you agree. With -p it \
            also looks at the variables of a project, and at their values while those are unlocked. \
            zg-env verify checks every byte of the vault itself.
            """,
        examples: [
            .init("zg-env doctor", "look at everything"),
            .init("zg-env doctor -p web", "look at the variables of a project too"),
            .init("zg-env doctor --offline --json", "in a script, without the platform"),
        ], exitCodes: ExitCode.numbers(.notFound))

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let vault = VaultChecks(workspace)
        var findings = vault.findings()
        findings += FileChecks(workspace).findings()
        findings += AnchorChecks.findings(workspace, vault: vault.vault)
        findings += LibraryChecks.findings(workspace.context)
        findings += MemoryChecks.findings(vault: vault.vault)
        findings += KernelKeyringChecks.findings()
        findings += KeyringChecks(workspace, vault: vault.vault).findings()
        findings += AuditChecks.findings(workspace, vault: vault.vault)
        findings += DesktopChecks.findings(workspace.context)
        findings += NotificationChecks.findings(workspace.context)
        findings += ClockChecks.findings(workspace, vault: vault.vault)
        findings += PlatformChecks(workspace).findings()
        findings += try ProjectFindings.findings(workspace, vault: vault.vault)
        let count = findings.count { $0.state == .failed }
        let look = OutputLook(workspace.context)
        return CommandResult(
            json: ["findings": .array(findings.map(\.json))],
            text: Finding.table(findings).text(style: look.style),
            failure: count == 0
                ? nil
                : CommandError(
                    .failed, count == 1 ? "One check failed." : "\(count) checks failed.",
                    hint: "What to do stands beside each."))
    }
}
