internal import CommandLineKit
internal import JSON
internal import Vault
internal import VercelAPI

/// `account use`: which account and team commands work with where nothing else says so.
struct AccountUse: Command {
    static let spec = CommandSpec(
        ["account", "use"], "Choose the account and team that commands work with",
        section: "Platform",
        discussion: """
            With --team the account works in that team from now on; with --personal in none. A \
            project that is bound keeps its own team.
            """,
        arguments: [
            ArgumentSpec("NAME", .one, "The account", completion: .dynamic(.account))
        ],
        options: [OptionSpec(flag: "personal", "Work in no team")],
        examples: [.init("zg-env account use work --team acme", "work in a team")],
        exitCodes: ExitCode.ofPlatform)

    private let name: String
    private let isPersonal: Bool

    init(_ command: ParsedCommand) throws {
        name = command.required("NAME")
        isPersonal = command.has("personal")
        // The variable is for every command, so only the option contradicts.
        guard !isPersonal || command.value("team") == nil else {
            throw CommandError(
                .usage, "--personal and --team contradict each other.",
                hint: "Nothing was changed.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.index)
        let index = try workspace.session.index(.listing)
        guard let account = index.account(named: name) else {
            throw notFound(in: index)
        }
        var team: Team?
        if !isPersonal, let slug = workspace.options.team {
            team = try find(slug, account, workspace)
        }
        var used = account
        if let team { (used.teamID, used.teamSlug) = (team.id, team.slug) }
        if isPersonal { (used.teamID, used.teamSlug) = (nil, nil) }
        let (teamID, teamSlug) = (used.teamID, used.teamSlug)
        if !workspace.options.dryRun {
            try workspace.session.update(with: keys) { transaction in
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
            let place = (teamSlug ?? teamID).map { "the team \($0)" } ?? "no team"
            workspace.note("Commands work as \(name), in \(place).")
        }
        return CommandResult(json: [
            "account": .string(name), "teamId": .string(orNull: teamID),
            "team": .string(orNull: teamSlug), "dryRun": .bool(workspace.options.dryRun),
        ])
    }

    /// The team, asked for with the account's own token: a slip must not be kept.
    private func find(
        _ slug: String, _ account: Account, _ workspace: Workspace
    ) throws -> Team {
        let client = try PlatformSession(workspace).client(of: account)
        do throws(VercelAPIError) {
            return try client.team(slug)
        } catch {
            guard error.code == .notFound else { throw error }
            throw CommandError(
                .notFound,
                "\(account.name) is in no team of that name.",
                hint: "Nothing was changed.")
        }
    }

    private func notFound(in index: VaultIndex) -> CommandError {
        let near = Suggestion.nearest(to: name, among: index.accounts.map(\.name))
        // What was typed is not repeated: it may be a token gone astray.
        return CommandError(
            .notFound, "The vault has no account of that name.",
            hint: near.map { "Did you mean \($0)?" }
                ?? "See what is there with: zg-env account list")
    }
}
