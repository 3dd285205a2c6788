internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

/// `slot add`: adds a way to open the vault.
struct SlotAdd: Command {
    static let spec = CommandSpec(
        ["slot", "add"], "Add a way to open the vault",
        discussion: """
            A passphrase or a recovery code unlocks everything. A key in the desktop keyring unlocks \
            names and tokens. So does a key file, for machines without a desktop; with --values it \
            unlocks everything. Use a key file with --key-file or ZG_ENV_KEY_FILE.
            """,
        arguments: [
            ArgumentSpec(
                "KIND", .one, "The kind of slot",
                form: .oneOf(["passphrase", "secret-service", "recovery", "file"])),
            ArgumentSpec("PATH", .optional, "The key file to create", completion: .file),
        ],
        options: NewPassphrase.options + [
            KdfOption.spec,
            OptionSpec(flag: "values", "Let the key file unlock the values too"),
        ],
        exclusive: [NewPassphrase.exclusive],
        examples: [
            .init("zg-env slot add recovery", "create and print a recovery code"),
            .init(
                "zg-env slot add file /etc/zg-env/key",
                "create a key file that opens only names and tokens"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = """
        \(KeySlot.fields); file?: string; recoveryCode?: string (a secret)
        With --dry-run:
        kind: string; dryRun: true
        """

    private let kind: KeySlot.Kind
    private let path: String?
    private let tier: KeySlot.Tier
    private let cost: String?
    private let newPassphrase: NewPassphrase

    init(_ command: ParsedCommand) throws {
        let name = command.required("KIND")
        let kind = KeySlot.Kind.allCases.first { $0.name == name } ?? .passphrase
        (self.kind, path) = (kind, command.argument("PATH"))
        guard (kind == .file) == (path != nil) else {
            throw CommandError(
                .usage,
                kind == .file ? "A key file needs a path." : "Only a key file takes a path.",
                hint: "Run: zg-env slot add file PATH")
        }
        tier = command.has("values") ? .values : .index
        guard kind == .file || tier == .index else {
            throw CommandError(.usage, "--values is only for key files.")
        }
        let options = NewPassphrase.exclusive + [KdfOption.spec.name]
        if kind != .passphrase, let option = options.first(where: { command.has($0) }) {
            throw CommandError(.usage, "--\(option) is only for passphrases.")
        }
        cost = command.value(KdfOption.spec.name)
        newPassphrase = NewPassphrase(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let header = try session.opened().header
        try VaultHeader.checkRoom(for: kind, among: header.slots)
        let source = kind == .passphrase ? try newPassphrase.source(workspace) : nil
        let cost =
            kind == .passphrase
            ? try KdfOption.cost(cost, workspace, or: .moderate) : .moderate
        if workspace.options.dryRun {
            return CommandResult(
                json: ["kind": .string(kind.name), "dryRun": true],
                text: "Would add a \(kind.name) slot.\n")
        }
        let work = Work(
            workspace: workspace, keys: try session.keys(.values, asking: .always),
            vaultID: header.vaultID)
        if let source { return try work.addPassphrase(from: source, cost) }
        if let path { return try work.addFile(path, tier) }
        return try kind == .recovery ? work.addRecovery() : work.addSecretService()
    }

    private struct Work {
        let workspace: Workspace
        let keys: VaultKeys
        let vaultID: Identifier

        var time: UInt64 { workspace.context.now() }

        func addPassphrase(
            from source: PassphraseSource, _ cost: PassphraseCost
        ) throws -> CommandResult {
            var silence: EchoSuspension?
            defer { silence?.end() }
            let passphrase = try source.newPassphrase(
                workspace.context, keepingEchoOff: &silence)
            let slot = try keys.passphraseSlot(passphrase, cost: cost, vault: vaultID, at: time)
            try write(slot)
            PassphraseStrength.warn(of: passphrase, slot: slot.shortID, workspace)
            return CommandResult(json: .object(slot.members))
        }

        func addRecovery() throws -> CommandResult {
            let code = try RecoveryCode.random()
            let slot = try keys.recoverySlot(code, vault: vaultID, at: time)
            try write(slot)
            workspace.note(RecoveryNote.text)
            return CommandResult(
                json: .object(slot.members),
                secret: NamedSecret("recoveryCode", try code.text()))
        }

        func addSecretService() throws -> CommandResult {
            guard let keyring = workspace.context.keyring() else {
                throw KeyringError(.noBus, "there is no session bus, so there is no keyring")
            }
            let key = try SecretBytes.random(count: 32)
            let slot = try keys.storedKeySlot(
                .secretService, .index, slotKey: key, vault: vaultID, at: time)
            let item = slot.keyringItem(vault: vaultID)
            do {
                try keyring.storeVerified(key, for: item)
                try write(slot)
            } catch {
                // The file may be in place, and then needs its key.
                if (error as? VaultError)?.code != .notConfirmed { try? keyring.remove(item) }
                throw error
            }
            return CommandResult(json: .object(slot.members))
        }

        func addFile(_ path: String, _ tier: KeySlot.Tier) throws -> CommandResult {
            let key = try SecretBytes.random(count: 32)
            let slot = try keys.storedKeySlot(
                .file, tier, slotKey: key, vault: vaultID, at: time)
            try KeyFile.create(path, key, of: slot.id, vault: vaultID)
            do {
                try KeyFile.check(path, for: key, of: slot.id, vault: vaultID)
                try write(slot)
            } catch {
                if (error as? VaultError)?.code != .notConfirmed { KeyFile.delete(path) }
                throw error
            }
            workspace.note("Use the key file with --key-file or ZG_ENV_KEY_FILE.")
            return CommandResult(json: .object(slot.members + [.init("file", .string(path))]))
        }

        private func write(_ slot: KeySlot) throws {
            let place = slot.kind == .secretService ? RollbackGuards.Place.keyring : nil
            try workspace.auditedSlotChange([slot.title]) {
                try workspace.session.changeKeys(newPlace: place) { try $0.add(slot) }
            }
            workspace.note("Added \(slot.title), which unlocks \(slot.tierText).")
        }
    }
}
