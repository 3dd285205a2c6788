internal import JSON

extension SandboxState {
    /// Returns the members that every form of a deployment has.
    private func common(_ deployment: Deployment) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "id": .string(deployment.id), "name": .string(deployment.name),
            "projectId": .string(deployment.projectId), "url": .string(deployment.host),
            "createdAt": .integer(deployment.createdAt),
            "readyState": .string(deployment.state.rawValue),
            "type": "LAMBDAS", "source": .string(deployment.source),
            "target": .string(orNull: deployment.target), "meta": JSONValue(deployment.meta),
            "inspectorUrl": .string(
                "https://vercel.com/\(slug(ofOwner: deployment.ownerId))/"
                    + "\(deployment.name)/\(deployment.id.dropFirst(4))"),
            "creator": creator(deployment), "aliasError": deployment.aliasError?.json ?? .null,
        ]
        members["readySubstate"] = deployment.substate.map { .string($0.rawValue) }
        members["buildingAt"] = deployment.buildingAt.map(JSONValue.integer)
        members["ready"] = deployment.readyAt.map(JSONValue.integer)
        members["errorCode"] = deployment.failure.map { .string($0.code) }
        members["errorMessage"] = deployment.failure.map { .string($0.message) }
        members["customEnvironment"] = deployment.customEnvironmentId
            .flatMap { id in customEnvironments.first { $0.id == id } }.map(\.json)
        return members
    }

    private func creator(_ deployment: Deployment) -> JSONValue {
        [
            "uid": .string(deployment.creatorId), "username": .string(user.username),
            "email": .string(user.email),
        ]
    }

    /// Returns the form inside projects.
    func summary(_ deployment: Deployment) -> JSONValue {
        var members = common(deployment)
        members["alias"] = .strings(hosts(of: deployment))
        members["aliasAssigned"] = .integer(orNull: deployment.aliasAssignedAt)
        members["createdIn"] = "iad1"
        members["deploymentHostname"] = .string(deployment.host)
        members["forced"] = .bool(deployment.forceNew)
        members["plan"] = .string(plan(ofOwner: deployment.ownerId))
        members["private"] = true
        members["teamId"] = .string(orNull: team(id: deployment.ownerId)?.id)
        members["userId"] = .string(deployment.creatorId)
        members["previewCommentsEnabled"] = false
        members["readyAt"] = deployment.readyAt.map(JSONValue.integer)
        return .members(members)
    }

    /// Returns the form of lists.
    func listed(_ deployment: Deployment) -> JSONValue {
        var members = common(deployment)
        members["id"] = nil
        members["uid"] = .string(deployment.id)
        members["created"] = .integer(deployment.createdAt)
        members["state"] = .string(deployment.state.rawValue)
        members["aliasAssigned"] = .integer(orNull: deployment.aliasAssignedAt)
        members["isRollbackCandidate"] = .bool(isRollbackCandidate(deployment))
        return .members(members)
    }

    /// Returns whether this production deployment had traffic and is not the current one.
    func isRollbackCandidate(_ deployment: Deployment) -> Bool {
        deployment.substate == .promoted
            && project(id: deployment.projectId)?.productionDeploymentId != deployment.id
    }

    /// Returns the full form.
    func json(_ deployment: Deployment) -> JSONValue {
        var members = common(deployment)
        let names = JSONValue.strings(deployment.variables.map(\.key).sorted())
        let hosts = hosts(of: deployment)
        members["status"] = .string(deployment.state.rawValue)
        members["alias"] = .strings(hosts)
        members["userAliases"] = .strings(hosts)
        members["aliasAssigned"] = .bool(deployment.aliasAssignedAt != nil)
        members["aliasAssignedAt"] = deployment.aliasAssignedAt.map(JSONValue.integer)
        members["env"] = names
        members["build"] = ["env": names]
        members["bootedAt"] = .integer(deployment.createdAt)
        members["buildingAt"] = .integer(deployment.buildingAt ?? deployment.createdAt)
        members["buildSkipped"] = false
        members["isInConcurrentBuildsQueue"] = false
        members["isInSystemBuildsQueue"] = .bool(deployment.state == .queued)
        members["projectSettings"] = [:]
        members["public"] = false
        members["regions"] = ["iad1"]
        members["version"] = 2
        members["plan"] = .string(plan(ofOwner: deployment.ownerId))
        members["createdIn"] = "iad1"
        members["ownerId"] = .string(deployment.ownerId)
        members["routes"] = .null
        if deployment.state == .canceled {
            members["canceledAt"] = deployment.endedAt.map(JSONValue.integer)
        }
        if deployment.state == .error {
            members["errorStep"] = "buildStep"
            members["errorLink"] = "https://vercel.com/docs/deployments/troubleshoot-a-build"
        }
        members["gitSource"] = deployment.gitSource.map { source in
            .members([
                "type": .string(source.type), "ref": .string(source.branch),
                "sha": source.commit.map(JSONValue.string),
                "repoId": source.repositoryId.map { text in
                    Int64(text).map(JSONValue.integer) ?? .string(text)
                },
            ])
        }
        members["team"] = team(id: deployment.ownerId).map { team in
            ["id": .string(team.id), "name": .string(team.name), "slug": .string(team.slug)]
        }
        return .members(members)
    }
}
