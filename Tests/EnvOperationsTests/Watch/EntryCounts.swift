@testable import EnvOperations

extension DeploymentWatcher {
    /// The number of remembered deployments.
    var entryCount: Int { projects.values.reduce(0) { $0 + $1.entries.count } }
}

extension WatchProgress {
    /// The number of remembered deployments.
    var entryCount: Int { scopes.reduce(0) { $0 + $1.watcher.entryCount } }
}
