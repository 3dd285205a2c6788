package import Vault

/// Does a rotation: asks the machine what comes next, keeps that in the vault, does it, and tells the
/// machine what came of it.
package final class RotationApplication {
    private let keeper: any RotationKeeper
    private let platform: any RotationPlatform
    private let commands: any RotationCommands
    private let workers: any RotationWorkers
    private let clock: any RotationClock
    private let tell: (RotationAction, RotationResult?) -> Void
    /// The rotation as it stands.
    package private(set) var rotation: RotationEntry

    /// - Parameter tell: Told of each action before it is done, and of its result.
    package init(
        _ rotation: RotationEntry, keeper: any RotationKeeper, platform: any RotationPlatform,
        commands: any RotationCommands, workers: any RotationWorkers,
        clock: any RotationClock,
        tell: @escaping (RotationAction, RotationResult?) -> Void
    ) {
        self.rotation = rotation
        self.keeper = keeper
        self.platform = platform
        self.commands = commands
        self.workers = workers
        self.clock = clock
        self.tell = tell
    }

    /// Goes on to the end, or to where somebody has to look.
    ///
    /// - Parameter change: What the user asks of it first, such as to go back.
    /// - Throws: What keeps it from being kept, or ``RotationInterrupted``: the rotation stays open.
    @discardableResult
    package func run(
        _ change: (inout RotationMachine) -> Void = { _ in }
    ) throws -> RotationProgress.Outcome {
        var machine = RotationMachine(plan: rotation.plan, progress: rotation.progress)
        change(&machine)
        while true {
            let group = machine.group
            let before = machine
            for action in group { machine.begin(action, at: clock.now) }
            try keep(machine)
            if case .end(let outcome) = group[0] { return outcome }
            let ends = perform(group) { before.mayBeDone($0) }
            var failure: (any Error)?
            for (action, end) in zip(group, ends) {
                switch end {
                case .success(let results)?:
                    for result in results { machine.take(result, of: action) }
                case .failure(let error)?: failure = failure ?? error
                case nil: machine.withdraw(action, asIn: before.progress)
                }
            }
            if let failure {
                // What is known of the others is not to be looked up again.
                if group.count > 1 { try? keep(machine) }
                throw failure
            }
        }
    }

    /// Does actions of one kind side by side.
    ///
    /// - Returns: What came of each; nil for one that was not begun.
    private func perform(
        _ group: [RotationAction], mayBeDone: @escaping (RotationAction) -> Bool
    ) -> [Result<[RotationResult], any Error>?] {
        var ends: [Result<[RotationResult], any Error>?] = Array(
            repeating: nil, count: group.count)
        workers.run(group.count, limit: group[0].parallelLimit) { [self] place in
            let action = group[place]
            tell(action, nil)
            do {
                let results = try perform(action, wasBegun: mayBeDone(action))
                ends[place] = .success(results)
                for result in results { tell(action, result) }
                return !action.endsGroup || !results.contains(where: \.isFailure)
            } catch {
                ends[place] = .failure(error)
                return false
            }
        }
        return ends
    }

    /// Keeps the rotation where it has changed; one write covers what came of one step and that the
    /// next one is begun.
    private func keep(_ machine: RotationMachine) throws {
        var next = rotation
        next.progress = machine.progress
        let hasEnded = [.done, .rolledBack].contains(machine.progress.outcome)
        next.endedAt = hasEnded ? max(clock.now, 1) : 0
        guard next != rotation || !hasKept else { return }
        try keeper.keep(next)
        rotation = next
        hasKept = true
    }

    private var hasKept = false

    private func perform(
        _ action: RotationAction, wasBegun: Bool
    ) throws -> [RotationResult] {
        if case .follow(let members, let side) = action { return try follow(members, side) }
        return [try performOne(action, wasBegun: wasBegun)]
    }

    private func performOne(
        _ action: RotationAction, wasBegun: Bool
    ) throws -> RotationResult {
        switch action {
        case .apply: return Self.result(try commands.apply(.new))
        case .undo: return Self.result(try commands.apply(.old))
        case .revoke: return Self.result(try commands.revoke())
        case .push(let member): return try push(member, .new)
        case .putBack(let member): return try push(member, .old)
        case .deploy(let member, let side):
            let made = try platform.create(
                member, build(member, side), side, mayBeThere: wasBegun)
            switch made {
            case .success(let id): return .created(id)
            case .failure(let failure): return .failed(failure)
            }
        case .read(let member, let side):
            switch try platform.evidence(of: build(member, side).id, member) {
            case .success(let evidence): return .evidence(evidence)
            case .failure(let failure): return .failed(failure)
            }
        case .check(let member, let side):
            return Self.result(
                try commands.check(member, deployment: deployment(member, side), side))
        case .survey(let member):
            switch try platform.survey(member, build(member, .new)) {
            case .success(let found): return .surveyed(isLive: found.isLive, id: found.id)
            case .failure(let failure): return .failed(failure)
            }
        case .restorePrevious(let member):
            return Self.result(try platform.restorePrevious(member))
        case .follow, .end: return .done
        }
    }

    private func push(_ member: Int, _ side: RotationAction.Side) throws -> RotationResult {
        if let failure = try keeper.makeCurrent(side, ofMember: member, rotation) {
            return .failed(failure)
        }
        return Self.result(try platform.push(member))
    }

    private static func result(_ failure: RotationProgress.Failure?) -> RotationResult {
        failure.map { .failed($0) } ?? .done
    }

    private func build(_ member: Int, _ side: RotationAction.Side) -> RotationProgress.Build {
        let progress = rotation.progress.members[member]
        return side == .new ? progress.build : progress.backBuild
    }

    /// The deployment that a check is of: the one that was made, or the one of before.
    private func deployment(_ member: Int, _ side: RotationAction.Side) -> String {
        let progress = rotation.progress.members[member]
        if side == .old, progress.previous == .done {
            return rotation.plan.members[member].source ?? ""
        }
        return build(member, side).id
    }

    // MARK: Waiting

    /// Looks at all of them until one or more have come to an end.
    private func follow(_ members: [Int], _ side: RotationAction.Side) throws -> [RotationResult] {
        var round = 0
        while true {
            var found: [RotationResult] = []
            var problem: (any Error)?
            workers.run(members.count, limit: RotationMachine.buildLimit) { [self] place in
                do {
                    if let end = try end(of: members[place], side) { found.append(end) }
                    return true
                } catch {
                    problem = error
                    return false
                }
            }
            if let problem { throw problem }
            if !found.isEmpty { return found }
            guard clock.wait(Self.pause(inRound: round)) else { throw RotationInterrupted() }
            round += 1
        }
    }

    /// What a deployment has come to; nil while it is under way.
    private func end(
        of member: Int, _ side: RotationAction.Side
    ) throws -> RotationResult? {
        let build = build(member, side)
        switch try platform.state(of: build, member, side) {
        case .live: return .live(member)
        case .overtaken(let id): return .overtaken(member, by: id)
        case .ended(let failure): return .ended(member, failure)
        case .underWay: break
        }
        let limit = rotation.plan.timeoutSeconds &* 1_000
        guard clock.now &- min(build.begunAt, clock.now) >= limit else { return nil }
        return .ended(
            member,
            .init(.timedOut, "\(build.id) was not live after \(rotation.plan.timeoutSeconds) s"))
    }

    /// Often at first, seldom later.
    private static func pause(inRound round: Int) -> Duration {
        switch round {
        case ..<10: .milliseconds(300)
        case ..<30: .milliseconds(500)
        case ..<45: .seconds(1)
        case ..<60: .seconds(5)
        default: .seconds(15)
        }
    }
}

extension RotationResult {
    /// Tells whether it was not done.
    fileprivate var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}

extension RotationMachine {
    /// Tells whether an earlier attempt may have done an action: its traces are looked for first.
    fileprivate func mayBeDone(_ action: RotationAction) -> Bool {
        switch action {
        case .deploy(let member, .new): progress.members[member].build.create == .begun
        case .deploy(let member, .old): progress.members[member].backBuild.create == .begun
        default: false
        }
    }
}
