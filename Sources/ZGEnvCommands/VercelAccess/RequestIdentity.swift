internal import EnvOperations
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// Which account would ask Vercel in which scope, determined without a request and without a stored
/// account's token. Chooses as ``VercelSession/access(_:)`` does.
struct RequestIdentity {
    let origin: APIOrigin
    /// The scope of requests; a linked project's team always by its id.
    let scope: APIScope
    /// The stored account; nil with `VERCEL_TOKEN`.
    let account: Account?

    /// Returns the cache address of a response for this identity.
    ///
    /// - Parameter token: The cache name of `VERCEL_TOKEN`, if that is used.
    func address(
        of subject: ResponseKey.Subject, token: @autoclosure () throws -> String
    ) rethrows -> ResponseKey {
        let name =
            switch scope {
            case .personal: ""
            case .team(let id): "id \(id)"
            case .teamSlug(let slug): "slug \(slug)"
            }
        return ResponseKey(
            origin: origin.description, account: try account?.cacheName ?? token(), scope: name,
            subject: subject)
    }
}

extension RequestIdentity {
    /// - Parameter binding: The link of the project that it is about, if any.
    /// - Returns: nil without a token for the right API; a request would fail.
    init?(
        _ workspace: Workspace, _ index: VaultIndex, _ binding: VaultProject.Binding?
    ) throws {
        let options = workspace.options
        let named = try VercelSession.namedOrigin(options)
        var account: Account?
        let origin: APIOrigin
        if options.account == nil, try VercelSession.environmentToken(workspace) != nil {
            guard let own = VercelSession.environmentTokenOrigin(named, binding) else {
                return nil
            }
            origin = own
        } else {
            account = VercelSession.account(options.account, binding, in: index)
            guard let account, let own = try? APIOrigin(account.origin), named ?? own == own
            else { return nil }
            origin = own
        }
        let teamID = binding.map(\.teamID) ?? account?.teamID
        let slug = binding == nil ? options.team : nil
        let scope = slug.map { .teamSlug($0) } ?? APIScope(teamID: teamID)
        self.init(origin: origin, scope: scope, account: account)
        if let binding {
            try LinkedProject.check(
                binding, of: binding.projectName, origin: origin, account: account, workspace)
        }
    }
}

extension Account {
    /// The cache name of the account. A new login has a new name: its token may be allowed less.
    var cacheName: String { "account \(userID) \(createdAt) \(name)" }
}
