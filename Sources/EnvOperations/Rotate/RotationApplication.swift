package import Vault

/// Does a rotation: asks the machine what comes next, keeps that in the vault, does it, and tells the
/// machine what came of it.
package final class RotationApplication {
    private let keeper: any RotationKeeper
    private let platform: any RotationPlatform
    private let commands: any RotationCommands
    private let clock: any RotationClock
    private let tell: (RotationAction, RotationResult?) -> Void
    /// The rotation as it stands.
    package private(set) var rotation: RotationEntry

    /// - Parameter tell: Told of each action before it is done, and of its result.
    package init(
        _ rotation: RotationEntry, keeper: any RotationKeeper, platform: any RotationPlatform,
        commands: any RotationCommands, clock: any RotationClock,
        tell: @escaping (RotationAction, RotationResult?) -> Void
    ) {
        self.rotation = rotation
        self.keeper = keeper
        self.platform = platform
        self.commands = commands
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
            let action = machine.next
            let wasBegun = machine.mayBeDone(action)
            machine.begin(action, at: clock.now)
            try keep(machine)
            if case .end(let outcome) = action { return outcome }
            tell(action, nil)
            let result = try perform(action, wasBegun: wasBegun)
            machine.take(result, of: action)
            tell(action, result)
        }
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
        case .follow(let members, let side): return try follow(members, side)
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
        case .end: return .done
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

    /// Looks at all of them in turn until one has come to an end.
    private func follow(_ members: [Int], _ side: RotationAction.Side) throws -> RotationResult {
        var round = 0
        while true {
            for member in members {
                let build = build(member, side)
                switch try platform.state(of: build, member) {
                case .live: return .live(member)
                case .ended(let failure): return .ended(member, failure)
                case .underWay: break
                }
                let limit = rotation.plan.timeoutSeconds &* 1_000
                if clock.now &- min(build.begunAt, clock.now) >= limit {
                    return .ended(
                        member,
                        .init(
                            .timedOut,
                            "\(build.id) was not live after \(rotation.plan.timeoutSeconds) s"))
                }
            }
            guard clock.wait(Self.pause(inRound: round)) else { throw RotationInterrupted() }
            round += 1
        }
    }

    /// Often at first, seldom later.
    private static func pause(inRound round: Int) -> Duration {
        switch round {
        case ..<10: .milliseconds(300)
        case ..<25: .seconds(1)
        case ..<40: .seconds(5)
        default: .seconds(15)
        }
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
