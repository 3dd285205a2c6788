internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// The platform of a rotation, through its API.
final class LiveRotationPlatform: RotationPlatform {
    typealias Failure = RotationProgress.Failure

    let workspace: Workspace
    private let rotation: Identifier
    let plan: RotationPlan
    let values: RotationValues
    /// The projects, in the order of the plan.
    let projects: [BoundProject]
    let waitingRoom: any WaitingRoom
    let outage: OutageNotice
    /// Which of the projects are of one account or team, and so in one list: equal numbers.
    let groups: [Int]
    /// How often deployments were seen that are ready and have no domains, by project.
    var looks: [Int: Int] = [:]
    /// What was seen to serve last, and when, by project.
    private(set) var seen: [Int: (live: VaultProject.LiveDeployment?, time: UInt64)] = [:]
    /// What was read before the question; each is used once, as long as it is fresh.
    private var readings: [PlatformReading?]

    /// Projects that are read with one request.
    static let pageSize = 100
    /// What was read longer ago is read again before it is relied on.
    private static let freshMilliseconds: UInt64 = 1_000

    /// - Parameter readings: What was just read of the projects, in their order; empty for nothing.
    init(
        _ workspace: Workspace, _ rotation: RotationEntry, _ values: RotationValues,
        projects: [BoundProject], readings: [PlatformReading?] = []
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
        waitingRoom = TurnTakingWaitingRoom(
            workspace.context.waitingRoom, workspace.session.turns)
        outage = OutageNotice(workspace)
    }

    /// A deployment's host name.
    func host(_ member: Int, _ deployment: String) throws -> String? {
        deployment.isEmpty ? nil : try? client(member).deployment(deployment).url
    }

    func client(_ member: Int) -> VercelClient { projects[member].access.client }

    // MARK: Pushing

    func push(_ member: Int) throws -> RotationSending {
        guard let local = projects[member].local else {
            return .failed(Failure(.push, "the vault has no such project"))
        }
        var rules = PushPlan.Rules()
        rules.records = Set(plan.members[member].records.map(\.variable))
        do {
            let report = try PushWork(
                workspace, projects[member], local, rules: rules, isPart: true,
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

    /// What was read before the question, while nothing can have changed unseen since.
    private func freshReading(_ member: Int) -> PlatformReading? {
        defer { readings[member] = nil }
        return readings[member].flatMap {
            workspace.context.now() < $0.listedAt + Self.freshMilliseconds ? $0 : nil
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
        let deployments = deployments(member)
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
            if mayBeThere, let found = try deployments.made(mark) { return .success(found.id) }
            switch try deployments.make(new) {
            case .made(let made): return .success(made.id)
            case .notShown: return .success(try client(member).createDeployment(new).id)
            case .unknown(let error): throw error
            }
        } catch {
            return .failure(try failure(of: error, .deploy))
        }
    }

    /// What tells this rotation's deployments from others, and its attempts apart.
    func mark(
        _ build: RotationProgress.Build, _ side: RotationAction.Side
    ) -> String {
        "\(rotation.hexadecimal)-\(side == .new ? "new" : "old")-\(build.attempt)"
    }

    func deployments(_ member: Int) -> MarkedDeployments {
        MarkedDeployments(client(member), project: plan.members[member].platformProject)
    }

    /// Waits until a deployment serves production in place of another one.
    ///
    /// - Parameters:
    ///   - before: The request that was there beforehand, which is not this one.
    ///   - outcome: What the platform answered; nil where that is not known.
    func moved(
        _ member: Int, to id: String, before: Project.AliasRequest?, _ outcome: PromotionOutcome?,
        within limit: Duration
    ) throws(VercelAPIError) -> PlatformWait.PromotionEnd {
        let end = try PlatformWait(
            client: client(member).unrepeated(within: limit), waitingRoom: waitingRoom, limit: limit
        ).promotion(
            of: id, project: plan.members[member].platformProject, before: before,
            outcome: outcome)
        guard end != .interrupted else {
            throw VercelAPIError(.cancelled, reason: "it was interrupted")
        }
        return end
    }

    // MARK: What serves

    /// Notes what serves production, as just seen.
    func see(_ project: Project, _ member: Int) {
        seen[member] = (project.liveDeployment, workspace.context.now())
    }

    /// Tells whether a deployment was made since the beginning.
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

    /// Whether the platform never shows the value of one of a project's records.
    private func isSensitive(_ member: Int) throws -> Bool {
        let wanted = Set(plan.members[member].records.map(\.variable))
        let index = try workspace.session.index(.listing)
        return index.variables.contains {
            wanted.contains($0.id) && $0.attributes.kind == .sensitive
        }
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
