internal import CommandLineKit
internal import JSON
internal import PostalProtocol
internal import Sealing

/// `invite`: a code that lets one device join.
enum InviteCommand: PostalCommand {
    static let spec = CommandSpec(
        ["invite"], "Make a code that lets one device join", section: "Devices",
        discussion: """
            Prints a code. Whoever types it into `zg-env postal join` first gets the events of the \
            accounts named here. It works once, and not after the time given.

            The store keeps a digest of the code only, so it cannot be shown again.
            """,
        options: [
            OptionSpec(
                "account", value: "ID", "Events of this team or user; several may be named",
                repeatable: true, commaSeparated: true),
            OptionSpec(
                "expires", value: "TIME", "How long the code works (24h; at most 30d)",
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
                .usage, "It is not said whose events the device is to get.",
                hint: "Name a team or user with --account ID.")
        }
        guard accounts.count <= 64, accounts.allSatisfy(PostalName.isAccount) else {
            throw PostalError(
                .usage, "An account is an id as the platform writes it, such as team_…; at most 64."
            )
        }
        let time = command.duration("expires") ?? .seconds(24 * 3_600)
        guard time > .zero, time <= longest else {
            throw PostalError(.usage, "A code works for at least a second and at most 30 days.")
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
