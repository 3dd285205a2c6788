internal import CommandLineKit
internal import Sealing
internal import Vault

/// `init`: makes the vault.
enum Init: Command {
    static let spec = CommandSpec(
        ["init"], "Make a new vault", section: "Vault",
        discussion: """
            Asks for a passphrase, which opens the values. Where the desktop has a keyring, a random \
            key is put there that opens names and tokens, so that listing needs no passphrase.
            """,
        options: [
            OptionSpec(flag: "no-secret-service", "Put no key into the desktop's keyring"),
            OptionSpec(
                "kdf", value: "COST",
                "Cost of one guess: moderate, interactive, or MEMORY,OPS such as 64MiB,3",
                completion: .words(["moderate", "interactive"])),
        ],
        examples: [.init("zg-env init", "make the vault, asking for a passphrase")],
        exitCodes: [ExitCode.conflict.rawValue])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let (options, context) = (invocation.options, invocation.context)
        let cost = try cost(
            invocation.command.value("kdf") ?? Settings(invocation.context)[.kdf].text)
        if try context.files.exists(options.vaultPath) {
            throw VaultError(.exists, "there is something at \(options.vaultPath) already")
        }
        try checkMemory(cost)
        if cost.isWeakerThanInteractive {
            context.warn(
                "weak-kdf",
                "A passphrase check this cheap makes guessing cheap: use it for tests only.")
        }
        if options.dryRun {
            return CommandResult(
                json: ["vault": .string(options.vaultPath), "dryRun": true],
                text: "Would make a vault at \(DisplayText.safe(options.vaultPath)).\n")
        }
        let passphrase = try invocation.session.passphraseSource.newPassphrase(context)
        let keyring = invocation.command.has("no-secret-service") ? nil : context.keyring()
        let creation = try Vault.create(
            at: options.vaultPath, in: context.files, passphrase: passphrase,
            recipe: .init(cost: cost, keyring: keyring, time: context.now()))
        if let error = creation.keyringError {
            context.warn(
                "no-keyring",
                "No key was put into \(keyring?.name ?? "a keyring"): \(error.reason). "
                    + "Listing needs the passphrase.")
        }
        let service = keyring != nil && creation.keyringError == nil ? keyring?.name : nil
        try invocation.note("Made a vault at \(options.vaultPath).")
        if let service { try invocation.note("Names and tokens open through \(service).") }
        return CommandResult(json: [
            "vault": .string(options.vaultPath), "id": .string(creation.vaultID.hexadecimal),
            "secretService": .string(orNull: service),
        ])
    }

    /// Reads `moderate`, `interactive` or `MEMORY,OPS`.
    static func cost(_ text: String) throws -> PassphraseCost {
        switch text {
        case "moderate": return .moderate
        case "interactive": return .interactive
        default: break
        }
        let invalid = CommandError(
            .usage, "That is no cost for a passphrase.",
            hint:
                "Give moderate, interactive, or MEMORY,OPS from 8MiB,1 up to 1GiB, such as 64MiB,3."
        )
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let operations = UInt32(parts[1]),
            let memory = memoryByteCount(parts[0])
        else { throw invalid }
        let cost = PassphraseCost(operations: operations, memoryByteCount: memory)
        guard cost.isAcceptable else { throw invalid }
        return cost
    }

    private static func memoryByteCount(_ text: Substring) -> UInt64? {
        for (unit, shift) in [("MiB", 20), ("GiB", 30)] as [(String, UInt64)]
        where text.hasSuffix(unit) {
            guard let number = UInt64(text.dropLast(3)), number <= 1 << 20 else { return nil }
            return number << shift
        }
        return nil
    }

    private static func checkMemory(_ cost: PassphraseCost) throws {
        guard let available = AvailableMemory.byteCount(), cost.memoryByteCount > available else {
            return
        }
        throw CommandError(
            .failed,
            "The passphrase would take \(cost.memoryByteCount >> 20) MiB of memory to check, and "
                + "\(available >> 20) MiB are available.",
            hint: "Choose a smaller cost with --kdf. Nothing was made.")
    }
}
