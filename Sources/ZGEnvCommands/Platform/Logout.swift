internal import CommandLineKit
internal import JSON
internal import Vault

/// `logout`: takes tokens out of the vault.
enum Logout: Command {
    static let spec = CommandSpec(
        ["logout"], "Take a token out of the vault", section: "Platform",
        discussion: """
            The answers of the platform that were kept for it go too. The token itself stays valid: \
            revoke it on the platform if it may have leaked.
            """,
        options: [OptionSpec(flag: "all", "Take out the tokens of all accounts")],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let keys = try invocation.session.indexKeys()
        let index = try invocation.session.index(.listing)
        let removed: [String]
        if invocation.command.has("all") {
            removed = index.accounts.map(\.name)
        } else if let account = index.account(named: invocation.options.account) {
            removed = [account.name]
        } else {
            throw CommandError(
                .notFound,
                invocation.options.account.map {
                    "The vault has no account \(DisplayText.safe($0))."
                }
                    ?? "The vault has no account.", hint: "Nothing was changed.")
        }
        if !invocation.options.dryRun {
            try invocation.session.update(with: keys) { transaction in
                transaction.index.accounts.removeAll { removed.contains($0.name) }
                let hasDefault = transaction.index.accounts.contains { $0.isDefault }
                if !hasDefault, !transaction.index.accounts.isEmpty {
                    transaction.index.accounts[0].isDefault = true
                }
            }
            let left = try invocation.session.index(.listing)
            try PlatformAnswers(invocation, keys: keys).keepOnly(left.accounts)
            for name in removed { try invocation.note("Logged out \(name).") }
        }
        return CommandResult(json: [
            "loggedOut": .strings(removed), "dryRun": .bool(invocation.options.dryRun),
        ])
    }
}
