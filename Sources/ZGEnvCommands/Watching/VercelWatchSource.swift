internal import EnvOperations
internal import VercelAPI

/// Lists the deployments of one account or team at Vercel, with one request for all of its watched
/// projects.
struct VercelWatchSource: WatchSource {
    private let client: Result<VercelClient, WatchFailure>

    /// Opens an account. Sends nothing.
    init(_ account: PolledAccount, _ workspace: Workspace) {
        do {
            client = .success(try account.open(workspace).client)
        } catch {
            // A problem with one account must not stop the others.
            client = .failure(
                WatchFailure(.refused, reason: CommandError(mapping: error).message))
        }
    }

    /// A source that always fails, for an unknown account.
    init() {
        client = .failure(WatchFailure(.refused, reason: "There is no account for these projects."))
    }

    func deployments(
        in scope: NotificationChoices.Scope, since: Int64, limit: Int
    ) throws(WatchFailure) -> [WatchedDeployment] {
        var filter = DeploymentFilter(limit: limit)
        filter.since = APITime(milliseconds: since)
        let client = try client.get()
        do throws(VercelAPIError) {
            return try client.deployments(filter).compactMap { WatchedDeployment($0) }
        } catch { throw Self.failure(error) }
    }

    func deployment(
        _ id: String, in scope: NotificationChoices.Scope
    ) throws(WatchFailure) -> WatchedDeployment? {
        let client = try client.get()
        do throws(VercelAPIError) {
            return WatchedDeployment(try client.deployment(id))
        } catch {
            if error.code == .notFound { return nil }
            throw Self.failure(error)
        }
    }

    /// Returns the schedule's outcome and the message of an error.
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
