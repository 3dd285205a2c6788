internal import CommandLineKit
internal import DotEnv
internal import Sealing
internal import Vault
internal import VercelAPI

/// The platform for one command: which origin, whose token, which team. Nothing is sent before a
/// call is made.
final class PlatformSession {
    /// A way to the platform.
    struct Access {
        /// Where, with which token, on whose behalf.
        let client: VercelClient
        /// The stored account; nil for a token of the environment.
        let account: Account?

        /// Tells whether both see the same projects in the same lists.
        func isSame(as other: Access) -> Bool {
            client.scope == other.client.scope && client.origin == other.client.origin
                && account?.name == other.account?.name
        }
    }

    private let workspace: Workspace
    private var options: GlobalOptions { workspace.options }
    private var turns: TurnTaking { workspace.session.turns }

    /// - Throws: ``ExitCode/unavailable`` with `--offline`, before anything else happens.
    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        guard !workspace.options.offline else {
            throw CommandError(
                .unavailable, "This needs the platform, and --offline forbids it.",
                hint: "Nothing was sent.")
        }
    }

    /// The origin that options or environment name; nil where they name none.
    static func namedOrigin(_ options: GlobalOptions) throws -> APIOrigin? {
        guard let text = options.apiURL else { return nil }
        do throws(APIOrigin.Problem) {
            return try APIOrigin(text)
        } catch {
            let reason =
                error == .notSecure
                ? "The API's address is plain http to another machine, which would show the token."
                : "That is no address of an API."
            throw CommandError(
                .usage, reason, hint: "Give --api-url as https://HOST or http://127.0.0.1:PORT.")
        }
    }

    /// A client for `token` at `origin`.
    func client(
        _ token: SecretSlice, _ origin: APIOrigin, scope: APIScope = .personal
    ) throws -> VercelClient {
        try VercelClient(
            transport: TurnTakingTransport(try workspace.context.transport(), turns),
            origin: origin, token: token, scope: scope,
            waitingRoom: TurnTakingWaitingRoom(workspace.context.waitingRoom, turns),
            known: workspace.session.knownSecrets)
    }

    /// Where a token of the environment goes: to the platform itself, or to the origin that options or
    /// environment name. The vault's file does not say so: whoever can write it would get the token.
    ///
    /// - Returns: nil where only the project's binding names another origin.
    static func originOfEnvironmentToken(
        _ named: APIOrigin?, _ binding: VaultProject.Binding?
    ) -> APIOrigin? {
        if let named { return named }
        guard let binding, binding.origin != APIOrigin.vercel.description else { return .vercel }
        return nil
    }

    /// The token to use and the client for it.
    ///
    /// VERCEL_TOKEN wins over stored accounts unless `--account` names one. A stored token goes to
    /// the origin it was checked with and nowhere else.
    ///
    /// - Parameter binding: The project's, which says the team where nothing else does.
    /// - Throws: ``ExitCode/unauthorized`` without a token, or for another origin.
    func access(_ binding: VaultProject.Binding? = nil) throws -> Access {
        let named = try Self.namedOrigin(options)
        if options.account == nil, let token = try Self.environmentToken(workspace) {
            guard let origin = Self.originOfEnvironmentToken(named, binding) else {
                throw Self.foreign(binding)
            }
            return Access(
                client: try client(token, origin, scope: scope(binding, nil)), account: nil)
        }
        let keys = try indexKeys()
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        guard let account = Self.account(options.account, binding, in: index) else {
            throw CommandError(
                .unauthorized,
                options.account.map { "The vault has no account \($0)." }
                    ?? "There is no token for the platform.",
                hint: "Log in with: zg-env login, or set VERCEL_TOKEN.")
        }
        warnOfEnd(account)
        let project = binding.flatMap { binding in
            index.projects.first { $0.binding == binding }?.id
        }
        return Access(
            client: try client(of: account, scope: scope(binding, account), for: project),
            account: account)
    }

    /// Another stored account that finds the project of a binding where it was. To a token that is limited to a
    /// team, Vercel answers as if the projects of other places were gone.
    ///
    /// Tokens that only the passphrase opens are not tried.
    ///
    /// - Throws: What kept Vercel from answering: then nobody knows whether the project is gone.
    func account(besides used: Account?, thatSees binding: VaultProject.Binding) throws -> Account?
    {
        let place = APIScope(teamID: binding.teamID)
        let accounts = try workspace.session.indexAtHand()?.accounts ?? []
        return try accounts.first { account in
            guard account.name != used?.name, account.origin == binding.origin,
                account.protection == .index,
                // One whose token may not be sent there cannot say anything.
                let client = try? client(of: account, scope: place)
            else { return false }
            do throws(VercelAPIError) {
                return try client.project(binding.projectID).id == binding.projectID
            } catch {
                guard !error.isPassing else { throw error }
                return false
            }
        }
    }

    private static func foreign(_ binding: VaultProject.Binding?) -> CommandError {
        CommandError(
            .unauthorized,
            "\(binding?.projectName ?? "") is bound to \(binding?.origin ?? ""), and VERCEL_TOKEN goes there only if you name that address yourself.",
            hint:
                "Nothing was sent. If you trust it: --api-url \(word: binding?.origin ?? ""), or ZG_ENV_API_URL. For a stored token instead: --account NAME."
        )
    }

    /// A client for a stored account, which reaches the account's own origin and no other.
    ///
    /// With the root the account, and the project whose team it is, are held against the checkpoint first.
    /// While the values are locked nobody can, and the token goes to Vercel alone, or to the origin that the
    /// options name.
    ///
    /// - Throws: ``ExitCode/unauthorized`` where the options name another origin.
    func client(
        of account: Account, scope: APIScope = .personal, for project: Identifier? = nil
    ) throws -> VercelClient {
        let named = try Self.namedOrigin(options)
        if let named, named.description != account.origin {
            throw CommandError(
                .unauthorized,
                "The token of \(account.name) belongs to \(account.origin), and goes nowhere else.",
                hint: "Log in there with: zg-env login --api-url \(word: named.description)")
        }
        let keys = try keys(for: account)
        guard keys.opensValues || account.origin == APIOrigin.vercel.description || named != nil
        else {
            throw CommandError(
                .locked,
                "The token of \(account.name) belongs to \(account.origin), and zg-env sends it there only after comparing that with the passphrase.",
                hint:
                    "Nothing was sent. Run zg-env unlock first, or name the address with --api-url."
            )
        }
        var account = account
        if keys.opensValues {
            let opened = try AcceptanceGate(workspace).open(.currentValues, with: keys) { index in
                (
                    .token(account: account.name, project: project),
                    index.account(named: account.name)
                )
            }
            // As it was compared.
            guard let compared = opened.choice, compared.origin == account.origin else {
                throw VaultError(
                    .notAccepted, "the account \(account.name) was changed a moment ago")
            }
            account = compared
        }
        let token = try token(of: account, keys)
        return try client(token, try APIOrigin(account.origin), scope: scope)
    }

    /// The account to use: the one that is named; for a bound project the one it was bound through,
    /// or the default one of its origin; else the default one.
    static func account(
        _ name: String?, _ binding: VaultProject.Binding?, in index: VaultIndex
    ) -> Account? {
        let standard = index.account(named: name)
        guard name == nil, let binding else { return standard }
        let fitting = index.accounts.filter { $0.origin == binding.origin }
        let own = fitting.filter { $0.userID == binding.accountID }
        return own.first(where: \.isDefault) ?? own.first ?? fitting.first(where: \.isDefault)
            ?? standard
    }

    /// Tells of a token that ends within a week, while there is time to make another one.
    private func warnOfEnd(_ account: Account) {
        let (now, week) = (workspace.context.now(), 7 * 86_400_000 as UInt64)
        guard account.expiresAt > now, account.expiresAt - now < week,
            !workspace.context.warnings.contains(where: { $0.code == "token-ends" })
        else { return }
        workspace.context.warn(
            "token-ends",
            "The token of \(account.name) ends \(TimeText.utc(Int64(clamping: account.expiresAt))). Make another one on the platform, and log in with it."
        )
    }

    private func indexKeys() throws -> VaultKeys {
        do {
            return try workspace.session.keys(.index)
        } catch let error as VaultError where error.code == .notFound {
            throw CommandError(
                .unauthorized, "There is no token for the platform: no vault, and no VERCEL_TOKEN.",
                hint: "Make a vault with: zg-env init, and log in with: zg-env login.")
        }
    }

    /// A token that is protected takes the root.
    private func keys(for account: Account) throws -> VaultKeys {
        let keys = try indexKeys()
        return try account.protection == .values ? workspace.session.keys(.values) : keys
    }

    private func token(of account: Account, _ keys: VaultKeys) throws -> SecretSlice {
        switch account.protection {
        case .index: return account.secret
        case .values:
            return try keys.token(
                of: account, vault: workspace.session.opened().header.vaultID,
                in: SecretArena(firstRegionByteCount: 4096))
        }
    }

    /// The token of the environment; nil where there is none.
    static func environmentToken(_ workspace: Workspace) throws -> SecretSlice? {
        let name = Array("VERCEL_TOKEN=".utf8)
        guard let entry = workspace.context.rawEnvironment.first(where: { $0.starts(with: name) }),
            entry.count > name.count
        else { return nil }
        return try Array(entry.dropFirst(name.count)).withBytes {
            try SecretArena(firstRegionByteCount: 4096).copy($0)
        }
    }

    private func scope(_ binding: VaultProject.Binding?, _ account: Account?) -> APIScope {
        if let slug = options.team { return .teamSlug(slug) }
        return APIScope(teamID: binding.map(\.teamID) ?? account?.teamID)
    }
}
