/// A change of a deployment, by its id, that a key of the `watch` screen makes.
enum DeploymentChange: Equatable {
    case redeploy(String)
    case promote(String)
    /// nil for the previous production deployment.
    case rollback(String?)

    /// The equivalent command.
    var command: any Command {
        switch self {
        case .redeploy(let id): Redeploy(id)
        case .promote(let id): DeploymentPromote(id)
        case .rollback(let id): DeploymentRollback(to: id)
        }
    }
}
