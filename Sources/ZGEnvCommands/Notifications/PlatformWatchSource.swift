internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Answers what is watched with the platform: one list for each account or team, however many projects
/// of it are watched.
struct PlatformWatchSource: WatchSource {
    /// A client for each scope, or why there is none.
    private var clients: [NotificationChoices.Scope: Result<VercelClient, WatchFailure>] = [:]

    /// Makes the clients that the scopes need. Nothing is sent.
    init(_ scopes: Set<NotificationChoices.Scope>, _ invocation: Invocation) throws {
        let session = try PlatformSession(invocation)
        for scope in scopes {
            do {
                let binding = VaultProject.Binding(
                    origin: scope.origin, accountID: scope.accountID, teamID: scope.teamID,
                    teamSlug: nil, projectID: "", projectName: "")
                clients[scope] = .success(try session.access(binding).client.unrepeated())
            } catch {
                // What is wrong with one account does not keep the others from being watched.
                clients[scope] = .failure(
                    WatchFailure(.refused, reason: CommandError(mapping: error).message))
            }
        }
    }

    func deployments(
        in scope: NotificationChoices.Scope, since: Int64, limit: Int
    ) throws(WatchFailure) -> [WatchedDeployment] {
        var filter = DeploymentFilter()
        filter.since = APITime(milliseconds: since)
        filter.limit = limit
        let client = try client(scope)
        do throws(VercelAPIError) {
            return try client.deployments(filter).compactMap { WatchedDeployment($0) }
        } catch { throw Self.failure(error) }
    }

    func deployment(
        _ id: String, in scope: NotificationChoices.Scope
    ) throws(WatchFailure) -> WatchedDeployment? {
        let client = try client(scope)
        do throws(VercelAPIError) {
            return WatchedDeployment(try client.deployment(id))
        } catch {
            if error.code == .notFound { return nil }
            throw Self.failure(error)
        }
    }

    private func client(
        _ scope: NotificationChoices.Scope
    ) throws(WatchFailure) -> VercelClient {
        guard let client = clients[scope] else {
            throw WatchFailure(.refused, reason: "There is no account for it.")
        }
        return try client.get()
    }

    /// What the schedule makes of an error, and what people are told.
    static func failure(_ error: VercelAPIError) -> WatchFailure {
        let reason = CommandError(mapping: error).message
        switch error.code {
        case .tokenMissing, .tokenInvalid, .teamUnauthorized, .samlRequired, .challengeRequired,
            .limitedUser, .forbidden, .paymentRequired, .gone:
            return WatchFailure(.refused, reason: reason)
        default:
            return WatchFailure(.failed(retryAfter: error.retryAfter), reason: reason)
        }
    }
}
