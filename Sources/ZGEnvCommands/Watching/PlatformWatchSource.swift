internal import EnvOperations
internal import VercelAPI

/// Answers what is watched of one account or team with the platform: one list, however many projects of
/// it are watched.
struct PlatformWatchSource: WatchSource {
    private let client: Result<VercelClient, WatchFailure>

    /// Opens the way to an account. Nothing is sent.
    init(_ account: PolledAccount, _ workspace: Workspace) {
        do {
            client = .success(try account.open(workspace).client)
        } catch {
            // What is wrong with one account does not keep the others from being watched.
            client = .failure(
                WatchFailure(.refused, reason: CommandError(mapping: error).message))
        }
    }

    /// Answers nothing: who is logged in is not known.
    init() {
        client = .failure(WatchFailure(.refused, reason: "There is no account for it."))
    }

    func deployments(
        in scope: NotificationChoices.Scope, since: Int64, limit: Int
    ) throws(WatchFailure) -> [WatchedDeployment] {
        var filter = DeploymentFilter()
        filter.since = APITime(milliseconds: since)
        filter.limit = limit
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
