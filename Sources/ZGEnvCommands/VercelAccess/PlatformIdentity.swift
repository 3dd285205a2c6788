internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Who would ask the platform, where, and for whom: known without a request and without the token of
/// a stored account. It is as ``PlatformSession/access(_:)`` chooses.
struct PlatformIdentity {
    /// Where.
    let origin: APIOrigin
    /// On whose behalf; a bound project's team by its id, whatever it is called by.
    let scope: APIScope
    /// The stored account; nil for a token of the environment.
    let account: Account?

    /// The address of an answer that these askers get.
    ///
    /// - Parameter token: The name of the environment's token, where that is used.
    func address(
        of subject: AnswerAddress.Subject, token: @autoclosure () throws -> String
    ) rethrows -> AnswerAddress {
        let name =
            switch scope {
            case .personal: ""
            case .team(let id): "id \(id)"
            case .teamSlug(let slug): "slug \(slug)"
            }
        return AnswerAddress(
            origin: origin.description, account: try account?.answerName ?? token(), scope: name,
            subject: subject)
    }
}

extension PlatformIdentity {
    /// - Parameter binding: The project's, where it is about one.
    /// - Returns: nil where there is no token, or one that belongs elsewhere: asking would fail.
    init?(
        _ workspace: Workspace, _ index: VaultIndex, _ binding: VaultProject.Binding?
    ) throws {
        let options = workspace.options
        let named = try PlatformSession.namedOrigin(options)
        var account: Account?
        let origin: APIOrigin
        if options.account == nil, try PlatformSession.environmentToken(workspace) != nil {
            guard let own = PlatformSession.originOfEnvironmentToken(named, binding) else {
                return nil
            }
            origin = own
        } else {
            account = PlatformSession.account(options.account, binding, in: index)
            guard let account, let own = try? APIOrigin(account.origin), named ?? own == own
            else { return nil }
            origin = own
        }
        let teamID = binding.map(\.teamID) ?? account?.teamID
        let slug = binding == nil ? options.team : nil
        let scope = slug.map { .teamSlug($0) } ?? APIScope(teamID: teamID)
        self.init(origin: origin, scope: scope, account: account)
        if let binding {
            try BoundProject.check(
                binding, of: binding.projectName, origin: origin, account: account, workspace)
        }
    }
}

extension Account {
    /// Whose answers these are. A new login is another account: its token may be allowed less.
    var answerName: String { "account \(userID) \(createdAt) \(name)" }
}
