internal import CommandLineKit
internal import HTTPClient
internal import Sealing
internal import Vault
internal import VercelAPI

/// A command's connection to Vercel: chooses API URL, token and team. Sends nothing by itself.
final class VercelSession {
    struct Access {
        /// The client, with API URL, token and scope.
        let client: VercelClient
        /// The stored account; nil with `VERCEL_TOKEN`.
        let account: Account?

        /// Returns whether both see the same lists of projects.
        func isSame(as other: Access) -> Bool {
            client.scope == other.client.scope && client.origin == other.client.origin
                && account?.name == other.account?.name
        }
    }

    private let workspace: Workspace
    private var options: GlobalOptions { workspace.options }
    private var turns: GlobalLock { workspace.session.turns }

    /// - Throws: ``ExitCode/unavailable`` with `--offline`.
    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        guard !workspace.options.offline else {
            throw CommandError(
                .unavailable, "This command needs Vercel, but --offline is set.")
        }
    }

    /// Returns the API URL from options or environment; nil if none is set.
    static func namedOrigin(_ options: GlobalOptions) throws -> APIOrigin? {
        guard let text = options.apiURL else { return nil }
        do throws(APIOrigin.Problem) {
            return try APIOrigin(text)
        } catch {
            let reason =
                error == .notSecure
                ? "The API URL uses plain http to another machine, which would expose the token."
                : "Not a valid API URL."
            throw CommandError(
                .usage, reason, hint: "Use --api-url with https://HOST or http://127.0.0.1:PORT.")
        }
    }

    func client(
        _ token: SecretSlice, _ origin: APIOrigin, scope: APIScope = .personal
    ) throws -> VercelClient {
        try VercelClient(
            transport: LockReleasingTransport(try workspace.context.transport(), turns),
            origin: origin, token: token, scope: scope,
            waitingRoom: LockReleasingSleeper(workspace.context.waitingRoom, turns),
            known: workspace.session.knownSecrets)
    }

    /// Returns where `VERCEL_TOKEN` may be sent: to Vercel, or to the API URL from options or
    /// environment. The vault file does not count, since anyone who can write it would get the
    /// token.
    ///
    /// - Returns: nil if only the project's link names another API.
    static func environmentTokenOrigin(
        _ named: APIOrigin?, _ binding: VaultProject.Binding?
    ) -> APIOrigin? {
        if let named { return named }
        guard let binding, binding.origin != APIOrigin.vercel.description else { return .vercel }
        return nil
    }

    /// Chooses the token and opens a client with it.
    ///
    /// `VERCEL_TOKEN` takes precedence over stored accounts unless `--account` is given. A stored
    /// token is sent only to the API that it was checked with.
    ///
    /// - Parameter binding: The project's link, for its team.
    /// - Throws: ``ExitCode/unauthorized`` without a token, or for another API.
    func access(_ binding: VaultProject.Binding? = nil) throws -> Access {
        let named = try Self.namedOrigin(options)
        if options.account == nil, let token = try Self.environmentToken(workspace) {
            guard let origin = Self.environmentTokenOrigin(named, binding) else {
                throw Self.foreign(binding)
            }
            return Access(
                client: try client(token, origin, scope: scope(binding, nil)), account: nil)
        }
        let keys = try indexKeys()
        let table = try workspace.session.opened().index(with: keys, extent: .listing, of: [])
        guard let account = Self.account(options.account, binding, in: table) else {
            throw CommandError(
                .unauthorized,
                options.account.map { "The vault has no account \($0)." }
                    ?? "Not logged in to Vercel.",
                hint: "Log in with: zg-env login, or set VERCEL_TOKEN.")
        }
        if let only = account.onlyProjectID, let binding, binding.projectID != only {
            throw account.refusal(of: binding.projectName)
        }
        warnOfExpiration(account)
        return Access(
            client: try client(of: account, scope: scope(binding, account)),
            account: account)
    }

    /// Returns another stored account with access to a linked project. With a token that is limited
    /// to a team, Vercel answers as if projects elsewhere did not exist.
    ///
    /// Tokens that need the passphrase are not tried.
    ///
    /// - Throws: Transient errors: then it is unknown whether the project is gone.
    func account(besides used: Account?, withAccessTo binding: VaultProject.Binding) throws
        -> Account?
    {
        let place = APIScope(teamID: binding.teamID)
        let accounts = try workspace.session.tableWithoutPrompt()?.accounts ?? []
        return try accounts.first { account in
            guard account.name != used?.name, account.origin == binding.origin,
                account.protection == .index,
                // Skips accounts whose token may not be sent there.
                let client = try? client(of: account, scope: place)
            else { return false }
            do throws(VercelAPIError) {
                return try client.project(binding.projectID).id == binding.projectID
            } catch {
                guard !error.isTemporary else { throw error }
                return false
            }
        }
    }

    private static func foreign(_ binding: VaultProject.Binding?) -> CommandError {
        CommandError(
            .unauthorized,
            "\(binding?.projectName ?? "") is linked to \(binding?.origin ?? ""), and VERCEL_TOKEN is sent there only if you give that URL explicitly.",
            hint:
                "If you trust that URL, use --api-url \(word: binding?.origin ?? ""), or set ZG_ENV_API_URL. To use a stored token instead, use --account NAME"
        )
    }

    /// Returns a client for a stored account, which sends the token only to the account's own API.
    ///
    /// - Throws: ``ExitCode/unauthorized`` if the options name another API.
    func client(
        of account: Account, scope: APIScope = .personal
    ) throws -> VercelClient {
        let named = try Self.namedOrigin(options)
        if let named, named.description != account.origin {
            throw CommandError(
                .unauthorized,
                "The token for \(account.name) is valid only for \(account.origin).",
                hint: "Log in to that API with: zg-env login --api-url \(word: named.description)")
        }
        var keys = try indexKeys()
        if account.protection == .values { keys = try workspace.session.keys(.values) }
        let token = try token(of: account, keys)
        return try client(token, try APIOrigin(account.origin), scope: scope)
    }

    /// Returns the account to use: the named one; for a linked project, the one that it was linked
    /// with or the default one of its API, without those for another project; else the default one.
    static func account(
        _ name: String?, _ binding: VaultProject.Binding?, in index: VaultIndex
    ) -> Account? {
        let standard = index.account(named: name)
        guard name == nil, let binding else { return standard }
        let fitting = index.accounts.filter {
            $0.origin == binding.origin
                && ($0.onlyProjectID ?? binding.projectID) == binding.projectID
        }
        let own = fitting.filter { $0.owns(binding) }
        return own.first(where: \.isDefault) ?? own.first ?? fitting.first(where: \.isDefault)
            ?? (standard?.onlyProjectID == nil ? standard : fitting.first ?? standard)
    }

    /// Warns of a token that expires within a week.
    private func warnOfExpiration(_ account: Account) {
        let (now, week) = (workspace.context.now(), 7 * 86_400_000 as UInt64)
        guard account.expiresAt > now, account.expiresAt - now < week,
            !workspace.context.warnings.contains(where: { $0.code == "token-ends" })
        else { return }
        workspace.context.warn(
            "token-ends",
            "The token for \(account.name) expires \(TimeText.utc(Int64(clamping: account.expiresAt))). Create a new token on Vercel, and log in with it."
        )
    }

    private func indexKeys() throws -> VaultKeys {
        do {
            return try workspace.session.keys(.index)
        } catch let error as VaultError where error.code == .notFound {
            throw CommandError(
                .unauthorized,
                "Not logged in to Vercel: there is no vault, and VERCEL_TOKEN is not set.",
                hint: "Create a vault with: zg-env init, then log in with: zg-env login")
        }
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

    /// Returns `VERCEL_TOKEN`; nil if it is unset or empty.
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
