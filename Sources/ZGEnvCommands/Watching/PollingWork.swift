internal import EnvOperations

/// Whom a ``Poller`` asks for: what is asked there, and what becomes of the answer.
protocol PollingWork: AnyObject {
    associatedtype Account: PolledAccount

    /// Who is asked, in this order.
    var accounts: [Account] { get }
    /// Whether what happens to a project, by the platform's id, is a reason to ask.
    func wants(_ project: String, of account: Account) -> Bool
    /// Goes on with the vault as it is now, or without one.
    ///
    /// - Parameter vault: Whether it has other keys; why it does not open.
    func take(vault: Result<Bool, any Error>) throws
    /// Asks. What it throws ends the work; what the platform refuses is an answer.
    func ask(
        _ account: Account, because reasons: Set<RefreshSchedule.Reason>
    ) throws -> Poller.Answer
}
