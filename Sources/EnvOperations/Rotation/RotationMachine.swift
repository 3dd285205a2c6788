package import Vault

/// Decides the next step of a rotation from its plan and progress.
///
/// Forward: accept the new value, push it to every project, deploy it everywhere, prove it there,
/// and only then revoke the old value. Backward: undo these steps in the order that keeps a working
/// value in production for as long as possible.
package struct RotationMachine: Equatable, Sendable {
    package let plan: RotationPlan
    package private(set) var progress: RotationProgress

    /// The most parallel builds.
    package static let buildLimit = 32

    package init(plan: RotationPlan, progress: RotationProgress) {
        self.plan = plan
        self.progress = progress
    }

    // MARK: What comes next

    /// The next action; the same one until its result is recorded.
    package var next: RotationAction { group[0] }

    /// The next actions, at least one. Several are of one kind, in different projects, and may run
    /// in parallel, after all of them were recorded as begun.
    package var group: [RotationAction] {
        if progress.outcome != .none { return [.end(progress.outcome)] }
        return progress.direction == .forward ? nextForward : nextBackward
    }

    /// The order of the steps; ``RotationSetup`` shows it in the plan.
    private var nextForward: [RotationAction] {
        if plan.commands.apply != nil, progress[.apply] != .done { return [.stage(.apply)] }
        let unpushed = members { $0.push != .done }
        if !unpushed.isEmpty { return unpushed.map { .push($0) } }
        let deployed = deployedMembers
        let staged = staged(deployed, .new)
        if !staged.isEmpty { return staged }
        let building = building(deployed, .new)
        if !building.isEmpty { return building }
        let checking = checking(deployed, .new)
        if !checking.isEmpty { return checking }
        let waited = outstanding(deployed, .new)
        if !waited.isEmpty { return [.follow(waited, .new)] }
        if plan.commands.revoke != nil, progress[.revoke] != .done { return [.stage(.revoke)] }
        return [.end(.done)]
    }

    private var nextBackward: [RotationAction] {
        // Once the old value is revoked, nothing may depend on it before it is accepted again.
        if progress[.revoke] != .pending, mustUndo { return [.stage(.undo)] }
        // Another person's deployment may include the new value too.
        let unasked = progress.members.indices.filter {
            progress.members[$0].push != .pending && plan.members[$0].target != nil
                && progress.members[$0].reach == .unknown
        }
        if !unasked.isEmpty { return unasked.map { .survey($0) } }
        let live = members { $0.reach == .live }
        // The old value is live, so it must be accepted again at once.
        if live.isEmpty, mustUndo { return [.stage(.undo)] }
        let there = members {
            $0.push != .pending && $0.restoreOriginal != .done && $0.trouble == nil
        }
        if !there.isEmpty { return there.map { .restoreOriginal($0) } }
        let wanted = live.filter { progress.members[$0].trouble == nil }
        let rebuilt = wanted.filter { progress.members[$0].previous == .pending }
        let staged = staged(rebuilt, .old)
        if !staged.isEmpty { return staged }
        let building = building(rebuilt, .old)
        if !building.isEmpty { return building }
        let restored = wanted.filter { progress.members[$0].previous == .begun }
        if !restored.isEmpty { return restored.map { .restorePrevious($0) } }
        let waited = outstanding(rebuilt, .old)
        if !waited.isEmpty { return [.follow(waited, .old)] }
        // The new value must stay accepted where it is still live.
        let isStuck = live.contains { progress.members[$0].isStuck }
        if mustUndo { return [isStuck ? .end(.needsAttention) : .stage(.undo)] }
        let checking = checking(wanted, .old)
        if !checking.isEmpty { return checking }
        let isBack = !progress.members.contains { $0.isStuck }
        return [.end(isBack ? .rolledBack : .needsAttention)]
    }

    private func members(_ isMeant: (RotationProgress.Member) -> Bool) -> [Int] {
        progress.members.indices.filter { isMeant(progress.members[$0]) }
    }

    private var mustUndo: Bool {
        plan.commands.apply != nil && progress[.apply] != .pending && progress[.undo] != .done
    }

    /// The projects with deployments.
    private var deployedMembers: [Int] {
        plan.redeploys ? plan.members.indices.filter { plan.members[$0].target != nil } : []
    }

    private func outstanding(_ members: [Int], _ side: RotationAction.Side) -> [Int] {
        members.filter {
            let build = progress.members[$0][side]
            return build.create == .done && ![.done, .begun].contains(build.live)
        }
    }

    /// Returns promotions of staged deployments.
    private func staged(_ members: [Int], _ side: RotationAction.Side) -> [RotationAction] {
        members.filter { progress.members[$0][side].live == .begun }.map { .promote($0, side) }
    }

    private func building(_ members: [Int], _ side: RotationAction.Side) -> [RotationAction] {
        let room = Self.buildLimit - outstanding(members, side).count
        let unmade = members.filter { progress.members[$0][side].create != .done }
        if room > 0, !unmade.isEmpty { return unmade.prefix(room).map { .deploy($0, side) } }
        return members.filter {
            let build = progress.members[$0][side]
            return build.live == .done && build.evidence == .unknown
        }.map { .read($0, side) }
    }

    private func checking(_ members: [Int], _ side: RotationAction.Side) -> [RotationAction] {
        guard plan.commands.hasCheck else { return [] }
        return members.filter {
            let member = progress.members[$0]
            let build = member[side]
            return (build.live == .done || side == .old && member.previous == .done)
                && ![.done, .failed].contains(build.check)
        }.map { .check($0, side) }
    }

    // MARK: What was begun

    /// Records that an action is about to start. Actions that only read have no record.
    package mutating func begin(_ action: RotationAction, at time: UInt64) {
        switch action {
        case .deploy(let member, let side) where progress.members[member][side].create == .pending:
            progress.members[member][side].begunAt = time
        case .end(let outcome): progress.outcome = outcome
        default: break
        }
        set(action, .begun)
    }

    /// Whether an earlier attempt may have performed an action or a part of it.
    func mayBeDone(_ action: RotationAction) -> Bool {
        action.step.map { progress[keyPath: $0] != .pending } ?? false
    }

    /// Undoes the record of an action that was not started because another one of its group made it
    /// unnecessary.
    ///
    /// - Parameter before: The progress before the group was begun.
    package mutating func withdraw(_ action: RotationAction, asIn before: RotationProgress) {
        guard let member = action.member else { return }
        progress.members[member] = before.members[member]
        endUntouched()
    }

    // MARK: What came of it

    /// Records the result of an action from ``group``.
    package mutating func take(_ result: RotationResult, of action: RotationAction) {
        switch result {
        case .done: set(action, .done)
        case .failed(let failure): failed(action, failure)
        case .notBegun(let failure):
            set(action, .pending)
            fail(failure, in: action.member)
            endUntouched()
        case .created(let member, let side, let id):
            progress.members[member][side].id = id
            progress.members[member][side].create = .done
        case .live(let member, let side): progress.members[member][side].live = .done
        case .overtaken(let member, let side, let id):
            // From now on, the rotation is about the deployment that is live.
            progress.members[member][side].id = id
            progress.members[member][side].live = .done
            progress.members[member][side].evidence = .unknown
            progress.members[member][side].check = .pending
        case .staged(let member, let side): progress.members[member][side].live = .begun
        case .ended(let member, .new, let failure):
            progress.members[member].build.live = .failed
            fail(failure, in: member)
        case .ended(let member, .old, _): rebuildFailed(member)
        case .evidence(let member, .new, let evidence): take(evidence, of: member)
        case .evidence(let member, .old, let evidence):
            progress.members[member].revertBuild.evidence = evidence
            if [.holdsNew, .holdsOther, .isAbsent].contains(evidence) { rebuildFailed(member) }
        case .surveyed(let member, let isLive, let id):
            progress.members[member].reach = isLive ? .live : .notLive
            if let id { progress.members[member].build.id = id }
        case .keptOnVercel(let member, let failure):
            // A build with another person's third value does not have the new one.
            if progress.members[member].build.evidence == .holdsOther {
                progress.members[member].reach = .notLive
            }
            // If the new value is live, the old one cannot be rebuilt without its record.
            let isLive = progress.members[member].reach == .live
            progress.members[member].restoreOriginal = isLive ? .failed : .done
            progress.members[member].trouble = failure
        }
    }

    private mutating func set(_ action: RotationAction, _ state: RotationProgress.Step) {
        if let step = action.step { progress[keyPath: step] = state }
    }

    private mutating func take(_ evidence: RotationProgress.Evidence, of member: Int) {
        let build = progress.members[member].build
        switch evidence {
        case .holdsOld where build.way == .redeploy && isGoingForward,
            .isAbsent where build.way == .redeploy && isGoingForward:
            // Some redeploys keep the variables of the source deployment. Promoting the same source
            // rebuilds it with the current ones.
            var again = RotationProgress.Build()
            again.way = .promotion
            again.attempt = build.attempt &+ 1
            progress.members[member].build = again
        case .holdsOld:
            progress.members[member].build.evidence = evidence
            fail(.init(.holdsOld, "\(build.id) was built with the old value"), in: member)
        case .isAbsent:
            progress.members[member].build.evidence = evidence
            fail(.init(.holdsOld, "\(build.id) was built without the variable"), in: member)
        case .holdsOther:
            progress.members[member].build.evidence = evidence
            fail(
                .init(.holdsOther, "\(build.id) was built with neither the old nor the new value"),
                in: member)
        case .unreadable where plan.commands.revoke != nil && !plan.commands.hasCheck:
            progress.members[member].build.evidence = evidence
            fail(
                .init(
                    .notProved,
                    "Vercel does not show what \(build.id) was built with, and there is no "
                        + "check"), in: member)
        case .holdsNew, .unreadable, .unknown:
            progress.members[member].build.evidence = evidence
        }
    }

    /// Whether no action of the current group has reverted or stopped the rotation.
    private var isGoingForward: Bool { progress.direction == .forward && progress.outcome == .none }

    private mutating func failed(_ action: RotationAction, _ failure: RotationProgress.Failure) {
        if case .deploy(let member, let side) = action {
            // It may exist, so it stays begun.
            progress.members[member][side].live = .failed
        } else {
            set(action, .failed)
        }
        switch action {
        case .stage(.apply): fail(failure, in: nil)
        // Once the old value may be revoked, the new one is live and proved everywhere, so a revert
        // would gain nothing.
        case .stage(.revoke), .stage(.undo), .follow: stop(failure, in: nil)
        case .survey(let member): stop(failure, in: member)
        case .read(let member, _) where failure.kind == .unavailable:
            // The live value is unknown now, so neither continuing nor reverting would be right.
            stop(failure, in: member)
        case .push(let member), .deploy(let member, .new), .promote(let member, .new),
            .read(let member, .new), .check(let member, .new):
            fail(failure, in: member)
        case .restoreOriginal(let member), .restorePrevious(let member):
            progress.members[member].trouble = failure
        case .deploy(let member, .old), .promote(let member, .old), .read(let member, .old):
            rebuildFailed(member)
        case .check(let member, .old):
            // A deployment with the old value is not the cause.
            if progress.members[member].previous == .pending, plan.isProduction(member),
                progress.members[member].revertBuild.evidence != .holdsOld
            {
                progress.members[member].previous = .begun
                progress.members[member].revertBuild.check = .pending
            } else if !isRestored(member) {
                progress.members[member].trouble = failure
            }
        case .end: break
        }
    }

    /// Whether everything is known to be as before the rotation, so that a check that fails would have
    /// failed then too. An apply command may have restored something else.
    private func isRestored(_ member: Int) -> Bool {
        let state = progress.members[member]
        return plan.commands.apply == nil
            && (state.revertBuild.evidence == .holdsOld || state.previous == .done)
    }

    /// Falls back to the previous deployment after a deployment with the old value failed.
    private mutating func rebuildFailed(_ member: Int) {
        progress.members[member].revertBuild.live = .failed
        if plan.isProduction(member) {
            progress.members[member].previous = .begun
        } else {
            progress.members[member].trouble = .init(
                .build, "the deployment with the old value failed")
        }
    }

    /// Stops because Vercel may not have the new value any more.
    ///
    /// - Parameter member: The project whose deployment is not live any more; resuming builds it again.
    package mutating func stop(
        _ failure: RotationProgress.Failure, rebuilding member: Int? = nil
    ) {
        if let member { progress.members[member].build.live = .failed }
        stop(failure, in: member)
    }

    /// Handles a failure in the forward direction by reverting or stopping.
    private mutating func fail(_ failure: RotationProgress.Failure, in member: Int?) {
        // A value that may be revoked must not become live again, unless --apply installs it.
        guard plan.failurePolicy == .rollback, canAbort else { return stop(failure, in: member) }
        note(failure, in: member)
        progress.direction = .backward
    }

    /// Closes the rotation if nothing visible was done.
    private mutating func endUntouched() {
        guard progress.isUntouched, progress.failure != nil else { return }
        progress.outcome = .none
        progress.direction = .backward
    }

    private mutating func stop(_ failure: RotationProgress.Failure, in member: Int?) {
        note(failure, in: member)
        progress.outcome = .needsAttention
    }

    private mutating func note(_ failure: RotationProgress.Failure, in member: Int?) {
        guard progress.failure == nil else { return }
        (progress.failure, progress.failedMember) = (failure, member)
    }

    // MARK: Going on

    /// Continues after a stop in the same direction, retrying what failed.
    package mutating func resume() {
        progress.outcome = .none
        let wasUnproved = progress.failure?.kind == .notProved
        if progress.direction == .forward { (progress.failure, progress.failedMember) = (nil, nil) }
        func retried(_ step: RotationProgress.Step) -> RotationProgress.Step {
            step == .failed ? .begun : step
        }
        for stage in RotationPlan.Stage.allCases { progress[stage] = retried(progress[stage]) }
        for place in progress.members.indices {
            var member = progress.members[place]
            member.push = retried(member.push)
            member.build.check = retried(member.build.check)
            let didNotHold =
                [.holdsOld, .holdsOther, .isAbsent].contains(member.build.evidence)
            if progress.direction == .forward, member.build.live == .failed || didNotHold {
                var again = RotationProgress.Build()
                again.attempt = member.build.attempt &+ 1
                member.build = again
            }
            if wasUnproved, member.build.evidence == .unreadable {
                member.build.evidence = .unknown
            }
            if progress.direction == .backward, !member.isKeptOnVercel {
                if member.trouble != nil || member.previous == .failed {
                    // Check again: the cause may have been fixed meanwhile.
                    member.reach = .unknown
                    var again = RotationProgress.Build()
                    again.attempt = member.revertBuild.attempt &+ 1
                    member.revertBuild = again
                    member.previous = .pending
                    if member.restoreOriginal == .failed { member.restoreOriginal = .begun }
                }
                member.trouble = nil
            }
            progress.members[place] = member
        }
    }

    /// Whether the old value can still be restored, which is not the case if it may have been
    /// revoked and there is no apply command.
    package var canAbort: Bool {
        progress.direction == .backward || progress[.revoke] == .pending
            || plan.commands.apply != nil
    }

    /// Starts reverting.
    package mutating func abort() {
        guard progress.direction == .forward else { return resume() }
        progress.outcome = .none
        note(.init(.aborted, "the rotation was aborted"), in: nil)
        progress.direction = .backward
    }
}

extension RotationPlan {
    /// Returns whether a project's deployment is for production.
    func isProduction(_ member: Int) -> Bool { members[member].target == "production" }
}
