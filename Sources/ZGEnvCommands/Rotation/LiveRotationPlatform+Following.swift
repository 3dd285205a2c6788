internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Following deployments until they serve.
extension LiveRotationPlatform {
    typealias Waited = (member: Int, build: RotationProgress.Build)

    /// Of so many looks at a deployment that is ready and has no domains yet, one asks for all that is
    /// known of it; the others see it in a list.
    private static let looksBetweenPages = 4

    func states(
        of builds: [Waited], _ side: RotationAction.Side
    ) throws -> [Int: RotationBuildState] {
        var states: [Int: RotationBuildState] = [:]
        var rest: [Waited] = []
        for group in Dictionary(grouping: builds, by: { groups[$0.member] }).values {
            rest += group.count > 1 ? try together(group, &states) : group
        }
        var problem: (any Error)?
        workspace.session.turns.run(rest.count, limit: RotationMachine.buildLimit) {
            [self] place in
            let (member, build) = rest[place]
            do {
                states[member] = try state(of: build, member, side)
                return true
            } catch {
                problem = error
                return false
            }
        }
        if let problem { throw problem }
        return states
    }

    /// Looks at several deployments of one account or team with one list.
    ///
    /// - Returns: Those that are to be looked at by themselves.
    private func together(
        _ group: [Waited], _ states: inout [Int: RotationBuildState]
    ) throws -> [Waited] {
        var filter = DeploymentFilter()
        filter.limit = 100
        // By the platform's clock, as all of them are.
        let oldest = group.map { plan.members[$0.member].newestAt }.min() ?? 0
        if oldest > 0 { filter.since = APITime(milliseconds: Int64(clamping: oldest)) }
        let client = client(group[0].member)
        var current: [String: Project]?
        var rest: [Waited] = []
        do throws(VercelAPIError) {
            let listed = Dictionary(
                try client.deployments(filter).map { ($0.id, $0) },
                uniquingKeysWith: { first, _ in first })
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
                    let projects = try client.projects(limit: Self.pageSize)
                    current = Dictionary(
                        projects.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
                }
                let project = current?[plan.members[member].platformProject]
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
            guard error.isPassing else { return group }
            try stopIfInterrupted()
            for (member, build) in group {
                outage.take(error, of: member, until: end(of: build))
                states[member] = .underWay
            }
            return []
        }
        return rest
    }

    /// Whether a deployment without domains is to be looked at by itself now.
    private func isDue(_ member: Int) -> Bool {
        looks[member, default: 0] += 1
        return looks[member, default: 0] % Self.looksBetweenPages == 0
    }

    /// When the waiting for a deployment ends, by this machine's clock.
    func end(of build: RotationProgress.Build) -> UInt64 {
        let limit = plan.timeoutSeconds.multipliedReportingOverflow(by: 1_000)
        let end = build.begunAt.addingReportingOverflow(limit.partialValue)
        return limit.overflow || end.overflow ? .max : end.partialValue
    }

    /// Looks at one deployment.
    private func state(
        of build: RotationProgress.Build, _ member: Int, _ side: RotationAction.Side
    ) throws -> RotationBuildState {
        let failure: Failure
        var project: Project?
        do throws(VercelAPIError) {
            let deployment = try client(member).deployment(build.id)
            if deployment.state == .ready, deployment.target == "production" {
                project = try client(member).project(plan.members[member].platformProject)
            }
            outage.take(nil, of: member, until: end(of: build))
            switch PlatformWait.DeploymentEnd(of: deployment, current: project?.production?.id) {
            case .live:
                if let project { see(project, member) }
                return .live
            case .failed(let reason):
                failure = Failure(
                    .build, "\(deployment.id) ended in \(deployment.state.rawValue): \(reason)")
            case .builtNotLive(let reason):
                let isStaged =
                    deployment.substate == .staged && deployment.aliasError == nil
                    && deployment.aliasCheckState != "failed"
                failure = Failure(
                    isStaged ? .staged : .notLive,
                    "\(deployment.id) is built, not live: \(reason)")
            case nil: return .underWay
            }
        } catch {
            let state = try stateAfter(error)
            if state == .underWay { outage.take(error, of: member, until: end(of: build)) }
            return state
        }
        if let project, let state = try overtaken(build, member, side, project) { return state }
        return failure.kind == .staged ? .staged(failure) : .ended(failure)
    }

    private func stateAfter(_ error: VercelAPIError) throws -> RotationBuildState {
        if error.isPassing {
            try stopIfInterrupted()
            return .underWay
        }
        return .ended(try failure(of: error, .build))
    }

    /// A deployment that somebody else made since the beginning and that serves in place of ours: with
    /// the same value it is as good. Nil where there is none, or where it holds another value or does not
    /// show it.
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

    /// Gives production's domains to a deployment that is staged, and waits until it serves.
    func promote(_ member: Int, _ build: RotationProgress.Build) throws -> Failure? {
        let (client, id) = (client(member), plan.members[member].platformProject)
        let limit = min(
            DeploymentPromote.defaultLimit, .seconds(Int64(clamping: plan.timeoutSeconds)))
        do {
            let project = try client.project(id, withRollbackInfo: true)
            if project.production?.id == build.id { return nil }
            let move = ProductionMove(
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
    /// Tells whether a promotion or rollback to a deployment is under way.
    func isMoving(to deployment: String) -> Bool {
        lastAliasRequest.map {
            $0.toDeploymentId == deployment && [.pending, .inProgress].contains($0.jobStatus)
        } ?? false
    }
}
