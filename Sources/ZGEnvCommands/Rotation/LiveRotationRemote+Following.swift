internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Follows deployments until they are live.
extension LiveRotationRemote {
    typealias Waited = (member: Int, build: RotationProgress.Build)

    /// A ready deployment without domains is requested individually every fourth time, and otherwise
    /// found in a list.
    private static let looksBetweenPages = 4

    func states(
        of builds: [Waited], _ side: RotationAction.Side
    ) throws -> [Int: RotationBuildState] {
        var states: [Int: RotationBuildState] = [:]
        var rest: [Waited] = []
        for group in Dictionary(grouping: builds, by: { groups[$0.member] }).values {
            rest += group.count > 1 ? try together(group, &states) : group
        }
        var firstError: (any Error)?
        workspace.session.turns.run(rest.count, limit: RotationMachine.buildLimit) {
            [self] place in
            let (member, build) = rest[place]
            do {
                states[member] = try state(of: build, member, side)
                return true
            } catch {
                firstError = error
                return false
            }
        }
        if let firstError { throw firstError }
        return states
    }

    /// Reads the states of several deployments of one account or team from one list.
    ///
    /// - Returns: The deployments that must be requested individually.
    private func together(
        _ group: [Waited], _ states: inout [Int: RotationBuildState]
    ) throws -> [Waited] {
        var filter = DeploymentFilter(limit: 100)
        // By Vercel's clock, like all creation times.
        let oldest = group.map { plan.members[$0.member].newestAt }.min() ?? 0
        if oldest > 0 { filter.since = APITime(milliseconds: Int64(clamping: oldest)) }
        let client = client(group[0].member)
        var current: [String: Project]?
        var rest: [Waited] = []
        do throws(VercelAPIError) {
            let listed = try client.deployments(filter).keyed(by: \.id)
            for (member, build) in group {
                guard let deployment = listed[build.id],
                    deployment.state == .ready || !deployment.state.isFinal
                else {
                    rest.append((member, build))
                    continue
                }
                outage.take(nil, of: member, until: end(of: build))
                guard deployment.state == .ready else {
                    states[member] = .underWay
                    continue
                }
                guard deployment.target == "production" else {
                    states[member] = .live
                    continue
                }
                if current == nil {
                    current = try client.projects(limit: Self.pageSize).keyed(by: \.id)
                }
                let project = current?[plan.members[member].vercelProject]
                if let project, project.production?.id == build.id {
                    see(project, member)
                    states[member] = .live
                } else if project != nil, !deployment.isSettled, !isDue(member) {
                    states[member] = .underWay
                } else {
                    rest.append((member, build))
                }
            }
        } catch {
            guard error.isTemporary else { return group }
            try stopIfInterrupted()
            for (member, build) in group {
                outage.take(error, of: member, until: end(of: build))
                states[member] = .underWay
            }
            return []
        }
        return rest
    }

    /// Counts an observation, and returns whether to request the deployment individually now.
    private func isDue(_ member: Int) -> Bool {
        looks[member, default: 0] += 1
        return looks[member, default: 0] % Self.looksBetweenPages == 0
    }

    /// Returns the deadline of a deployment by this machine's clock, in milliseconds since 1970.
    func end(of build: RotationProgress.Build) -> UInt64 {
        let limit = plan.timeoutSeconds.multipliedReportingOverflow(by: 1_000)
        let end = build.begunAt.addingReportingOverflow(limit.partialValue)
        return limit.overflow || end.overflow ? .max : end.partialValue
    }

    /// Returns the state of one deployment.
    private func state(
        of build: RotationProgress.Build, _ member: Int, _ side: RotationAction.Side
    ) throws -> RotationBuildState {
        let failure: Failure
        var project: Project?
        do throws(VercelAPIError) {
            let deployment = try client(member).deployment(build.id)
            if deployment.state == .ready, deployment.target == "production" {
                project = try client(member).project(plan.members[member].vercelProject)
            }
            outage.take(nil, of: member, until: end(of: build))
            switch VercelWait.DeploymentEnd(of: deployment, current: project?.production?.id) {
            case .live:
                if let project { see(project, member) }
                return .live
            case .failed(let reason):
                failure = Failure(
                    .build,
                    "\(deployment.id) ended in state \(deployment.state.rawValue): \(reason)")
            case .builtNotLive(let reason):
                let isStaged =
                    deployment.substate == .staged && deployment.aliasError == nil
                    && deployment.aliasCheckState != "failed"
                failure = Failure(
                    isStaged ? .staged : .notLive,
                    "\(deployment.id) is built but not live: \(reason)")
            case nil: return .underWay
            }
        } catch {
            // If ours was deleted, a newer one with the value may be live.
            if error.code == .notFound, let newer = try successor(of: build, member, side) {
                return newer
            }
            let state = try stateAfter(error)
            if state == .underWay { outage.take(error, of: member, until: end(of: build)) }
            return state
        }
        if let project, let state = try overtaken(build, member, side, project) { return state }
        return failure.kind == .staged ? .staged(failure) : .ended(failure)
    }

    /// Returns what stands in for a deleted deployment; nil if its project has nothing live that does.
    private func successor(
        of build: RotationProgress.Build, _ member: Int, _ side: RotationAction.Side
    ) throws -> RotationBuildState? {
        let project: Project
        do throws(VercelAPIError) {
            project = try client(member).project(plan.members[member].vercelProject)
        } catch {
            return try stateAfter(error)
        }
        return try overtaken(build, member, side, project)
    }

    private func stateAfter(_ error: VercelAPIError) throws -> RotationBuildState {
        if error.isTemporary {
            try stopIfInterrupted()
            return .underWay
        }
        return .ended(try failure(of: error, .build))
    }

    /// Returns `overtaken` if a newer deployment by somebody else is live and has the same value, which
    /// is as good as ours. Returns nil otherwise, also if its value is not shown.
    private func overtaken(
        _ build: RotationProgress.Build, _ member: Int, _ side: RotationAction.Side,
        _ project: Project
    ) throws -> RotationBuildState? {
        guard let current = project.production, current.id != build.id,
            isLater(current, plan.members[member]),
            case .success(let evidence) = try evidence(of: current.id, member),
            evidence == (side == .new ? .holdsNew : .holdsOld)
        else { return nil }
        see(project, member)
        return .overtaken(by: current.id)
    }

    // MARK: Promoting

    /// Promotes a staged deployment to production, and waits until it is live.
    func promote(_ member: Int, _ build: RotationProgress.Build) throws -> Failure? {
        let (client, id) = (client(member), plan.members[member].vercelProject)
        let limit = min(
            DeploymentPromote.defaultLimit, .seconds(Int64(clamping: plan.timeoutSeconds)))
        do {
            let project = try client.project(id, withRollbackInfo: true)
            if project.production?.id == build.id { return nil }
            let move = ProductionSwitch(
                named: NamedDeployment(
                    client: client, deployment: try client.deployment(build.id), project: project,
                    local: projects[member].local), kind: .promotion, workspace: workspace)
            // An earlier attempt may have asked for it.
            let isRunning = project.isMoving(to: build.id)
            let before = isRunning ? nil : project.lastAliasRequest
            let outcome = isRunning ? .accepted : try move.request(before, limit)
            let end = try moved(
                member, to: build.id, before: before, outcome, within: limit)
            try stopIfInterrupted()
            return move.failure(end, limit).map { Self.failure(of: $0, .notLive) }
        } catch let error as VercelAPIError {
            return try failure(of: error, .notLive)
        } catch let error as CommandError {
            return Self.failure(of: error, .notLive)
        }
    }
}

extension Project {
    /// Returns whether a promotion or rollback to a deployment is in progress.
    func isMoving(to deployment: String) -> Bool {
        lastAliasRequest.map {
            $0.toDeploymentId == deployment && [.pending, .inProgress].contains($0.jobStatus)
        } ?? false
    }
}
