internal import CommandLineKit
internal import HTTPClient
internal import JSON
internal import Sealing
internal import Vault
internal import VercelAPI

/// `login`: checks a token with Vercel and stores it.
struct Login: Command {
    static let spec = CommandSpec(
        ["login"], "Check a Vercel token and store it in the vault",
        discussion: """
            Prompts for the token without showing it, or reads it from stdin if stdin is not a \
            terminal. Create tokens at https://vercel.com/account/settings/tokens. The token is \
            sent only to the API that it was checked against. A token whose scope is one project \
            works for that project: name it with -p, or log in from its linked directory.
            """,
        options: [
            OptionSpec("name", value: "N", "Name the account N (default: the user name)"),
            OptionSpec(flag: "protect", "Require the passphrase to use the token"),
        ],
        examples: [
            .init("zg-env login < token.txt", "read the token from stdin"),
            .init("zg-env login -p web < token.txt", "read a token for the project web"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        account: string; userId: string | null; username: string
        projectId: string | null (for a token of one project); origin: string; protected: boolean
        teams: [{ id, slug: string; limitedBy: [string] | null }]; expiresAt, leakedAt: time | null
        dryRun: boolean
        """

    private let name: String?
    private let isProtected: Bool

    init(_ command: ParsedCommand) {
        name = command.value("name")
        isProtected = command.has("protect")
    }

    private static let page = "https://vercel.com/account/settings/tokens"

    /// Finds the token's owner. "Log in again" is no advice while logging in.
    private static func owner(
        _ client: VercelClient, _ isVercel: Bool, _ workspace: Workspace
    ) throws -> TokenOwner {
        do {
            return try TokenOwner(of: client, workspace)
        } catch let error as VercelAPIError {
            var failure = CommandError(mapping: error)
            if error.isDenial {
                failure.hint =
                    "Copy the whole token again, or create a new one"
                    + (isVercel ? " at \(page)" : "") + "."
                    + (workspace.options.project == nil
                        ? " If its scope is one project, name the project with -p." : "")
            }
            throw failure
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        for (option, hint) in [
            ("account", "To name the account for this token, use --name NAME."),
            ("team", "Log in, then select the team with: zg-env account use NAME --team SLUG"),
        ] where workspace.options.isGiven(option) {
            throw CommandError(.usage, "--\(option) has no effect on login.", hint: hint)
        }
        let session = try VercelSession(workspace)
        let origin = try VercelSession.namedOrigin(workspace.options) ?? .vercel
        if let name { try ProjectResolver.check(name) }
        try workspace.session.keysForWriting()
        // A vault that someone else wrote is refused before the token is sent.
        _ = try workspace.session.index(.listing)
        let isVercel = origin == .vercel
        let token = try TypedSecret.read(
            "token", prompt: isVercel ? "Token (create one at \(Self.page)): " : "Token: ",
            workspace)
        let client = try session.client(token, origin)
        let owner = try Self.owner(client, isVercel, workspace)
        var (teams, project): ([Team], Project?) = ([], nil)
        let userID: String
        let username: String
        switch owner {
        case .user(let user):
            if !user.isLimited { teams = try client.teams() }
            (userID, username) = (user.id, user.username ?? user.id)
        case .project(let only):
            project = only
            (userID, username) = (Account.userID(ofProject: only.id), only.name)
        }
        for team in teams { team.warnIfLimited(workspace.context) }
        let described = try client.currentTokenDescription()
        let endsAt = described?.expiresAt?.milliseconds
        if let leakedAt = described?.leakedAt?.milliseconds {
            workspace.context.warn(
                "leaked-token",
                "Vercel reported this token as leaked on \(TimeText.utc(leakedAt)). Revoke the token on Vercel, and log in with a new token."
            )
        }
        let name = self.name ?? username
        let result: JSONValue = [
            "account": .string(name),
            "userId": .string(orNull: project == nil ? userID : nil),
            "username": .string(username), "projectId": .string(orNull: project?.id),
            "origin": .string(origin.description), "protected": .bool(isProtected),
            "teams": .array(
                teams.map {
                    [
                        "id": .string($0.id), "slug": .string($0.slug),
                        "limitedBy": $0.limitedByJSON,
                    ]
                }),
            "expiresAt": .time(orNull: endsAt),
            "leakedAt": .time(orNull: described?.leakedAt?.milliseconds),
            "dryRun": .bool(workspace.options.dryRun),
        ]
        if workspace.options.dryRun { return CommandResult(json: result) }
        let time = workspace.context.now()
        try workspace.session.commit { transaction, _ in
            let known = transaction.index.accounts.first { $0.name == name }
            if let known, known.userID != userID || known.origin != origin.description {
                throw CommandError(
                    .conflict,
                    "The vault already has a different account named \(name).",
                    hint: "Choose another name with --name.")
            }
            let isDefault =
                known?.isDefault ?? !transaction.index.accounts.contains { $0.isDefault }
            var account = Account(
                name: name, origin: origin.description, userID: userID, username: username,
                teamID: project?.teamID ?? known?.teamID, teamSlug: known?.teamSlug,
                isDefault: isDefault,
                createdAt: time, expiresAt: UInt64(clamping: endsAt ?? 0),
                protection: isProtected ? .values : .index, secret: token)
            if isProtected {
                account.secret = try transaction.protected(token, for: account, in: SecretArena())
            }
            transaction.index.accounts.removeAll { $0.name == name }
            transaction.index.accounts.append(account)
        }
        let place = project == nil ? "as \(username)" : "for the project \(username) only"
        workspace.note("Logged in to \(origin.description) \(place) (account \(name)).")
        return CommandResult(json: result)
    }
}
