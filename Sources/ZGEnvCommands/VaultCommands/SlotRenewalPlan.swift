internal import CommandLineKit
internal import Sealing
internal import Vault

/// Which slots a `rekey` makes anew, and which it must remove because nobody gives their secret.
struct SlotRenewalPlan {
    /// A passphrase or recovery code, shared by the slots that it opens.
    final class Secret {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) {
            self.bytes = bytes
        }
    }

    /// A slot that is made anew.
    struct Kept {
        let slot: KeySlot
        /// nil for slots whose key is random, and is replaced.
        let secret: Secret?
    }

    /// A slot that goes.
    struct Removed {
        let slot: KeySlot
        let reason: String
    }

    private(set) var kept: [Kept] = []
    private(set) var removed: [Removed] = []

    init(
        _ files: [String], _ workspace: Workspace, _ vault: Vault, _ opening: PassphraseOpening
    ) throws {
        let given = Secret(try opening.secret.withBytes { try SecretBytes(copying: $0) })
        var secrets = [given]
        for path in files {
            let source = PassphraseSource.at(path)
            secrets.append(Secret(try source.passphrase(prompt: "", workspace.context)))
        }
        for slot in vault.header.slots {
            if slot.id == opening.slot.id {
                kept.append(Kept(slot: slot, secret: given))
                continue
            }
            switch slot.kind {
            case .passphrase, .recovery:
                let secret =
                    try secrets.first { try Self.opens(vault, slot, $0) }
                    ?? Self.asked(slot, vault, workspace)
                if let secret {
                    kept.append(Kept(slot: slot, secret: secret))
                } else {
                    removed.append(Removed(slot: slot, reason: "its secret was not given"))
                }
            case .secretService:
                add(slot, objection: Self.objection(toKeyringOf: slot, vault, workspace))
            case .file:
                add(slot, objection: try Self.objection(toFileOf: slot, vault, workspace))
            }
        }
    }

    private mutating func add(_ slot: KeySlot, objection: String?) {
        if let objection {
            removed.append(Removed(slot: slot, reason: objection))
        } else {
            kept.append(Kept(slot: slot, secret: nil))
        }
    }

    /// What is done with each slot, for people.
    var lines: [String] {
        kept.map { entry in
            switch entry.slot.kind {
            case .passphrase, .recovery: "make \(entry.slot.title) anew, with the same secret"
            case .secretService: "make \(entry.slot.title) anew, with a new key in the keyring"
            case .file: "make \(entry.slot.title) anew, with a new key in its file"
            }
        } + removed.map { "REMOVE \($0.slot.title): \($0.reason)" }
    }

    private static func opens(
        _ vault: Vault, _ slot: KeySlot, _ secret: Secret
    ) throws -> Bool {
        try vault.opens(slot, with: secret.bytes, memoryLimitBytes: AvailableMemory.byteCount())
    }

    /// Asks for the secret of a slot where somebody can be asked; Enter alone gives it up.
    private static func asked(
        _ slot: KeySlot, _ vault: Vault, _ workspace: Workspace
    ) throws -> Secret? {
        let options = workspace.options
        guard !options.yes, !options.json, !options.dryRun else { return nil }
        do {
            let terminal = try TerminalDevice(
                erasesPrompts: workspace.context.variable("TERM") != "dumb")
            var prompt = "Passphrase or code of \(slot.title) (Enter: remove it): "
            while true {
                var typed = try SecretBytes(count: PassphraseSource.limit)
                let count = try typed.withMutableBytes {
                    try terminal.readHidden(prompt: prompt, into: &$0)
                }
                guard count > 0 else { return nil }
                let secret = Secret(
                    try typed.withBytes { try SecretBytes(copying: $0.extracting(first: count)) })
                if try opens(vault, slot, secret) { return secret }
                prompt = "That does not open \(slot.title). Again (Enter: remove it): "
            }
        } catch TerminalError.noTerminal {
            return nil
        }
    }

    private static func objection(
        toKeyringOf slot: KeySlot, _ vault: Vault, _ workspace: Workspace
    ) -> String? {
        guard let keyring = workspace.context.keyring() else { return "there is no keyring here" }
        do {
            return switch try vault.unlock(slot, from: keyring) {
            case .opened: nil
            case .otherKey: "the key in \(keyring.name) does not open it"
            case .noKey: "\(keyring.name) has no key for it"
            }
        } catch let error as KeyringError {
            return error.reason
        } catch {
            return "the key in \(keyring.name) does not open it"
        }
    }

    private static func objection(
        toFileOf slot: KeySlot, _ vault: Vault, _ workspace: Workspace
    ) throws -> String? {
        guard let path = workspace.options.keyFile else {
            return "its file was not named with --key-file"
        }
        let file = try KeyFile(reading: path)
        guard let key = try file.key(of: slot.id, vault: vault.header.vaultID),
            try vault.unlock(slot, slotKey: key) != nil
        else { return "\(path) has no key for it" }
        return nil
    }
}
