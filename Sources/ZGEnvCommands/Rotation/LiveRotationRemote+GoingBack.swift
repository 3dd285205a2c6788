internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// Finds out what went live, and restores the previous deployment.
extension LiveRotationRemote {
    /// The longest wait for a canceled deployment, or for a promotion or rollback.
    private static let settlingMilliseconds: UInt64 = 180_000
    /// The shortest wait for a canceled deployment, also after `--timeout`.
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
                (![.holdsOld, .isAbsent].contains($0), found.id)
            }
        }
    }

    /// What Vercel reports about a project before the revert.
    private struct Served {
        enum Answer {
            case isLive(Bool)
            /// Depends on the value that this deployment was built with.
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
        // A deployment that may still go live by itself is treated as live.
        if let ours, !ours.isSettled { return Served(id: id, answer: .isLive(true)) }
        // So is a deployment that somebody else has started.
        if try isUnderWay(member) { return Served(id: id, answer: .isLive(true)) }
        let project = try settled(member, promoting: id)
        guard !project.isMoving(to: id) else { return Served(id: id, answer: .isLive(true)) }
        guard let current = project.production, isLater(current, place) else {
            return Served(id: id, answer: .isLive(false))
        }
        return Served(id: id, answer: .asks(current.id))
    }

    /// Returns the project once this rotation's promotion has ended.
    private func settled(
        _ member: Int, promoting id: String
    ) throws(VercelAPIError) -> Project {
        let wait = Settling(workspace, plan.members[member].name, waitingRoom)
        return try wait.last("the promotion of \(id)") {
            () throws(VercelAPIError) -> (Project, until: UInt64?) in
            let project = try client(member).project(
                plan.members[member].vercelProject, withRollbackInfo: true)
            return (
                project,
                project.isMoving(to: id) ? wait.begunAt + Self.settlingMilliseconds : nil
            )
        }
    }

    /// Returns whether a production deployment created after the start may still go live.
    private func isUnderWay(_ member: Int) throws(VercelAPIError) -> Bool {
        let place = plan.members[member]
        let filter = DeploymentFilter(project: place.vercelProject, target: "production")
        return try client(member).deployments(filter).contains {
            UInt64(clamping: $0.createdAt?.milliseconds ?? .max) > place.newestAt
                && !$0.state.isFinal
        }
    }

    /// Cancels a deployment that is still building, and waits until it ends. A ready deployment without
    /// domains cannot be canceled and is waited for until its deadline.
    private func stopped(
        _ id: String, _ build: RotationProgress.Build, _ member: Int
    ) throws(VercelAPIError) -> Deployment? {
        let wait = Settling(workspace, plan.members[member].name, waitingRoom)
        let rest = min(end(of: build), wait.begunAt + Self.settlingMilliseconds)
        var hasAsked = false
        return try wait.last("\(id) to finish") {
            () throws(VercelAPIError) -> (Deployment?, until: UInt64?) in
            do throws(VercelAPIError) {
                var deployment = try client(member).deployment(id)
                if !deployment.isSettled, !deployment.state.isFinal, !hasAsked {
                    hasAsked = true
                    // It may have ended already, which the next request shows.
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
            return Failure(.notLive, "there is no previous deployment")
        }
        do throws(VercelAPIError) {
            let project = try client(member).project(
                place.vercelProject, withRollbackInfo: true)
            if project.production?.id == source { return nil }
            var before = project.lastAliasRequest
            var outcome: PromotionOutcome?
            do throws(VercelAPIError) {
                outcome = try client(member).rollBack(to: source, ofProject: place.vercelProject)
            } catch {
                // An earlier attempt may still be in progress.
                guard error.code == .outcomeUnknown || error.code == .conflict else { throw error }
                if project.isMoving(to: source) { before = nil }
            }
            let end = try moved(
                member, to: source, before: before, outcome,
                within: .milliseconds(Int64(Self.settlingMilliseconds)))
            return end == .live
                ? nil : Failure(.notLive, "Vercel did not make \(source) live again")
        } catch {
            return try failure(of: error, .notLive)
        }
    }
}

/// Waits with growing pauses and a time limit, which it shows, for something to end before a revert
/// continues.
private struct Settling {
    private let workspace: Workspace
    private let name: String
    private let waitingRoom: any Sleeper
    /// The start of the wait by this machine's clock.
    let begunAt: UInt64

    init(_ workspace: Workspace, _ name: String, _ waitingRoom: any Sleeper) {
        (self.workspace, self.name, self.waitingRoom) = (workspace, name, waitingRoom)
        begunAt = workspace.context.now()
    }

    /// Waits for `what`.
    ///
    /// - Parameter look: Returns the current state, and the deadline for another one; nil once it ended.
    /// - Returns: The last state.
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
                        "\(name): waiting up to \(DurationText.text(limit)) for \(what).")
                }
                return nil
            })
        guard case .ended(let seen) = waiting else {
            throw VercelAPIError(.cancelled, reason: "the command was interrupted")
        }
        return seen
    }
}
