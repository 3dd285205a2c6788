package import Vault

/// Runs a rotation: gets the next action from the machine, saves that in the vault, performs it and
/// passes the result to the machine.
package final class RotationApplication {
    private let keeper: any RotationStore
    private let platform: any RotationRemote
    private let commands: any RotationCommands
    private let workers: any RotationWorkers
    private let clock: any RotationClock
    private let tell: (RotationAction, RotationResult?) -> Void
    /// The current state of the rotation.
    package private(set) var rotation: RotationEntry

    /// - Parameter tell: Called with each action before it starts, and again with its result.
    package init(
        _ rotation: RotationEntry, keeper: any RotationStore, platform: any RotationRemote,
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

    /// Runs until the end, or until a person has to decide.
    ///
    /// - Parameter change: A change that the user requests first, such as a revert.
    /// - Throws: The error if it cannot be saved, or ``RotationInterrupted``; the rotation stays
    ///   open.
    @discardableResult
    package func run(
        _ change: (inout RotationMachine) -> Void = { _ in }
    ) throws -> RotationProgress.Outcome {
        var machine = RotationMachine(plan: rotation.plan, progress: rotation.progress)
        change(&machine)
        while true {
            try verify(&machine)
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
                // Save what is known of the other actions.
                if group.count > 1 { try? keep(machine) }
                throw failure
            }
        }
    }

    /// Performs actions of one kind in parallel.
    ///
    /// - Returns: The results of each; nil for an action that was not started.
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

    /// Saves the rotation if it changed. One write covers the result of one step and the start of
    /// the next.
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
        case .stage(.apply): return Self.result(try commands.apply(.new))
        case .stage(.undo): return Self.result(try commands.apply(.old))
        case .stage(.revoke): return Self.result(try commands.revoke())
        case .push(let member): return try push(member, wasBegun: wasBegun)
        case .restoreOriginal(let member): return try restoreOriginal(member)
        case .deploy(let member, let side):
            return Self.result(
                try platform.create(member, build(member, side), side, mayExist: wasBegun)
            ) { .created(member, side, id: $0) }
        case .read(let member, let side):
            return Self.result(try platform.evidence(of: build(member, side).id, member)) {
                .evidence(member, side, $0)
            }
        case .promote(let member, let side):
            return Self.result(try platform.promote(member, build(member, side)))
        case .check(let member, let side):
            return Self.result(
                try commands.check(member, deployment: deployment(member, side), side))
        case .survey(let member):
            return Self.result(try platform.survey(member, build(member, .new))) {
                .surveyed(member, isLive: $0.isLive, id: $0.id)
            }
        case .restorePrevious(let member):
            return Self.result(try platform.restorePrevious(member))
        case .follow, .end: return .done
        }
    }

    private func push(_ member: Int, wasBegun: Bool) throws -> RotationResult {
        if let failure = try keeper.makeCurrent(.new, ofMember: member, rotation) {
            return wasBegun ? .failed(failure) : .notBegun(failure)
        }
        switch try platform.push(member) {
        case .done: return .done
        case .failed(let failure): return .failed(failure)
        case .notSent(let failure):
            // An earlier attempt may have sent something.
            guard !wasBegun, try keeper.makeCurrent(.old, ofMember: member, rotation) == nil
            else { return .failed(failure) }
            return .notBegun(failure)
        }
    }

    private func restoreOriginal(_ member: Int) throws -> RotationResult {
        if let failure = try keeper.makeCurrent(.old, ofMember: member, rotation) {
            return .failed(failure)
        }
        switch try platform.push(member) {
        case .done: return .done
        case .failed(let failure): return .failed(failure)
        case .notSent(let failure):
            switch try platform.standing(member) {
            case .success(.holdsOther(let reason)):
                return .keptOnVercel(member, .init(.changedThere, reason))
            case .success(.holdsNew), .success(.unknown), .failure: return .failed(failure)
            }
        }
    }

    // MARK: Verifying

    /// Checks Vercel again before the old value is revoked, and before the end of a rotation that does
    /// not revoke. Since the new value was proved, somebody may have changed the variable, or rolled a
    /// project back while those of others were built.
    private func verify(_ machine: inout RotationMachine) throws {
        let next = machine.next
        guard
            next == .stage(.revoke)
                || next == .end(.done) && rotation.plan.redeploys
                    && rotation.plan.commands.revoke == nil
        else { return }
        // What is known so far is saved before a look that may take long.
        try keep(machine)
        let consequence =
            next == .stage(.revoke) && machine.progress[.revoke] == .pending
            ? ", so the old value was not revoked" : ""
        if let failure = try change(so: consequence) { return machine.stop(failure) }
        guard next == .stage(.revoke) else { return }
        for (member, state) in try currentStates() {
            switch state {
            case .live: continue
            case .overtaken(let id):
                // The machine proves that one before it revokes.
                let result = RotationResult.overtaken(member, .new, by: id)
                machine.take(result, of: next)
                tell(next, result)
            case .staged(let failure), .ended(let failure):
                return machine.stop(
                    .init(.notLive, failure.reason + consequence), rebuilding: member)
            case .underWay:
                let id = build(member, .new).id
                return machine.stop(
                    .init(.unavailable, "could not verify that \(id) is still live\(consequence)"))
            }
        }
    }

    /// Returns the states of all new deployments. Polls until every state is known, up to the time
    /// limit.
    private func currentStates() throws -> [(member: Int, state: RotationBuildState)] {
        let members = rotation.plan.members.indices.filter {
            rotation.plan.members[$0].target != nil
        }
        let start = clock.now
        var states: [Int: RotationBuildState] = [:]
        let waiting = try Waiting<Void>.until(
            wait: clock.wait,
            pause: {
                let age = clock.now - min(start, clock.now)
                return age < limit ? Self.pause(afterMilliseconds: age) : nil
            },
            look: {
                states = try platform.states(of: members.map { ($0, build($0, .new)) }, .new)
                return members.allSatisfy { states[$0] ?? .underWay != .underWay } ? () : nil
            })
        if case .interrupted = waiting { throw RotationInterrupted() }
        return members.map { ($0, states[$0] ?? .underWay) }
    }

    /// Returns why Vercel may not have the new value for the next deployment, or nil if it does.
    private func change(so consequence: String) throws -> RotationProgress.Failure? {
        let members = rotation.plan.members
        var standings: [Result<Result<RotationRemoteValue, RotationProgress.Failure>, any Error>?] =
            Array(repeating: nil, count: members.count)
        workers.run(members.count, limit: RotationMachine.buildLimit) { [platform] member in
            standings[member] = Result { try platform.standing(member) }
            return true
        }
        for (member, standing) in zip(members, standings) {
            switch try standing?.get() {
            case .success(.holdsNew): continue
            case .success(.holdsOther(let reason)):
                return .init(
                    .changedThere,
                    "in \(member.name), \(reason); the next deployment will use that value\(consequence)"
                )
            case .success(.unknown(let reason)):
                return .init(
                    .changedThere,
                    "in \(member.name), \(reason), so the next deployment may use another value\(consequence)"
                )
            case .failure(let problem): return problem
            case nil: throw RotationInterrupted()
            }
        }
        return nil
    }

    private static func result(_ failure: RotationProgress.Failure?) -> RotationResult {
        failure.map { .failed($0) } ?? .done
    }

    private static func result<Found>(
        _ answer: Result<Found, RotationProgress.Failure>, _ result: (Found) -> RotationResult
    ) -> RotationResult {
        switch answer {
        case .success(let found): result(found)
        case .failure(let failure): .failed(failure)
        }
    }

    private func build(_ member: Int, _ side: RotationAction.Side) -> RotationProgress.Build {
        rotation.progress.members[member][side]
    }

    /// Returns the id of the deployment to check: the one that was created, or the previous one.
    private func deployment(_ member: Int, _ side: RotationAction.Side) -> String {
        let progress = rotation.progress.members[member]
        if side == .old, progress.previous == .done {
            return rotation.plan.members[member].source ?? ""
        }
        return build(member, side).id
    }

    // MARK: Waiting

    /// Polls all deployments until at least one has ended.
    private func follow(_ members: [Int], _ side: RotationAction.Side) throws -> [RotationResult] {
        let waiting = try Waiting<[RotationResult]>.until(
            wait: clock.wait, pause: { pause(members, side) },
            look: {
                let states = try platform.states(of: members.map { ($0, build($0, side)) }, side)
                let found = members.compactMap { end(of: $0, states[$0] ?? .underWay, side) }
                return found.isEmpty ? nil : found
            })
        guard case .ended(let found) = waiting else { throw RotationInterrupted() }
        return found
    }

    /// Returns how a deployment ended, or nil while it is in progress.
    private func end(
        of member: Int, _ state: RotationBuildState, _ side: RotationAction.Side
    ) -> RotationResult? {
        switch state {
        case .live: return .live(member, side)
        case .overtaken(let id): return .overtaken(member, side, by: id)
        case .staged(let failure):
            return rotation.plan.promotes ? .staged(member, side) : .ended(member, side, failure)
        case .ended(let failure): return .ended(member, side, failure)
        case .underWay: break
        }
        let build = build(member, side)
        guard age(of: build) >= limit else { return nil }
        return .ended(
            member, side,
            .init(.timedOut, "\(build.id) did not go live within \(rotation.plan.timeoutSeconds) s")
        )
    }

    /// The longest time for a deployment, in milliseconds.
    private var limit: UInt64 {
        let limit = rotation.plan.timeoutSeconds.multipliedReportingOverflow(by: 1_000)
        return limit.overflow ? .max : limit.partialValue
    }

    private func age(of build: RotationProgress.Build) -> UInt64 {
        clock.now - min(build.begunAt, clock.now)
    }

    /// Returns the pause by the age of the newest deployment, limited by the deadline of the
    /// oldest.
    private func pause(_ members: [Int], _ side: RotationAction.Side) -> Duration {
        let ages = members.map { age(of: build($0, side)) }
        let rest = limit - min(ages.max() ?? 0, limit)
        return min(
            Self.pause(afterMilliseconds: ages.min() ?? 0),
            .milliseconds(Int64(clamping: max(rest, 1))))
    }

    /// Returns the pause before the next poll: half of the time waited so far, from 0.3 s to 5 s.
    package static func pause(afterMilliseconds age: UInt64) -> Duration {
        .milliseconds(Int64(min(max(age / 2, 300), 5_000)))
    }
}

extension RotationResult {
    /// Whether the action was not performed.
    fileprivate var isFailure: Bool {
        switch self {
        case .failed, .notBegun: true
        default: false
        }
    }
}
