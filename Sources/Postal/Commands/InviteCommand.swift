internal import CommandLineKit
internal import JSON
internal import PostalProtocol
internal import Sealing

/// `invite`: creates a code that lets one device join.
enum InviteCommand: PostalCommand {
    static let spec = CommandSpec(
        ["invite"], "Create a code that lets one device join",
        discussion: """
            Prints a code. The first device that runs `zg-env postal join` with this code gets the \
            events of these accounts. The code works once and expires. It cannot be shown \
            again: the store contains only a digest of it.
            """,
        options: [
            OptionSpec(
                "account", value: "ID", "Send events of this team or user (repeatable)",
                repeatable: true, commaSeparated: true),
            OptionSpec(
                "expires", value: "TIME", "Expire after TIME (default 24h; at most 30d)",
                form: .duration),
        ],
        examples: [
            .init("zg-env-postal invite --database postal.db --account team_abc", "invite a device")
        ])

    private static let longest = Duration.seconds(30 * 24 * 3_600)

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        var accounts: [String] = []
        for account in command.values("account") where !accounts.contains(account) {
            accounts.append(account)
        }
        guard !accounts.isEmpty else {
            throw PostalError(
                .usage, "No account given.",
                hint: "Use --account ID to choose whose events the device gets.")
        }
        guard accounts.count <= 64, accounts.allSatisfy(PostalName.isAccount) else {
            throw PostalError(
                .usage,
                "--account takes a Vercel team or user ID, such as team_…, and can be given at most 64 times."
            )
        }
        let time = command.duration("expires") ?? .seconds(24 * 3_600)
        guard time > .zero, time <= longest else {
            throw PostalError(.usage, "--expires must be between 1 second and 30 days.")
        }
        let code = InviteCode(random: Random.bytes(20))
        let expiresAt = context.clock.now() + Int64(time.components.seconds) * 1_000
        let store = try StoreLocation(command, context).open(for: .managing, context)
        defer { store.close() }
        try store.add(
            Invite(digest: Invite.digest(of: code), accounts: accounts, expiresAt: expiresAt))
        return PostalResult(
            json: [
                "invite": .string(code.text), "accounts": .strings(accounts),
                "expiresAt": .integer(expiresAt),
            ],
            text: code.text + "\n")
    }
}
