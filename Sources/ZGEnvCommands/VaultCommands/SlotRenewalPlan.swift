internal import CommandLineKit
internal import Sealing
internal import Vault

/// The slots that a `rekey` recreates, and those that it removes because their secret is not given.
struct SlotRenewalPlan {
    /// A passphrase or recovery code, shared by the slots that it opens.
    final class Secret {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) {
            self.bytes = bytes
        }
    }

    struct Kept {
        let slot: KeySlot
        /// nil for slots with a random key, which is replaced.
        let secret: Secret?
    }

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
        for (path, secret) in zip(files, secrets.dropFirst()) {
            let fits = try vault.header.slots.contains { slot in
                try [.passphrase, .recovery].contains(slot.kind) && Self.opens(vault, slot, secret)
            }
            guard fits else {
                throw CommandError(
                    .locked,
                    "The passphrase or code in \(path) does not open any slot of this vault.",
                    hint: "Nothing was changed. Correct the file, or leave out --slot-secret-file.")
            }
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
                    removed.append(Removed(slot: slot, reason: "its secret was not provided"))
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

    /// One line for each slot, for people.
    var lines: [String] {
        kept.map { entry in
            switch entry.slot.kind {
            case .passphrase, .recovery: "keep \(entry.slot.title) with the same secret"
            case .secretService: "keep \(entry.slot.title) with a new key in the keyring"
            case .file: "keep \(entry.slot.title) with a new key in its file"
            }
        } + removed.map { "REMOVE \($0.slot.title): \($0.reason)" }
    }

    private static func opens(
        _ vault: Vault, _ slot: KeySlot, _ secret: Secret
    ) throws -> Bool {
        try vault.opens(slot, with: secret.bytes, memoryLimitBytes: AvailableMemory.byteCount())
    }

    /// Asks at the terminal for the secret of a slot; nil for an empty line or without a terminal.
    private static func asked(
        _ slot: KeySlot, _ vault: Vault, _ workspace: Workspace
    ) throws -> Secret? {
        let options = workspace.options
        guard !options.yes, !options.json, !options.dryRun else { return nil }
        do {
            let terminal = try TerminalDevice(
                erasesPrompts: workspace.context.variable("TERM") != "dumb")
            var prompt = "Passphrase or code for \(slot.title) (leave empty to remove the slot): "
            while true {
                var typed = try SecretBytes(count: PassphraseSource.limit)
                let count = try typed.withMutableBytes {
                    try terminal.readHidden(prompt: prompt, into: &$0)
                }
                guard count > 0 else { return nil }
                let secret = Secret(
                    try typed.withBytes { try SecretBytes(copying: $0.extracting(first: count)) })
                if try opens(vault, slot, secret) { return secret }
                prompt =
                    "Wrong passphrase or code. Try again for \(slot.title) (leave empty to remove the slot): "
            }
        } catch TerminalError.noTerminal {
            return nil
        }
    }

    private static func objection(
        toKeyringOf slot: KeySlot, _ vault: Vault, _ workspace: Workspace
    ) -> String? {
        guard let keyring = workspace.context.keyring() else {
            return "there is no keyring in this session"
        }
        do {
            return switch try vault.unlock(slot, from: keyring) {
            case .opened: nil
            case .otherKey: "the key in \(keyring.name) does not open this slot"
            case .noKey: "\(keyring.name) has no key for this slot"
            }
        } catch let error as KeyringError {
            return error.reason
        } catch {
            return "the key in \(keyring.name) does not open this slot"
        }
    }

    private static func objection(
        toFileOf slot: KeySlot, _ vault: Vault, _ workspace: Workspace
    ) throws -> String? {
        guard let path = workspace.options.keyFile else {
            return "its key file was not specified with --key-file"
        }
        let file = try KeyFile(reading: path)
        guard let key = try file.key(of: slot.id, vault: vault.header.vaultID),
            try vault.unlock(slot, slotKey: key) != nil
        else { return "\(path) has no key for this slot" }
        return nil
    }
}
