internal import CommandLineKit
internal import JSON
internal import Vault

/// `doctor`: what works here and what does not, each with a remedy.
enum Doctor: Command {
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

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let vault = VaultChecks(invocation)
        var findings = vault.findings()
        findings += FileChecks(invocation).findings()
        findings += AnchorChecks.findings(invocation, vault: vault.vault)
        findings += LibraryChecks.findings(invocation.context)
        findings += MemoryChecks.findings(vault: vault.vault)
        findings += KernelKeyringChecks.findings()
        findings += KeyringChecks(invocation, vault: vault.vault).findings()
        findings += AuditChecks.findings(invocation, vault: vault.vault)
        findings += DesktopChecks.findings(invocation.context)
        findings += NotificationChecks.findings(invocation.context)
        findings += ClockChecks.findings(invocation, vault: vault.vault)
        findings += PlatformChecks(invocation).findings()
        findings += try ProjectFindings.findings(invocation, vault: vault.vault)
        let count = findings.count { $0.state == .failed }
        let look = OutputLook(invocation.context)
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
