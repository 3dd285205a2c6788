internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What went live, and bringing back what served before.
extension LiveRotationPlatform {
    /// How long a deployment that was stopped, or a change of what is current, is waited for at most.
    private static let settlingMilliseconds: UInt64 = 180_000
    /// How long a deployment that was stopped is waited for at least, also after `--timeout`.
    private static let stoppingMilliseconds: UInt64 = 30_000

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
        if id.isEmpty { id = try deployments(member).made(mark(build, .new))?.id ?? "" }
        let ours = id.isEmpty ? nil : try stopped(id, build, member)
        guard place.target == "production" else {
            return Served(id: id, answer: .isLive(ours?.state == .ready))
        }
        // What may still go live by itself is treated as live.
        if let ours, !ours.isSettled { return Served(id: id, answer: .isLive(true)) }
        // So is what somebody else has under way.
        if try isUnderWay(member) { return Served(id: id, answer: .isLive(true)) }
        let project = try settled(member, promoting: id)
        guard !project.isMoving(to: id) else { return Served(id: id, answer: .isLive(true)) }
        guard let current = project.production, isLater(current, place) else {
            return Served(id: id, answer: .isLive(false))
        }
        return Served(id: id, answer: .asks(current.id))
    }

    /// The project, once a promotion that this rotation has asked for is over.
    private func settled(
        _ member: Int, promoting id: String
    ) throws(VercelAPIError) -> Project {
        let wait = Settling(workspace, plan.members[member].name, waitingRoom)
        return try wait.last("the promotion of \(id)") {
            () throws(VercelAPIError) -> (Project, until: UInt64?) in
            let project = try client(member).project(
                plan.members[member].platformProject, withRollbackInfo: true)
            return (
                project,
                project.isMoving(to: id) ? wait.begunAt + Self.settlingMilliseconds : nil
            )
        }
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

    /// Stops a deployment that is still being built, and waits until nothing of it is under way. One that is
    /// ready and has no domains yet cannot be stopped; it has the rest of its time.
    private func stopped(
        _ id: String, _ build: RotationProgress.Build, _ member: Int
    ) throws(VercelAPIError) -> Deployment? {
        let wait = Settling(workspace, plan.members[member].name, waitingRoom)
        let rest = min(end(of: build), wait.begunAt + Self.settlingMilliseconds)
        var hasAsked = false
        return try wait.last("\(id) to end") {
            () throws(VercelAPIError) -> (Deployment?, until: UInt64?) in
            do throws(VercelAPIError) {
                var deployment = try client(member).deployment(id)
                if !deployment.isSettled, !deployment.state.isFinal, !hasAsked {
                    hasAsked = true
                    // It may have ended meanwhile, which the next look shows.
                    _ = try? client(member).cancelDeployment(id)
                    deployment = try client(member).deployment(id)
                }
                let isReady = deployment.state == .ready
                let isOver =
                    deployment.isSettled || (isReady && deployment.target != "production")
                let last = isReady ? rest : max(rest, wait.begunAt + Self.stoppingMilliseconds)
                return (deployment, isOver ? nil : last)
            } catch {
                if error.code == .notFound { return (nil, nil) }
                throw error
            }
        }
    }

    func restorePrevious(_ member: Int) throws -> Failure? {
        let place = plan.members[member]
        guard let source = place.source else {
            return Failure(.notLive, "there is no deployment of before")
        }
        do throws(VercelAPIError) {
            let project = try client(member).project(
                place.platformProject, withRollbackInfo: true)
            if project.production?.id == source { return nil }
            var before = project.lastAliasRequest
            var outcome: PromotionOutcome?
            do throws(VercelAPIError) {
                outcome = try client(member).rollBack(to: source, ofProject: place.platformProject)
            } catch {
                // Another attempt of the same may be under way.
                guard error.code == .outcomeUnknown || error.code == .conflict else { throw error }
                if project.isMoving(to: source) { before = nil }
            }
            let end = try moved(
                member, to: source, before: before, outcome,
                within: .milliseconds(Int64(Self.settlingMilliseconds)))
            return end == .live
                ? nil : Failure(.notLive, "Vercel did not make \(source) current again")
        } catch {
            return try failure(of: error, .notLive)
        }
    }
}

/// Waits for what is to come to an end before the way back goes on: more and more seldom, not longer than
/// a bound, which is said.
private struct Settling {
    private let workspace: Workspace
    private let name: String
    private let waitingRoom: any WaitingRoom
    /// When the waiting began, by this machine's clock.
    let begunAt: UInt64

    init(_ workspace: Workspace, _ name: String, _ waitingRoom: any WaitingRoom) {
        (self.workspace, self.name, self.waitingRoom) = (workspace, name, waitingRoom)
        begunAt = workspace.context.now()
    }

    /// Waits for `what`.
    ///
    /// - Parameter look: What there is now, and until when to wait for something else; nil where it has come
    ///   to an end.
    /// - Returns: What was seen last.
    func last<Seen>(
        _ what: String, _ look: () throws(VercelAPIError) -> (Seen, until: UInt64?)
    ) throws(VercelAPIError) -> Seen {
        var rest: UInt64 = 0
        var hasSaid = false
        let waiting = try Waiting.until(
            wait: waitingRoom.wait,
            pause: { () throws(VercelAPIError) -> Duration? in
                let now = workspace.context.now()
                let pause = RotationApplication.pause(afterMilliseconds: now - min(begunAt, now))
                return min(pause, .milliseconds(Int64(clamping: rest)))
            },
            look: { () throws(VercelAPIError) -> Seen? in
                let (seen, end) = try look()
                let now = workspace.context.now()
                guard let end, now < end else { return seen }
                rest = end - now
                if !hasSaid {
                    hasSaid = true
                    let limit = Duration.seconds(Int64((rest + 999) / 1_000))
                    workspace.note(
                        "\(name): waiting for \(what), \(DurationText.text(limit)) at most.")
                }
                return nil
            })
        guard case .ended(let seen) = waiting else {
            throw VercelAPIError(.cancelled, reason: "it was interrupted")
        }
        return seen
    }
}
