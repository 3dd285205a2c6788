internal import JSON

/// All variables of an environment or deployment at once, for the Vercel CLI.
enum PullRoutes {
    static let routes: [Route] = [Route("GET", "env/pull/*", handler: pull)]

    private static func pull(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        guard call.parameters.count != 1 else {
            let index = try DeploymentRoutes.index(call, state)
            // The API returns only the build variables of a finished deployment.
            return .json(["env": [:], "buildEnv": values(state.deployments[index].variables, call)])
        }
        guard call.parameters.count >= 2 else { throw .notFound("Environment") }
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let word = call.parameters[1]
        let branch = call.parameters.dropFirst(2).joined(separator: "/")
        let target = Target(rawValue: word)
        let custom = state.customEnvironment(word, of: project)
        guard target != nil || custom != nil else { throw .notFound("Environment") }
        var variables = state.resolvedVariables(
            of: project, target: target, customEnvironmentId: target == nil ? custom?.id : nil,
            branch: target == .preview && !branch.isEmpty ? branch : nil)
        if project.exposesSystemVariables {
            variables += [("VERCEL", "1"), ("VERCEL_ENV", word), ("VERCEL_OIDC_TOKEN", "e30.e30.")]
                .map { ResolvedVariable(key: $0.0, value: $0.1, type: .system) }
        }
        return .json(["env": values(variables, call), "buildEnv": values(variables, call)])
    }

    /// Sensitive values are empty here.
    private static func values(_ variables: [ResolvedVariable], _ call: Call) -> JSONValue {
        guard call.effect != .hidesValues else { return [:] }
        return .members(
            Dictionary(
                variables.map { ($0.key, .string($0.type == .sensitive ? "" : $0.value)) },
                uniquingKeysWith: { $1 }))
    }
}
