internal import EnvOperations

/// The client of a ``Poller``: requests data and handles the responses.
protocol PollerDelegate: AnyObject {
    associatedtype Account: PolledAccount

    /// The accounts to poll, in this order.
    var accounts: [Account] { get }
    /// Returns whether events of a project, by its Vercel id, trigger a request.
    func wants(_ project: String, of account: Account) -> Bool
    /// Handles a change to the vault.
    ///
    /// - Parameter vault: Whether its keys changed, or why it cannot be opened.
    func take(vault: Result<Bool, any Error>) throws
    /// Polls an account. A thrown error ends the work; a failed request is returned.
    func ask(
        _ account: Account, because reasons: Set<RefreshSchedule.Reason>
    ) throws -> Poller.Answer
}
