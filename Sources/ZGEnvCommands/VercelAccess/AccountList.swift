internal import CommandLineKit
internal import JSON
internal import Vault
internal import VercelAPI

/// `account list`: whose tokens the vault keeps, without the tokens.
struct AccountList: Command {
    static let spec = CommandSpec(
        ["account", "list"], "List the accounts whose tokens the vault keeps", section: "Platform",
        discussion: """
            The tokens themselves are never shown. With --refresh the platform is asked when each one \
            ends and whether it was found in public; without, what the login saw is shown.
            """,
        exitCodes: ExitCode.ofPlatform, aliases: [["account", "ls"]])

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let accounts = try workspace.session.index(.listing).accounts
        var states: [TokenState] = []
        for account in accounts {
            states.append(
                workspace.options.refresh
                    ? try TokenState(asking: account, workspace) : TokenState(of: account))
        }
        var table = Table([
            .init("ACCOUNT", canShrink: true), .init("USER", canShrink: true),
            .init("TEAM", canShrink: true), .init("PLATFORM", canShrink: true), .init("TOKEN"),
        ])
        for (account, state) in zip(accounts, states) {
            let mark = account.isDefault ? " (in use)" : ""
            table.append([
                .init(account.name + mark), .init(account.username),
                .init(account.teamSlug ?? account.teamID ?? ""), .init(account.origin),
                .init(state.text, as: state.isGood ? .dim : .bad),
            ])
        }
        if accounts.isEmpty {
            workspace.note("The vault keeps no token; log in with: zg-env login")
        }
        let look = OutputLook(workspace.context)
        return CommandResult(
            json: [
                "accounts": .array(
                    zip(accounts, states).map { .object($0.members + $1.members) })
            ], text: accounts.isEmpty ? "" : table.text(width: look.width, style: look.style))
    }
}

extension Account {
    /// The account without its token.
    var members: [JSONValue.Member] {
        [
            .init("name", .string(name)), .init("origin", .string(origin)),
            .init("userId", .string(userID)), .init("username", .string(username)),
            .init("teamId", .string(orNull: teamID)), .init("team", .string(orNull: teamSlug)),
            .init("default", .bool(isDefault)), .init("protected", .bool(protection == .values)),
            .init("createdAt", .time(orNull: Int64(clamping: createdAt))),
        ]
    }
}

/// What is known of a token: when it ends, and whether somebody else may have it.
struct TokenState {
    private var endsAt: Int64?
    private var leakedAt: Int64?
    private var isRefused = false
    private var hasAsked = false

    /// What the login saw.
    init(of account: Account) {
        endsAt = account.expiresAt == 0 ? nil : Int64(clamping: account.expiresAt)
    }

    /// What the platform says now.
    ///
    /// - Throws: What reaching the platform throws. A refused token is no error.
    init(asking account: Account, _ workspace: Workspace) throws {
        self.init(of: account)
        hasAsked = true
        let client = try PlatformSession(workspace).client(of: account)
        do throws(VercelAPIError) {
            _ = try client.user()
        } catch {
            guard error.code == .tokenInvalid else { throw error }
            isRefused = true
            return
        }
        guard let token = try client.describedToken() else { return }
        endsAt = token.expiresAt?.milliseconds
        leakedAt = token.leakedAt?.milliseconds
    }

    /// Tells whether there is nothing to worry about.
    var isGood: Bool { !isRefused && leakedAt == nil }

    /// For people.
    var text: String {
        if isRefused { return "refused: log in again" }
        if let leakedAt { return "found in public on \(TimeText.utc(leakedAt)): revoke it" }
        if let endsAt { return "ends \(TimeText.utc(endsAt))" }
        return hasAsked ? "does not end" : ""
    }

    /// `expiresAt`, `leakedAt`, and `valid`, which is null where nobody was asked.
    var members: [JSONValue.Member] {
        [
            .init("expiresAt", .time(orNull: endsAt)), .init("leakedAt", .time(orNull: leakedAt)),
            .init("valid", hasAsked ? .bool(!isRefused) : .null),
        ]
    }
}

extension VercelClient {
    /// What the platform says of the token in use; nil where it does not say, as to tokens of
    /// integrations and of some logins.
    func describedToken() throws(VercelAPIError) -> AccessToken? {
        do throws(VercelAPIError) {
            return try currentToken()
        } catch {
            switch error.code {
            case .unavailable, .rateLimited, .cancelled, .redirected, .libraryMissing,
                .outOfMemory:
                throw error
            default: return nil
            }
        }
    }
}
