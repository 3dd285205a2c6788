internal import CommandLineKit
internal import JSON
internal import KernelKeyring
internal import Vault

/// `unlock`: keeps the values open for a time, without a daemon.
struct Unlock: Command {
    static let spec = CommandSpec(
        ["unlock"], "Keep the values open for a time", section: "Vault",
        discussion: """
            Asks for the passphrase and puts what opens the vault into the kernel's keyring, which \
            ends it by itself. Until then every command but reveal works without the passphrase, for \
            the programs of this login session; with --scope user in all logins, cron jobs and units \
            of the user. Any program of yours can use it meanwhile: lock when you are done.

            What was changed while the values were locked is listed. A terminal asks whether these \
            changes are yours, and --accept-changes says so; until then nothing that they touch is given out \
            or sent.
            """,
        options: [
            OptionSpec(
                "for", value: "TIME", "Lock again after this time (15m unless given)",
                form: .duration),
            OptionSpec(
                "scope", value: "SCOPE", "Who can use it: this session, or all of the user's",
                form: .oneOf(UnlockScope.allCases.map(\.rawValue))),
        ],
        examples: [
            .init("zg-env unlock", "unlock for 15 minutes"),
            .init("zg-env unlock --for 8h --scope user", "unlock for a day's cron jobs"),
        ],
        exitCodes: ExitCode.ofOpening)

    /// The kernel counts in 32 bits; this also keeps the end a point of time it can hold.
    private static let longest = Int64(Int32.max)

    private let seconds: UInt32
    private let scope: UnlockScope

    init(_ command: ParsedCommand) throws {
        let seconds = (command.duration("for") ?? .seconds(900)).components.seconds
        guard (1...Self.longest).contains(seconds) else {
            throw CommandError(
                .usage, "--for is from one second to \(Self.longest / 86_400) days.",
                hint: "Write a whole number and s, m, h or d, as in 15m.")
        }
        self.seconds = UInt32(seconds)
        scope = command.choice("scope") ?? .session
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (session, context) = (workspace.session, workspace.context)
        let vault = try session.opened()
        // Before the passphrase is asked for in vain.
        try Self.mapped { () throws(KernelKeyringError) in try UnlockCache.check(scope) }
        if workspace.options.dryRun {
            return CommandResult(
                json: ["dryRun": true, "vault": .string(vault.path)],
                text: "Would unlock \(DisplayText.safe(vault.path)).\n")
        }
        // A vault that is unlocked already must still be the one that was.
        _ = try session.unlockedKeys()
        let keys = try session.keys(.values, asking: .always)
        let (changes, isAccepted) = try review(with: keys, workspace)
        let newest = try session.opened()
        // The tag in the position is proved by this.
        _ = try newest.index(with: keys, extent: .listing)
        let position = try newest.position()
        let now = context.now() / 1_000
        guard
            try UnlockCaching.keep(
                keys, of: newest, at: position, seconds: seconds, scope: scope, workspace)
        else {
            throw CommandError(
                .failed, "A second process could not read the keys back, so nothing is unlocked.",
                hint: scope == .session ? "Try: zg-env unlock --scope user" : nil)
        }
        let state = UnlockedState(scope: scope, endsAt: now + UInt64(seconds))
        workspace.note("Unlocked \(state.text(now: now * 1_000)). Lock with: zg-env lock")
        return CommandResult(json: [
            "vault": .string(newest.path), "unlocked": state.json(now: now * 1_000),
            "changedWhileLocked": changes.json,
            "accepted": .bool(orNull: isAccepted),
        ])
    }

    /// Lists what was changed while the values were locked, asks where somebody can be asked, and keeps a
    /// yes. Not to know is no error: the changes stay listed.
    private func review(
        with keys: VaultKeys, _ workspace: Workspace
    ) throws -> (text: ChangesText, isAccepted: Bool?) {
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        try workspace.session.noteCheckpoint(of: index)
        let comparison = CheckpointComparison(of: index)
        let review = ChangesReview(comparison, in: index, workspace)
        if comparison.isEmpty { return (review.text, nil) }
        let answer = try review.answer("Are these changes yours?")
        if answer == nil {
            workspace.note("\(review.text.sentence):")
            for line in review.text.summary(now: workspace.context.now()) {
                workspace.note("  \(line)")
            }
        }
        var isAccepted = answer == true
        if isAccepted {
            do {
                try workspace.session.update(with: keys) { try $0.accept(comparison) }
                workspace.note("Accepted.")
            } catch let error as VaultError
                where [.busy, .inputOutput, .insecure, .notConfirmed].contains(error.code)
            {
                // A vault that cannot be written now goes on listing them.
                isAccepted = false
                workspace.context.warn(
                    "not-accepted",
                    "That these changes are yours could not be kept: "
                        + CommandError.sentence(error.reason))
            }
        }
        if !isAccepted {
            workspace.note(
                "They stay listed. If they are yours, say so with: zg-env unlock --accept-changes")
        }
        return (review.text, isAccepted)
    }

    static func mapped<R>(_ body: () throws(KernelKeyringError) -> R) throws(CommandError) -> R {
        do { return try body() } catch { throw CommandError(mapping: error) }
    }
}
