/// What a key of the screen does to a deployment, by its id.
enum DeploymentChange: Equatable {
    case redeploy(String)
    case promote(String)
    /// nil for the one that served production before.
    case rollback(String?)

    /// The command that does the same.
    var command: any Command {
        switch self {
        case .redeploy(let id): Redeploy(id)
        case .promote(let id): DeploymentPromote(id)
        case .rollback(let id): DeploymentRollback(to: id)
        }
    }
}
