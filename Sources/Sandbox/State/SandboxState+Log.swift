extension SandboxState {
    /// Adds a line to a deployment's build log.
    mutating func append(
        _ text: String, _ kind: DeploymentEvent.Kind, to index: Int, at time: Int64,
        isWarning: Bool = false, step: String? = nil, state: ReadyState? = nil,
        statusCode: Int64? = nil
    ) {
        let number = deployments[index].log.count
        let digits = String(number)
        let serial = "\(time)" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        deployments[index].log.append(
            DeploymentEvent(
                id: serial, serial: serial, date: time, kind: kind, text: text,
                isWarning: isWarning, step: step, state: state, statusCode: statusCode))
    }

    /// Adds the line of a state change.
    mutating func logState(ofDeploymentAt index: Int, at time: Int64) {
        let deployment = deployments[index]
        append(
            deployment.failure?.message ?? "", .deploymentState, to: index, at: time,
            state: deployment.state)
    }

    /// Adds the first lines of a build: the restored cache and the commands.
    mutating func logBuild(ofDeploymentAt index: Int, at time: Int64) {
        let deployment = deployments[index]
        append("Running build in iad1", .delimiter, to: index, at: time, step: "build")
        if let original = deployment.originalDeploymentId {
            append("Redeploying \(original)", .stdout, to: index, at: time)
        }
        if let commit = deployment.gitSource?.commit {
            append(
                "Cloning (Branch: \(deployment.branch ?? "main"), Commit: \(commit.prefix(7)))",
                .stdout, to: index, at: time)
        }
        let usesCache = !deployment.forceNew || deployment.withCache
        append(
            usesCache
                ? "Restored build cache from previous deployment"
                : "Previous build caches not available; skipping build cache", .stdout,
            to: index, at: time)
        append(
            "Loaded \(deployment.variables.count) environment variables", .stdout, to: index,
            at: time)
        append("npm install", .command, to: index, at: time)
        append("warning: 1 package is deprecated", .stderr, to: index, at: time, isWarning: true)
        append("npm run build", .command, to: index, at: time)
    }
}
