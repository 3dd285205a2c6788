internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import Sealing
internal import Vault
internal import VercelAPI

/// Carries out the steps of a rotation on Vercel through its API.
final class LiveRotationRemote: RotationRemote {
    typealias Failure = RotationProgress.Failure

    let workspace: Workspace
    private let rotation: Identifier
    let plan: RotationPlan
    let values: RotationValues
    /// The projects, in the order of the plan.
    let projects: [LinkedProject]
    let waitingRoom: any Sleeper
    let outage: OutageNotice
    /// One number per project; projects of the same account or team, which one list contains, share it.
    let groups: [Int]
    /// How often a ready deployment without domains was seen, by project.
    var looks: [Int: Int] = [:]
    /// The live deployment seen last, and when, by project.
    private(set) var seen: [Int: (live: VaultProject.LiveDeployment?, time: UInt64)] = [:]
    /// Readings from before the confirmation, each used once while fresh.
    private var readings: [VercelReading?]

    /// The number of projects per list request.
    static let pageSize = 100
    /// The age after which a reading is not used.
    private static let freshMilliseconds: UInt64 = 1_000

    /// - Parameter readings: Recent readings, in the order of the projects; empty if there are none.
    init(
        _ workspace: Workspace, _ rotation: RotationEntry, _ values: RotationValues,
        projects: [LinkedProject], readings: [VercelReading?]
    ) {
        self.workspace = workspace
        self.rotation = rotation.id
        plan = rotation.plan
        self.values = values
        self.projects = projects
        self.readings =
            readings.count == projects.count
            ? readings : Array(repeating: nil, count: projects.count)
        groups = projects.indices.map { place in
            projects.firstIndex { $0.access.isSame(as: projects[place].access) } ?? place
        }
        waitingRoom = LockReleasingSleeper(
            workspace.context.waitingRoom, workspace.session.turns)
        outage = OutageNotice(workspace)
    }

    /// Returns a deployment's host name, or nil if it cannot be read.
    func host(_ member: Int, _ deployment: String) -> String? {
        deployment.isEmpty ? nil : try? client(member).deployment(deployment).url
    }

    func client(_ member: Int) -> VercelClient { projects[member].access.client }

    // MARK: Pushing

    func push(_ member: Int) throws -> RotationPushResult {
        guard let local = projects[member].local else {
            return .failed(Failure(.push, "the vault has no such project"))
        }
        let records = Set(plan.members[member].records.map(\.variable))
        do {
            let report = try PushWork(
                workspace, projects[member], local, rules: .init(records: records), isPart: true,
                knowing: freshReading(member)
            ).run(asks: false)
            guard let failure = report.failure else { return .done }
            try stopIfInterrupted()
            let reason = Self.failure(of: failure, .push)
            return report.isUnsent ? .notSent(reason) : .failed(reason)
        } catch let error as CommandError {
            return .failed(Self.failure(of: error, .push))
        } catch let error as VercelAPIError {
            return .failed(try failure(of: error, .push))
        }
    }

    /// Returns the reading from before the confirmation if it is still fresh.
    private func freshReading(_ member: Int) -> VercelReading? {
        defer { readings[member] = nil }
        return readings[member].flatMap {
            workspace.context.now() < $0.listedAt + Self.freshMilliseconds ? $0 : nil
        }
    }

    // MARK: Making deployments

    func create(
        _ member: Int, _ build: RotationProgress.Build, _ side: RotationAction.Side,
        mayExist: Bool
    ) throws -> Result<String, Failure> {
        let place = plan.members[member]
        guard let source = place.source else {
            return .failure(Failure(.deploy, "there is no deployment to redeploy"))
        }
        let deployments = deployments(member)
        let mark = mark(build, side)
        var new = NewDeployment(
            sourceId: source, projectName: place.vercelName,
            target: place.target == "production" ? "production" : nil)
        if place.target != "production", place.target != "preview" {
            new.customEnvironment = place.target
        }
        new.action = build.way == .promotion ? "promote" : "redeploy"
        new.mark = mark
        do throws(VercelAPIError) {
            if mayExist, let found = try deployments.made(mark) { return .success(found.id) }
            switch try deployments.make(new) {
            case .made(let made): return .success(made.id)
            case .notShown: return .success(try client(member).createDeployment(new).id)
            case .unknown(let error): throw error
            }
        } catch {
            return .failure(try failure(of: error, .deploy))
        }
    }

    /// Returns the deployment marker of one attempt.
    func mark(
        _ build: RotationProgress.Build, _ side: RotationAction.Side
    ) -> String {
        "\(rotation.hexadecimal)-\(side == .new ? "new" : "old")-\(build.attempt)"
    }

    func deployments(_ member: Int) -> MarkedDeployments {
        MarkedDeployments(client(member), project: plan.members[member].vercelProject)
    }

    /// Waits until a promotion or rollback to a deployment ends.
    ///
    /// - Parameters:
    ///   - before: The alias request that existed before this one.
    ///   - outcome: Vercel's response; nil if unknown.
    func moved(
        _ member: Int, to id: String, before: Project.AliasRequest?, _ outcome: PromotionOutcome?,
        within limit: Duration
    ) throws(VercelAPIError) -> VercelWait.PromotionEnd {
        let end = try VercelWait(
            client: client(member).withoutRetries(within: limit), waitingRoom: waitingRoom,
            limit: limit
        ).promotion(
            of: id, project: plan.members[member].vercelProject, before: before,
            outcome: outcome)
        guard end != .interrupted else {
            throw VercelAPIError(.cancelled, reason: "the command was interrupted")
        }
        return end
    }

    // MARK: Live deployments

    /// Records the live deployment of a project just read.
    func see(_ project: Project, _ member: Int) {
        seen[member] = (project.liveDeployment, workspace.context.now())
    }

    /// Returns whether a deployment was created after the rotation started.
    func isLater(_ deployment: Deployment, _ place: RotationPlan.Member) -> Bool {
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
            if failure.kind == .unauthorized || error.isTemporary { return .failure(failure) }
            // A denied request stays denied, and hidden values are not in any response. Another refusal
            // says nothing about the deployment, so the rotation is not done.
            guard try error.code == .forbidden || error.code == .notFound || isSensitive(member)
            else { return .failure(failure) }
            return .success(.unreadable)
        }
        guard let new = try values.value(.new, ofMember: member) else {
            return .success(.unreadable)
        }
        // Vercel returns values that it does not show as an empty string, or not at all.
        let shown = [pulled.buildEnvironment[plan.key], pulled.environment[plan.key]]
            .compactMap { $0 }
        guard let found = shown.first(where: { $0.count > 0 }) else {
            return .success(
                try !shown.isEmpty || isSensitive(member) ? .unreadable : .isAbsent)
        }
        if found.equals(new) { return .success(.holdsNew) }
        if let old = try values.value(.old, ofMember: member), found.equals(old) {
            return .success(.holdsOld)
        }
        return .success(.holdsOther)
    }

    /// Returns whether one of a project's records is sensitive.
    private func isSensitive(_ member: Int) throws -> Bool {
        let wanted = Set(plan.members[member].records.map(\.variable))
        let index = try workspace.session.index(.listing)
        return index.variables.contains {
            wanted.contains($0.id) && $0.attributes.kind == .sensitive
        }
    }

    // MARK: Failures

    /// Converts an API error into a failure of the rotation.
    ///
    /// - Throws: ``RotationInterrupted`` if the user interrupted the rotation.
    func failure(of error: VercelAPIError, _ kind: Failure.Kind) throws -> Failure {
        if error.code == .cancelled { throw RotationInterrupted() }
        try stopIfInterrupted()
        return Self.failure(of: CommandError(mapping: error), kind)
    }

    func stopIfInterrupted() throws {
        if Interrupts.pending != nil { throw RotationInterrupted() }
    }

    static func failure(of error: CommandError, _ kind: Failure.Kind) -> Failure {
        let text = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
        switch error.code {
        case .unauthorized: return Failure(.unauthorized, text)
        case .unavailable: return Failure(.unavailable, text)
        case .conflict where kind == .push: return Failure(.changedThere, text)
        default: return Failure(kind, text)
        }
    }
}
