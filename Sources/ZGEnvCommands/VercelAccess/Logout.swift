internal import CommandLineKit
internal import JSON
internal import Vault

/// `logout`: removes tokens from the vault.
struct Logout: Command {
    static let spec = CommandSpec(
        ["logout"], "Remove an account and its token from the vault",
        discussion: """
            Also removes Vercel's cached responses for the account. The token itself stays valid: revoke \
            it on Vercel if it may have leaked.
            """,
        options: [OptionSpec(flag: "all", "Remove all accounts")],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = "loggedOut: [string]; dryRun: boolean"

    private let all: Bool

    init(_ command: ParsedCommand) { all = command.has("all") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keysForWriting()
        let index = try workspace.session.index(.listing)
        let removed: [String]
        if all, workspace.options.isGiven("account") {
            throw CommandError(.usage, "--all and --account cannot be used together.")
        } else if all {
            removed = index.accounts.map(\.name)
        } else if let account = index.account(named: workspace.options.account) {
            removed = [account.name]
        } else {
            throw CommandError(
                .notFound,
                workspace.options.account.map { "The vault has no account \($0)." }
                    ?? "The vault has no accounts.")
        }
        if !workspace.options.dryRun {
            try workspace.session.commit { transaction, _ in
                transaction.index.accounts.removeAll { removed.contains($0.name) }
                let hasDefault = transaction.index.accounts.contains { $0.isDefault }
                if !hasDefault, !transaction.index.accounts.isEmpty {
                    transaction.index.accounts[0].isDefault = true
                }
            }
            let left = try workspace.session.index(.listing)
            try VercelResponses(workspace, keys: keys).keepOnly(left.accounts)
            for name in removed { workspace.note("Logged out of \(name).") }
        }
        return CommandResult(json: [
            "loggedOut": .strings(removed), "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}
