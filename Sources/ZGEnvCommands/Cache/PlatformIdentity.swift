internal import CommandLineKit
internal import EnvOperations
internal import Sealing
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

    /// - Parameter binding: The project's, where it is about one.
    /// - Returns: nil where there is no token, or one that belongs elsewhere: asking would fail.
    init?(
        _ invocation: Invocation, _ index: VaultIndex, _ binding: VaultProject.Binding?
    ) throws {
        let options = invocation.options
        let named = try PlatformSession.namedOrigin(options)
        let hasToken = invocation.context.rawEnvironment.contains {
            $0.starts(with: Array("VERCEL_TOKEN=".utf8)) && $0.count > "VERCEL_TOKEN=".utf8.count
        }
        let account: Account?
        if options.account == nil && hasToken {
            guard let own = PlatformSession.originOfEnvironmentToken(named, binding) else {
                return nil
            }
            account = nil
            origin = own
        } else {
            guard let stored = PlatformSession.account(options.account, binding, in: index),
                let own = try? APIOrigin(stored.origin), named == nil || named == own
            else { return nil }
            account = stored
            origin = own
        }
        self.account = account
        scope =
            if let binding {
                binding.teamID.map { .team(id: $0) } ?? .personal
            } else if let slug = options.team {
                .teamSlug(slug)
            } else {
                account?.teamID.map { .team(id: $0) } ?? .personal
            }
        if let binding {
            try BoundProject.check(
                binding, of: binding.projectName, origin: origin, account: account, invocation)
        }
    }

    /// The address of an answer that `client` gives to `account`.
    static func address(
        _ origin: APIOrigin, _ scope: APIScope, account: String,
        _ subject: AnswerAddress.Subject
    ) -> AnswerAddress {
        let name =
            switch scope {
            case .personal: ""
            case .team(let id): "id \(id)"
            case .teamSlug(let slug): "slug \(slug)"
            }
        return AnswerAddress(
            origin: origin.description, account: account, scope: name, subject: subject)
    }
}

extension Account {
    /// Whose answers these are. A new login is another account: its token may be allowed less.
    var answerName: String { "account \(userID) \(createdAt) \(name)" }
}
