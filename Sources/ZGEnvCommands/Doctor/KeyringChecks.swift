internal import CommandLineKit
internal import SecretServiceKeyring
internal import Vault

/// Checks the desktop keyring: its provider, whether it is unlocked, and whether its keys match the
/// vault's slots.
struct KeyringChecks {
    private let workspace: Workspace
    private let vault: Vault?
    private let keyring: SecretServiceKeyring?

    init(_ workspace: Workspace, vault: Vault?) {
        self.workspace = workspace
        self.vault = vault
        keyring = workspace.context.keyring() as? SecretServiceKeyring
    }

    private var slots: [KeySlot] {
        vault?.header.slots.filter { $0.kind == .secretService } ?? []
    }

    func findings() -> [Finding] {
        guard let keyring else {
            return [Self.unreachable(KeyringError(.noBus, "there is no session bus"), slots.count)]
        }
        let status: SecretServiceStatus
        do throws(KeyringError) {
            status = try keyring.status()
        } catch {
            return [Self.unreachable(error, slots.count)]
        }
        var findings = [Self.provider(status)]
        guard status.collection == .unlocked, let vault else { return findings }
        findings += slots.map { slot($0, of: vault, in: keyring) }
        if let orphans = orphans(of: vault, in: keyring) { findings.append(orphans) }
        return findings
    }

    /// A vault without a keyring slot does not need the keyring.
    static func unreachable(_ error: KeyringError, _ slotCount: Int) -> Finding {
        Finding(
            "keyring", slotCount > 0 ? .warning : .skipped,
            CommandError.sentence(error.reason)
                + (slotCount > 0 ? " Listing names requires the passphrase." : ""),
            remedy: slotCount > 0 ? CommandError(mapping: error).hint : nil)
    }

    static func provider(_ status: SecretServiceStatus) -> Finding {
        let name = status.serviceName
        return switch status.collection {
        case .unlocked:
            Finding("keyring", .ok, CommandError.sentence("\(name) is running and unlocked"))
        case .locked:
            Finding(
                "keyring", .warning, CommandError.sentence("\(name) is running, but locked"),
                remedy:
                    "Unlock \(name) in its own application, or run zg-env list, which asks you to unlock it"
            )
        case .missing:
            Finding(
                "keyring", .warning,
                CommandError.sentence("\(name) is running, but has no default collection"),
                remedy:
                    "Create a collection in the keyring's own application, or with: zg-env slot add secret-service"
            )
        }
    }

    private func slot(
        _ slot: KeySlot, of vault: Vault, in keyring: SecretServiceKeyring
    ) -> Finding {
        let problem: String?
        do {
            problem =
                switch try vault.unlock(slot, from: keyring) {
                case .opened: nil
                case .otherKey: "the key in the keyring does not open \(slot.title)"
                case .noKey: "the keyring has no key for \(slot.title)"
                }
        } catch {
            problem = CommandError(mapping: error).message
        }
        return Self.slot(slot.title, slot.shortID, problem)
    }

    static func slot(_ title: String, _ id: String, _ problem: String?) -> Finding {
        guard let problem else {
            return Finding(
                "keyring-slot", .ok, "The key in \(title) opens this vault.")
        }
        return Finding(
            "keyring-slot", .warning, CommandError.sentence(problem),
            remedy:
                "Create a new slot: zg-env slot add secret-service, then zg-env slot remove \(word: id)"
        )
    }

    // MARK: Keys without a slot

    /// Checks for keys of this vault that no slot uses, and removes them if allowed.
    private func orphans(of vault: Vault, in keyring: SecretServiceKeyring) -> Finding? {
        do {
            let orphans = Self.orphans(
                try keyring.items(ofVault: vault.header.vaultID.hexadecimal),
                slots: vault.header.slots)
            guard !orphans.isEmpty, mayRemove(orphans.count) else {
                return Self.orphans(found: orphans.count, removed: 0)
            }
            // A slot may have been added since.
            let now = try Vault(opening: vault.path, in: workspace.context.files)
            guard now.header.vaultID == vault.header.vaultID else { return nil }
            let still = Self.orphans(orphans, slots: now.header.slots)
            for item in still { try keyring.remove(item) }
            return Self.orphans(found: still.count, removed: still.count)
        } catch {
            return Finding(
                "keyring-orphans", .warning,
                "Could not check for unused keys or remove them: "
                    + CommandError(mapping: error).message)
        }
    }

    /// Returns the keys among `items` that no slot uses.
    static func orphans(_ items: [KeyringItem], slots: [KeySlot]) -> [KeyringItem] {
        let used = Set(slots.filter { $0.kind == .secretService }.map(\.id.hexadecimal))
        return items.filter { $0.purpose == .slotKey && !used.contains($0.identifier) }
    }

    private func mayRemove(_ count: Int) -> Bool {
        let options = workspace.options
        if options.dryRun { return false }
        if options.yes { return true }
        guard !options.json else { return false }
        let question =
            "Remove \(DisplayText.count(count, "unused key")) for this vault from the keyring?"
        return (try? TerminalDevice().confirm(question)) ?? false
    }

    static func orphans(found: Int, removed: Int) -> Finding {
        let check = "keyring-orphans"
        guard found > 0 else {
            return Finding(check, .ok, "The keyring has no unused keys for this vault.")
        }
        let keys = DisplayText.count(found, "unused key")
        guard removed == found else {
            return Finding(
                check, .warning, "The keyring has \(keys) for this vault.",
                remedy: "Remove unused keys with: zg-env doctor --yes")
        }
        return Finding(check, .ok, "Removed \(keys) for this vault from the keyring.")
    }
}
