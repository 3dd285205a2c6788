internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Vault

/// `unlock`: keeps the values open for a while, without a daemon.
struct Unlock: Command {
    static let spec = CommandSpec(
        ["unlock"], "Unlock the vault for a while",
        discussion: """
            Asks for the passphrase and keeps the vault's key in the kernel keyring until it \
            expires. Until then, most commands work without the passphrase in this login session \
            or, with --scope user, in all your sessions, cron jobs and user services. Still asked \
            for are reveal, rekey, passwd, slot add, slot remove, log --accept and \
            verify --accept-older. Meanwhile, any program you run can use the key: run zg-env lock \
            when you are done.
            """,
        options: [
            OptionSpec(
                "for", value: "TIME", "Lock again after TIME (default 15m)",
                form: .duration),
            OptionSpec(
                "scope", value: "SCOPE", "Unlock for this session or for all sessions of the user",
                form: .oneOf(UnlockScope.allCases.map(\.rawValue))),
        ],
        examples: [
            .init("zg-env unlock", "unlock for 15 minutes"),
            .init("zg-env unlock --for 8h --scope user", "unlock for a day's cron jobs"),
        ],
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        vault: string; unlocked?: { \(UnlockedState.fields) }
        dryRun?: true
        """

    /// The kernel counts seconds in 32 bits; this also keeps the end time representable.
    private static let longest = Int64(Int32.max)

    private let seconds: UInt32
    /// nil for this session, or for all if it has no keyring and the user agrees.
    private let scope: UnlockScope?

    init(_ command: ParsedCommand) throws {
        let seconds = (command.duration("for") ?? .seconds(900)).components.seconds
        guard (1...Self.longest).contains(seconds) else {
            throw CommandError(
                .usage, "--for must be between 1 second and \(Self.longest / 86_400) days.",
                hint: "Use a whole number and s, m, h or d, such as 15m.")
        }
        self.seconds = UInt32(seconds)
        scope = command.choice("scope")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (session, context) = (workspace.session, workspace.context)
        let vault = try session.opened()
        // Fail before asking for the passphrase.
        let scope = try usableScope(workspace)
        if workspace.options.dryRun {
            return CommandResult(
                json: ["dryRun": true, "vault": .string(vault.path)],
                text: "Would unlock \(DisplayText.safe(vault.path)).\n")
        }
        // A vault that is already unlocked must not have been replaced since.
        _ = try session.unlockedKeys()
        let keys = try session.keys(.values, asking: .always)
        let newest = try session.opened()
        // This authenticates the tag in the position.
        _ = try newest.index(with: keys, extent: .listing)
        let position = try newest.position()
        let now = context.now() / 1_000
        guard
            try UnlockCaching.keep(
                keys, of: newest, at: position, seconds: seconds, scope: scope, workspace)
        else {
            throw CommandError(
                .failed,
                "A second process could not read the keys back, so the vault stays locked.",
                hint: scope == .session ? "Try: zg-env unlock --scope user" : nil)
        }
        let state = UnlockedState(scope: scope, endsAt: now + UInt64(seconds))
        workspace.note("Unlocked \(state.text(now: now * 1_000)). Lock with: zg-env lock")
        return CommandResult(json: [
            "vault": .string(newest.path), "unlocked": state.json(now: now * 1_000),
        ])
    }

    /// Returns the scope to unlock for. In a login without a session keyring, asks whether to unlock
    /// for all sessions: other programs of the user can then use the key too, so not even `--yes`
    /// decides that.
    private func usableScope(_ workspace: Workspace) throws -> UnlockScope {
        do throws(KernelKeyringError) {
            try UnlockCache.check(scope ?? .session)
            return scope ?? .session
        } catch {
            let failure = CommandError(mapping: error)
            guard scope == nil, [.noSession, .sessionEnded].contains(error.code),
                !workspace.options.dryRun, !workspace.options.yes,
                workspace.interaction.canConfirm,
                try workspace.interaction.confirm(
                    "The vault cannot be unlocked for this terminal alone, because the system did not give this terminal a keyring.",
                    [],
                    "Unlock it for all programs that you run on this machine (--scope user)?")
            else { throw failure }
            try Self.mapped { () throws(KernelKeyringError) in try UnlockCache.check(.user) }
            return .user
        }
    }

    static func mapped<R>(_ body: () throws(KernelKeyringError) -> R) throws(CommandError) -> R {
        do { return try body() } catch { throw CommandError(mapping: error) }
    }
}
