internal import EnvOperations
internal import Vault
internal import VercelAPI

/// An account or team, as one token sees it, that a ``Poller`` asks: one list holds all of its
/// deployments.
class PolledAccount {
    /// Of a project there; nil where no project says whose it is.
    let binding: VaultProject.Binding?
    /// What relays call it; nil where that is not known.
    let relayName: String?
    /// The way there, once it was opened.
    var access: PlatformSession.Access?
    /// When it is asked, and why.
    var schedule = RefreshSchedule()
    /// Whether this process has had an answer.
    var hasAnswered = false
    /// Why the last question had no answer.
    var failure: CommandError?
    /// When a relay told something of it last, by `CLOCK_MONOTONIC`.
    var toldAt: Duration?

    init(_ binding: VaultProject.Binding?, relayName: String?) {
        (self.binding, self.relayName) = (binding, relayName)
    }

    /// The way there. Nothing is sent twice on it: the schedule knows when to ask again.
    func open(_ workspace: Workspace) throws -> PlatformSession.Access {
        if let access { return access }
        let new = try PlatformSession(workspace).access(binding)
        let access = PlatformSession.Access(
            client: new.client.unrepeated(), account: new.account)
        self.access = access
        return access
    }
}
