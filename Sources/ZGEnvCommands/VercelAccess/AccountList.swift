internal import CommandLineKit
internal import JSON
internal import Vault
internal import VercelAPI

/// `account list`: lists the stored accounts, without their tokens.
struct AccountList: Command {
    static let spec = CommandSpec(
        ["account", "list"], "List accounts",
        discussion: """
            Tokens are never shown. With --refresh, asks Vercel when each token expires and \
            whether it has leaked; otherwise shows the expiration date recorded at login.
            """,
        exitCodes: ExitCode.ofVercel, aliases: [["account", "ls"]])
    static let fields = """
        accounts: [{
            name, origin: string; userId: string | null; username: string
            projectId, teamId, team: string | null; default, protected: boolean; createdAt: time
            expiresAt, leakedAt: time | null; valid: boolean | null (null without --refresh)
        }]
        """

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let accounts = try workspace.session.table().accounts
        let states = try accounts.map {
            workspace.options.refresh
                ? try TokenState(asking: $0, workspace) : TokenState(of: $0)
        }
        var table = Table([
            .init("ACCOUNT", canShrink: true), .init("USER", canShrink: true),
            .init("TEAM", canShrink: true), .init("API", canShrink: true), .init("TOKEN"),
        ])
        for (account, state) in zip(accounts, states) {
            let mark = account.isDefault ? " (default)" : ""
            table.append([
                .init(account.name + mark),
                .init((account.onlyProjectID == nil ? "" : "project ") + account.username),
                .init(account.teamSlug ?? account.teamID ?? ""), .init(account.origin),
                .init(state.text, as: state.isGood ? .dim : .bad),
            ])
        }
        if accounts.isEmpty {
            workspace.note("No accounts. Log in with: zg-env login")
        }
        let look = TerminalStyle(workspace.context)
        return CommandResult(
            json: [
                "accounts": .array(
                    zip(accounts, states).map { .object($0.members + $1.members) })
            ], text: accounts.isEmpty ? "" : table.text(width: look.width, style: look.style))
    }
}

extension Account {
    /// The JSON form, without the token.
    var members: [JSONValue.Member] {
        [
            .init("name", .string(name)), .init("origin", .string(origin)),
            .init("userId", .string(orNull: knownUserID)), .init("username", .string(username)),
            .init("projectId", .string(orNull: onlyProjectID)),
            .init("teamId", .string(orNull: teamID)), .init("team", .string(orNull: teamSlug)),
            .init("default", .bool(isDefault)), .init("protected", .bool(protection == .values)),
            .init("createdAt", .time(orNull: Int64(clamping: createdAt))),
        ]
    }
}

/// What is known about a token: when it expires, and whether it has leaked.
struct TokenState {
    private var endsAt: Int64?
    private var leakedAt: Int64?
    private var isRefused = false
    private var hasAsked = false

    /// Takes the state from the login.
    init(of account: Account) {
        endsAt = account.expiresAt == 0 ? nil : Int64(clamping: account.expiresAt)
    }

    /// Asks Vercel for the current state.
    ///
    /// - Throws: Any failure except a rejected token, which is a state.
    init(asking account: Account, _ workspace: Workspace) throws {
        self.init(of: account)
        hasAsked = true
        let client = try VercelSession(workspace).client(of: account)
        do throws(VercelAPIError) {
            if let project = account.onlyProjectID {
                _ = try client.project(project)
            } else {
                _ = try client.user()
            }
        } catch {
            guard error.isDenial else { throw error }
            isRefused = true
            return
        }
        guard let token = try client.currentTokenDescription() else { return }
        endsAt = token.expiresAt?.milliseconds
        leakedAt = token.leakedAt?.milliseconds
    }

    var isGood: Bool { !isRefused && leakedAt == nil }

    /// The state as table text.
    var text: String {
        if isRefused { return "rejected: log in again" }
        if let leakedAt { return "reported as leaked on \(TimeText.utc(leakedAt)): revoke it" }
        if let endsAt { return "expires \(TimeText.utc(endsAt))" }
        return hasAsked ? "does not expire" : ""
    }

    /// `expiresAt`, `leakedAt`, and `valid`, which is null unless Vercel was asked.
    var members: [JSONValue.Member] {
        [
            .init("expiresAt", .time(orNull: endsAt)), .init("leakedAt", .time(orNull: leakedAt)),
            .init("valid", hasAsked ? .bool(!isRefused) : .null),
        ]
    }
}

extension VercelClient {
    /// Returns Vercel's description of the token in use; nil if Vercel gives none, as for tokens of
    /// integrations and of some logins.
    func currentTokenDescription() throws(VercelAPIError) -> AccessToken? {
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
