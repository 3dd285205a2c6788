internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// The platform of a rotation, through its API.
final class LiveRotationPlatform: RotationPlatform {
    typealias Failure = RotationProgress.Failure

    let invocation: Invocation
    private let rotation: Identifier
    let plan: RotationPlan
    let values: RotationValues
    /// The projects, in the order of the plan.
    let projects: [BoundProject]
    private let waitingRoom: any WaitingRoom
    private let outage: OutageNotice

    /// How long a deployment that was stopped, or a change of what is current, is waited for.
    private static let settlingMilliseconds: UInt64 = 180_000

    init(
        _ invocation: Invocation, _ rotation: RotationEntry, _ values: RotationValues,
        projects: [BoundProject]
    ) {
        self.invocation = invocation
        self.rotation = rotation.id
        plan = rotation.plan
        self.values = values
        self.projects = projects
        waitingRoom = TurnTakingWaitingRoom(
            invocation.context.waitingRoom, invocation.session.turns)
        outage = OutageNotice(invocation)
    }

    /// A deployment's host name.
    func host(_ member: Int, _ deployment: String) throws -> String? {
        deployment.isEmpty ? nil : try? client(member).deployment(deployment).url
    }

    func client(_ member: Int) -> VercelClient { projects[member].access.client }

    // MARK: Pushing

    func push(_ member: Int) throws -> Failure? {
        guard let local = projects[member].local else {
            return Failure(.push, "the vault has no such project")
        }
        var rules = PushPlan.Rules()
        rules.records = Set(plan.members[member].records.map(\.variable))
        do {
            let report = try PushWork(invocation, projects[member], local, rules: rules)
                .run(asks: false)
            guard let failure = report.failure else { return nil }
            try stopIfInterrupted()
            return Self.failure(of: failure, .push)
        } catch let error as CommandError {
            return Self.failure(of: error, .push)
        } catch let error as VercelAPIError {
            return try failure(of: error, .push)
        }
    }

    // MARK: Making deployments

    func create(
        _ member: Int, _ build: RotationProgress.Build, _ side: RotationAction.Side,
        mayBeThere: Bool
    ) throws -> Result<String, Failure> {
        let place = plan.members[member]
        guard let source = place.source else {
            return .failure(Failure(.deploy, "there is no deployment to build anew"))
        }
        let mark = mark(build, side)
        var new = NewDeployment(
            sourceId: source, projectName: place.platformName,
            target: place.target == "production" ? "production" : nil)
        if place.target != "production", place.target != "preview" {
            new.customEnvironment = place.target
        }
        new.action = build.way == .promotion ? "promote" : "redeploy"
        new.mark = mark
        do throws(VercelAPIError) {
            if mayBeThere, let found = try made(member, mark) { return .success(found.id) }
            do throws(VercelAPIError) {
                return .success(try client(member).createDeployment(new).id)
            } catch {
                guard error.code == .outcomeUnknown else { throw error }
                // A second one would only build the same again.
                if let found = try made(member, mark) { return .success(found.id) }
                return .success(try client(member).createDeployment(new).id)
            }
        } catch {
            return .failure(try failure(of: error, .deploy))
        }
    }

    /// What tells this rotation's deployments from others, and its attempts apart.
    private func mark(
        _ build: RotationProgress.Build, _ side: RotationAction.Side
    ) -> String {
        "\(rotation.hexadecimal)-\(side == .new ? "new" : "old")-\(build.attempt)"
    }

    /// The deployment with that mark. A redeploy of it by somebody else has the mark too, and is later.
    private func made(_ member: Int, _ mark: String) throws(VercelAPIError) -> Deployment? {
        var filter = DeploymentFilter()
        filter.projectId = plan.members[member].platformProject
        filter.limit = 100
        return try client(member).deployments(filter).last {
            $0.meta[NewDeployment.markName] == mark
        }
    }

    // MARK: Following

    func state(
        of build: RotationProgress.Build, _ member: Int, _ side: RotationAction.Side
    ) throws -> RotationBuildState {
        let project = plan.members[member].platformProject
        let limit = plan.timeoutSeconds.multipliedReportingOverflow(by: 1_000)
        let end = build.begunAt &+ (limit.overflow ? 0 : limit.partialValue)
        let failure: Failure
        do throws(VercelAPIError) {
            let deployment = try client(member).deployment(build.id)
            // Looked at once: this waits for several at the same time.
            let look = DeploymentWait(
                client: client(member), waitingRoom: waitingRoom, limit: .zero,
                changed: { _ in })
            let found = try look.wait(for: deployment, project: project).end
            outage.take(nil, of: member, until: end)
            switch found {
            case .live: return .live
            case .failed(let reason):
                failure = Failure(
                    .build, "\(deployment.id) ended in \(deployment.state.rawValue): \(reason)")
            case .builtNotLive(let reason):
                failure = Failure(.notLive, "\(deployment.id) is built, not live: \(reason)")
            case .timedOut, .interrupted: return .underWay
            }
        } catch {
            let state = try stateAfter(error)
            if state == .underWay { outage.take(error, of: member, until: end) }
            return state
        }
        return try overtaken(build, member, side) ?? .ended(failure)
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
        _ build: RotationProgress.Build, _ member: Int, _ side: RotationAction.Side
    ) throws -> RotationBuildState? {
        let place = plan.members[member]
        guard place.target == "production" else { return nil }
        let current: Deployment?
        do throws(VercelAPIError) {
            current = try client(member).project(place.platformProject).production
        } catch {
            return try stateAfter(error)
        }
        guard let current, current.id != build.id, isLater(current, place),
            case .success(let evidence) = try evidence(of: current.id, member),
            evidence == (side == .new ? .holdsNew : .holdsOld)
        else { return nil }
        return .overtaken(by: current.id)
    }

    /// Tells whether a deployment was made since the beginning.
    private func isLater(_ deployment: Deployment, _ place: RotationPlan.Member) -> Bool {
        deployment.id != place.source
            && UInt64(clamping: deployment.createdAt?.milliseconds ?? .max) > place.newestAt
    }

    // MARK: Proving

    func evidence(
        of deployment: String, _ member: Int
    ) throws -> Result<RotationProgress.Evidence, Failure> {
        let arena = SecretArena()
        let pulled: PulledEnvironment
        do throws(VercelAPIError) {
            pulled = try client(member).pulledEnvironment(
                ofDeployment: deployment, valuesInto: arena)
        } catch {
            let failure = try failure(of: error, .unavailable)
            if failure.kind == .unauthorized || error.isPassing { return .failure(failure) }
            return .success(.unreadable)
        }
        guard let new = try values.value(.new, ofMember: member) else {
            return .success(.unreadable)
        }
        // What the platform does not show comes as an empty text, or not at all.
        let found = [pulled.buildEnvironment[plan.key], pulled.environment[plan.key]]
            .compactMap { $0 }.first { $0.count > 0 }
        guard let found else {
            let isThere =
                pulled.buildEnvironment[plan.key] != nil || pulled.environment[plan.key] != nil
            return .success(
                try isThere || isSensitive(member) ? .unreadable : .lacksIt)
        }
        if found.equals(new) { return .success(.holdsNew) }
        if let old = try values.value(.old, ofMember: member), found.equals(old) {
            return .success(.holdsOld)
        }
        return .success(.holdsOther)
    }

    // MARK: Going back

    func survey(
        _ member: Int, _ build: RotationProgress.Build
    ) throws -> Result<(isLive: Bool, id: String?), Failure> {
        let found: Served
        do throws(VercelAPIError) {
            found = try served(member, build)
        } catch {
            return .failure(try failure(of: error, .unavailable))
        }
        switch found.answer {
        case .isLive(let isLive): return .success((isLive, found.id))
        case .asks(let deployment):
            return try evidence(of: deployment, member).map {
                (![.holdsOld, .lacksIt].contains($0), found.id)
            }
        }
    }

    /// What the platform says of a project before the way back.
    private struct Served {
        enum Answer {
            case isLive(Bool)
            /// It depends on what this deployment was built with.
            case asks(String)
        }

        let id: String
        let answer: Answer
    }

    private func served(
        _ member: Int, _ build: RotationProgress.Build
    ) throws(VercelAPIError) -> Served {
        let place = plan.members[member]
        var id = build.id
        if id.isEmpty { id = try made(member, mark(build, .new))?.id ?? "" }
        let ours = id.isEmpty ? nil : try stopped(id, member)
        guard place.target == "production" else {
            return Served(id: id, answer: .isLive(ours?.state == .ready))
        }
        // What may still go live by itself is treated as live.
        if let ours, !ours.isSettled { return Served(id: id, answer: .isLive(true)) }
        // So is what somebody else has under way.
        if try isUnderWay(member) { return Served(id: id, answer: .isLive(true)) }
        let current = try client(member).project(place.platformProject).production
        guard let current, isLater(current, place) else {
            return Served(id: id, answer: .isLive(false))
        }
        return Served(id: id, answer: .asks(current.id))
    }

    /// Whether a deployment for production that was made since the beginning may still go live.
    private func isUnderWay(_ member: Int) throws(VercelAPIError) -> Bool {
        let place = plan.members[member]
        var filter = DeploymentFilter()
        filter.projectId = place.platformProject
        filter.target = "production"
        filter.limit = 20
        return try client(member).deployments(filter).contains {
            UInt64(clamping: $0.createdAt?.milliseconds ?? .max) > place.newestAt
                && !$0.state.isFinal
        }
    }

    /// Whether the platform never shows the value of one of a project's records.
    private func isSensitive(_ member: Int) throws -> Bool {
        let wanted = Set(plan.members[member].records.map(\.variable))
        let index = try invocation.session.index(.listing)
        return index.variables.contains {
            wanted.contains($0.id) && $0.attributes.kind == .sensitive
        }
    }

    /// Stops a deployment that is still being built, and waits until nothing of it is under way.
    private func stopped(_ id: String, _ member: Int) throws(VercelAPIError) -> Deployment? {
        let end = invocation.context.now() + Self.settlingMilliseconds
        var hasAsked = false
        while true {
            let deployment: Deployment
            do throws(VercelAPIError) {
                deployment = try client(member).deployment(id)
            } catch {
                if error.code == .notFound { return nil }
                throw error
            }
            if deployment.isSettled || invocation.context.now() >= end { return deployment }
            if !deployment.state.isFinal, !hasAsked {
                hasAsked = true
                // It may have ended meanwhile, which the next look shows.
                _ = try? client(member).cancelDeployment(id)
                continue
            }
            if deployment.state == .ready, deployment.target != "production" { return deployment }
            guard waitingRoom.wait(.milliseconds(300)) else {
                throw VercelAPIError(.cancelled, reason: "it was interrupted")
            }
        }
    }

    func restorePrevious(_ member: Int) throws -> Failure? {
        let place = plan.members[member]
        guard let source = place.source else {
            return Failure(.notLive, "there is no deployment of before")
        }
        do throws(VercelAPIError) {
            if try isCurrent(source, member) { return nil }
            do throws(VercelAPIError) {
                _ = try client(member).rollBack(
                    to: source, ofProject: place.platformProject)
            } catch {
                // Another attempt of the same may be under way.
                guard error.code == .outcomeUnknown || error.code == .conflict else { throw error }
            }
            let end = invocation.context.now() + Self.settlingMilliseconds
            while true {
                let project = try client(member).project(
                    place.platformProject, withRollbackInfo: true)
                if project.production?.id == source { return nil }
                let request = project.lastAliasRequest
                let hasFailed =
                    request?.toDeploymentId == source
                    && [.failed, .skipped].contains(request?.jobStatus)
                guard !hasFailed, invocation.context.now() < end else {
                    return Failure(.notLive, "the platform did not make \(source) current again")
                }
                guard waitingRoom.wait(.milliseconds(300)) else {
                    throw VercelAPIError(.cancelled, reason: "it was interrupted")
                }
            }
        } catch {
            return try failure(of: error, .notLive)
        }
    }

    private func isCurrent(
        _ deployment: String, _ member: Int
    ) throws(VercelAPIError) -> Bool {
        try client(member).project(plan.members[member].platformProject).production?.id
            == deployment
    }

    // MARK: Failures

    /// What an error of the platform means for the rotation.
    ///
    /// - Throws: ``RotationInterrupted`` where the user asked to stop.
    func failure(of error: VercelAPIError, _ kind: Failure.Kind) throws -> Failure {
        if error.code == .cancelled { throw RotationInterrupted() }
        try stopIfInterrupted()
        return Self.failure(of: CommandError(mapping: error), kind)
    }

    private func stopIfInterrupted() throws {
        if Interrupts.pending != nil { throw RotationInterrupted() }
    }

    private static func failure(of error: CommandError, _ kind: Failure.Kind) -> Failure {
        let text = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
        switch error.code {
        case .unauthorized: return Failure(.unauthorized, text)
        case .unavailable: return Failure(.unavailable, text)
        case .conflict where kind == .push: return Failure(.changedThere, text)
        default: return Failure(kind, text)
        }
    }
}
