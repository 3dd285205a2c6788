internal import CommandLineKit
internal import JSON
internal import Vault
internal import VercelAPI

/// `account use`: chooses the default account and its team.
struct AccountUse: Command {
    static let spec = CommandSpec(
        ["account", "use"], "Choose the default account and its team",
        discussion: """
            With --team, the account uses that team from now on; with --personal, it does not use \
            a team. Linked projects keep their own team.
            """,
        arguments: [
            ArgumentSpec("NAME", .one, "The account", completion: .dynamic(.account))
        ],
        options: [OptionSpec(flag: "personal", "Use the personal account instead of a team")],
        examples: [
            .init("zg-env account use work --team acme", "use account work with team acme")
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = "account: string; teamId, team: string | null; dryRun: boolean"

    private let name: String
    private let isPersonal: Bool

    init(_ command: ParsedCommand) throws {
        name = command.required("NAME")
        isPersonal = command.has("personal")
        guard !isPersonal || command.value("team") == nil else {
            throw CommandError(
                .usage, "--personal and --team cannot be used together.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try workspace.session.keysForWriting { index in
            if index.account(named: name) == nil { throw notFound(in: index) }
        }
        let index = try workspace.session.index(.listing)
        guard let account = index.account(named: name) else {
            throw notFound(in: index)
        }
        var (teamID, teamSlug) = (account.teamID, account.teamSlug)
        if isPersonal {
            (teamID, teamSlug) = (nil, nil)
        } else if let slug = workspace.options.team {
            let team = try find(slug, account, workspace)
            (teamID, teamSlug) = (team.id, team.slug)
        }
        if !workspace.options.dryRun {
            try workspace.session.commit { [teamID, teamSlug] transaction, _ in
                guard transaction.index.accounts.contains(where: { $0.name == name }) else {
                    throw notFound(in: transaction.index)
                }
                for position in transaction.index.accounts.indices {
                    let isIt = transaction.index.accounts[position].name == name
                    transaction.index.accounts[position].isDefault = isIt
                    guard isIt else { continue }
                    transaction.index.accounts[position].teamID = teamID
                    transaction.index.accounts[position].teamSlug = teamSlug
                }
            }
            let place = (teamSlug ?? teamID).map { "team \($0)" } ?? "the personal account"
            workspace.note("Now using \(name) in \(place).")
        }
        return CommandResult(json: [
            "account": .string(name), "teamId": .string(orNull: teamID),
            "team": .string(orNull: teamSlug), "dryRun": .bool(workspace.options.dryRun),
        ])
    }

    /// Looks up the team with the account's own token, so that a typo is not stored.
    private func find(
        _ slug: String, _ account: Account, _ workspace: Workspace
    ) throws -> Team {
        let client = try VercelSession(workspace).client(of: account)
        do throws(VercelAPIError) {
            let team = try client.team(slug)
            team.warnIfLimited(workspace.context)
            return team
        } catch {
            if account.onlyProjectID != nil, error.isDenial {
                throw account.refusal(of: "the team \(slug)")
            }
            guard error.code == .notFound else { throw error }
            throw CommandError(
                .notFound,
                "\(account.name) is not a member of a team with this name.",
                hint: "Check the team's slug; it is part of the team's URL on Vercel.")
        }
    }

    private func notFound(in index: VaultIndex) -> CommandError {
        let near = Suggestion.nearest(to: name, among: index.accounts.map(\.name))
        // What was typed is not repeated: it may be a token pasted by mistake.
        return CommandError(
            .notFound, "No such account in the vault.",
            hint: near.map { "Did you mean \($0)?" }
                ?? "List accounts with: zg-env account list")
    }
}
