internal import EnvOperations
internal import Vault
internal import VercelAPI

/// An account or team, seen with one token, that a ``Poller`` polls: one list has all of its
/// deployments.
class PolledAccount {
    /// The link of one of its projects; nil if it has none.
    let binding: VaultProject.Binding?
    /// Its id in relay events; nil if unknown.
    let relayName: String?
    /// The connection, once opened.
    var access: VercelSession.Access?
    var schedule = RefreshSchedule()
    /// Whether this process has received a response.
    var hasAnswered = false
    /// Why the last request failed.
    var failure: CommandError?
    /// When a relay last reported an event of it, by `CLOCK_MONOTONIC`.
    var toldAt: Duration?

    init(_ binding: VaultProject.Binding?, relayName: String?) {
        (self.binding, self.relayName) = (binding, relayName)
    }

    /// Opens the connection, without retries: the schedule decides when to ask again.
    func open(_ workspace: Workspace) throws -> VercelSession.Access {
        if let access { return access }
        let new = try VercelSession(workspace).access(binding)
        let access = VercelSession.Access(
            client: new.client.withoutRetries(), account: new.account)
        self.access = access
        return access
    }
}
