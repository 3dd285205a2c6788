extension SandboxState {
    /// Queues a build.
    mutating func add(_ deployment: Deployment, at time: Int64) -> Deployment {
        deployments.append(deployment)
        logState(ofDeploymentAt: deployments.count - 1, at: time)
        tell("deployment.created", deployment, at: time)
        return deployments[deployments.count - 1]
    }

    /// Advances builds, aliases and promotions to a time, in the order in which they are due.
    /// Returns whether anything changed.
    mutating func advance(to now: Int64) -> Bool {
        var changed = false
        while true {
            let builds = deployments.indices.compactMap { index in
                nextStep(of: deployments[index]).map { (due: $0, index: index, isBuild: true) }
            }
            let requests = projects.indices.compactMap { index in
                nextStep(of: projects[index]).map { (due: $0, index: index, isBuild: false) }
            }
            guard let next = (builds + requests).min(by: { $0.due < $1.due }), next.due <= now
            else { return changed }
            changed = true
            if next.isBuild {
                step(deploymentAt: next.index, at: next.due)
            } else {
                step(requestOfProjectAt: next.index, at: next.due)
            }
        }
    }

    private func nextStep(of deployment: Deployment) -> Int64? {
        guard !deployment.isSettled else { return nil }
        let start = deployment.createdAt
        let whole = deployment.buildMilliseconds
        switch deployment.state {
        case .queued: return start + whole / 10
        case .initializing: return start + whole / 4
        case .building:
            let begin = deployment.buildingAt ?? start
            let left = (deployment.script?.count ?? 0) - (deployment.printed ?? 0)
            guard left > 0, let script = deployment.script else { return start + whole }
            let portion = max((script.count + 39) / 40, 1)
            let number = Int64((deployment.printed ?? 0) / portion + 1)
            let span = max(start + whole - begin, 0)
            return min(begin + span * number / (BuildScript.portions + 1), start + whole)
        case .ready:
            switch deployment.mode {
            case .aliasNever: return nil
            case .aliasLate(let seconds):
                return (deployment.readyAt ?? start) + Int64(seconds * 1000)
            default: return deployment.readyAt
            }
        case .error, .canceled, .blocked: return nil
        }
    }

    private func nextStep(of project: Project) -> Int64? {
        guard let request = project.aliasRequest else { return nil }
        switch request.status {
        case .pending: return request.startsAt
        case .inProgress: return request.endsAt
        case .succeeded, .failed, .skipped: return nil
        }
    }

    private mutating func step(deploymentAt index: Int, at time: Int64) {
        switch (deployments[index].state, deployments[index].mode) {
        case (.queued, .blocked):
            let failure = Deployment.Failure(
                code: "BLOCKED", message: "The deployment was blocked before it was built.")
            end(deploymentAt: index, as: .blocked, failure: failure, at: time)
            tell("deployment.blocked", deployments[index], at: time)
        case (.queued, _):
            deployments[index].state = .initializing
            logState(ofDeploymentAt: index, at: time)
        case (.initializing, _):
            deployments[index].state = .building
            deployments[index].buildingAt = time
            logState(ofDeploymentAt: index, at: time)
            logBuild(ofDeploymentAt: index, at: time)
        case (.building, _)
        where (deployments[index].printed ?? 0) < (deployments[index].script?.count ?? 0):
            printScript(ofDeploymentAt: index, at: time)
        case (.building, .fail):
            append("Error: Command \"npm run build\" exited with 1", .stderr, to: index, at: time)
            append("", .exit, to: index, at: time, statusCode: 1)
            let failure = Deployment.Failure(
                code: "BUILD_FAILED", message: "Command \"npm run build\" exited with 1")
            end(deploymentAt: index, as: .error, failure: failure, at: time)
            tell("deployment.error", deployments[index], at: time)
        case (.building, .ignored):
            append(
                "The deployment was canceled because of the ignored build step.", .stdout,
                to: index, at: time)
            end(deploymentAt: index, as: .canceled, failure: nil, at: time)
            tell("deployment.canceled", deployments[index], at: time)
        case (.building, _):
            append("Build completed", .stdout, to: index, at: time)
            append("", .exit, to: index, at: time, statusCode: 0)
            deployments[index].state = .ready
            deployments[index].readyAt = time
            deployments[index].endedAt = time
            if deployments[index].target == "production" { deployments[index].substate = .staged }
            logState(ofDeploymentAt: index, at: time)
            tell("deployment.ready", deployments[index], at: time)
        case (.ready, .aliasError):
            deployments[index].aliasError = Deployment.Failure(
                code: "alias_failed", message: "The aliases could not be assigned.")
            settle(deploymentAt: index, at: time)
        case (.ready, _):
            assignAliases(toDeploymentAt: index, at: time)
            settle(deploymentAt: index, at: time)
            tell("deployment.succeeded", deployments[index], at: time)
        case (.error, _), (.canceled, _), (.blocked, _):
            deployments[index].isSettled = true
        }
    }

    private mutating func settle(deploymentAt index: Int, at time: Int64) {
        deployments[index].isSettled = true
        append("", .aliasAssigned, to: index, at: time)
    }

    /// Ends a build without a usable result.
    mutating func end(
        deploymentAt index: Int, as state: ReadyState, failure: Deployment.Failure?, at time: Int64
    ) {
        deployments[index].state = state
        deployments[index].failure = failure
        deployments[index].endedAt = time
        deployments[index].isSettled = true
        logState(ofDeploymentAt: index, at: time)
    }

    private mutating func assignAliases(toDeploymentAt index: Int, at time: Int64) {
        let deployment = deployments[index]
        guard let place = projects.firstIndex(where: { $0.id == deployment.projectId }) else {
            return
        }
        let slug = slug(ofOwner: deployment.ownerId)
        for host in deployment.automaticHosts(project: projects[place], ownerSlug: slug) {
            assign(host, to: deployment, at: time)
        }
        deployments[index].aliasAssignedAt = time
        guard deployment.target == "production", deployment.mode != .staged,
            projects[place].assignsDomainsNow
        else { return }
        // A build overtaken by a later one does not take back the domains.
        let current = projects[place].productionDeploymentId.flatMap(self.deployment(id:))
        if let current, current.createdAt > deployment.createdAt { return }
        makeCurrent(deploymentAt: index, projectAt: place, at: time)
    }

    private mutating func makeCurrent(deploymentAt index: Int, projectAt place: Int, at time: Int64)
    {
        deployments[index].substate = .promoted
        projects[place].productionDeploymentId = deployments[index].id
        for host in projects[place].domains { assign(host, to: deployments[index], at: time) }
    }

    private mutating func step(requestOfProjectAt place: Int, at time: Int64) {
        guard var request = projects[place].aliasRequest else { return }
        defer { projects[place].aliasRequest = request }
        if request.status == .pending {
            request.status = .inProgress
            return
        }
        guard !request.fails,
            let index = deployments.firstIndex(where: { $0.id == request.toDeploymentId })
        else {
            request.status = .failed
            return
        }
        request.status = .succeeded
        let former = projects[place].productionDeploymentId
        makeCurrent(deploymentAt: index, projectAt: place, at: time)
        projects[place].isRolledBack = request.kind == .rollback
        if request.kind == .rollback {
            projects[place].lastRollbackTarget = request.toDeploymentId
        }
        switch request.kind {
        case .promote: tell("deployment.promoted", deployments[index], at: time)
        case .rollback:
            tellRollback(
                of: projects[place], from: former, to: request.toDeploymentId, by: user.id,
                at: time)
        }
    }
}
