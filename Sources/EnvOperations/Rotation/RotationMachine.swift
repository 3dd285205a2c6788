package import Vault

/// Decides what a rotation does next, from its plan and from how far it is. Pure.
///
/// Forward: the new value is taught to what accepts it, brought to every project, deployed in every
/// project, proved there, and only then the old one is revoked. Backward: what was done is undone, in
/// the order that leaves production with a value that works for as long as possible.
package struct RotationMachine: Equatable, Sendable {
    /// What is to be done.
    package let plan: RotationPlan
    /// How far it is.
    package private(set) var progress: RotationProgress

    /// The most deployments that are built at once.
    package static let buildLimit = 32

    /// Goes on where `progress` says.
    package init(plan: RotationPlan, progress: RotationProgress) {
        self.plan = plan
        self.progress = progress
    }

    // MARK: What comes next

    /// The next action; the same one until its result is taken.
    package var next: RotationAction { group[0] }

    /// The next actions, at least one. Several are of one kind, in different projects, and may be done
    /// side by side: all are begun before the first is done.
    package var group: [RotationAction] {
        if progress.outcome != .none { return [.end(progress.outcome)] }
        return progress.direction == .forward ? nextForward : nextBackward
    }

    private var nextForward: [RotationAction] {
        if plan.commands.apply != nil && progress.apply != .done { return [.apply] }
        let unpushed = members { $0.push != .done }
        if !unpushed.isEmpty { return unpushed.map { .push($0) } }
        let deployed = deployedMembers
        let staged = staged(deployed, .new, \.build)
        if !staged.isEmpty { return staged }
        let building = building(deployed, .new, \.build)
        if !building.isEmpty { return building }
        let checking = checking(deployed, .new, \.build)
        if !checking.isEmpty { return checking }
        let waited = outstanding(deployed, \.build)
        if !waited.isEmpty { return [.follow(waited, .new)] }
        if plan.commands.revoke != nil && progress.revoke != .done { return [.revoke] }
        return [.end(.done)]
    }

    private var nextBackward: [RotationAction] {
        // With the old value revoked nothing may depend on it before it is accepted again.
        if progress.revoke != .pending, mustUndo { return [.undo] }
        // Somebody else's deployment may have taken the new value along too.
        let unasked = progress.members.indices.filter {
            progress.members[$0].push != .pending && plan.members[$0].target != nil
                && progress.members[$0].reach == .unknown
        }
        if !unasked.isEmpty { return unasked.map { .survey($0) } }
        let live = members { $0.reach == .live }
        // What serves has the old value: it is to work again at once.
        if live.isEmpty, mustUndo { return [.undo] }
        let there = members {
            $0.push != .pending && $0.putBack != .done && $0.trouble == nil
        }
        if !there.isEmpty { return there.map { .putBack($0) } }
        let wanted = live.filter { progress.members[$0].trouble == nil }
        let rebuilt = wanted.filter { progress.members[$0].previous == .pending }
        let staged = staged(rebuilt, .old, \.backBuild)
        if !staged.isEmpty { return staged }
        let building = building(rebuilt, .old, \.backBuild)
        if !building.isEmpty { return building }
        let restored = wanted.filter { progress.members[$0].previous == .begun }
        if !restored.isEmpty { return restored.map { .restorePrevious($0) } }
        let waited = outstanding(rebuilt, \.backBuild)
        if !waited.isEmpty { return [.follow(waited, .old)] }
        // The new value stays accepted where it still serves.
        let isStuck = live.contains { progress.members[$0].isStuck }
        if mustUndo { return [isStuck ? .end(.needsAttention) : .undo] }
        let checking = checking(wanted, .old, \.backBuild)
        if !checking.isEmpty { return checking }
        let isBack = !progress.members.contains { $0.isStuck }
        return [.end(isBack ? .rolledBack : .needsAttention)]
    }

    private func members(_ isMeant: (RotationProgress.Member) -> Bool) -> [Int] {
        progress.members.indices.filter { isMeant(progress.members[$0]) }
    }

    private var mustUndo: Bool {
        plan.commands.apply != nil && progress.apply != .pending && progress.undo != .done
    }

    /// Projects in which something is deployed.
    private var deployedMembers: [Int] {
        plan.redeploys ? plan.members.indices.filter { plan.members[$0].target != nil } : []
    }

    private func outstanding(
        _ members: [Int], _ build: KeyPath<RotationProgress.Member, RotationProgress.Build>
    ) -> [Int] {
        members.filter {
            let build = progress.members[$0][keyPath: build]
            return build.create == .done && ![.done, .begun].contains(build.live)
        }
    }

    /// Promotions of what is built and staged.
    private func staged(
        _ members: [Int], _ side: RotationAction.Side,
        _ build: KeyPath<RotationProgress.Member, RotationProgress.Build>
    ) -> [RotationAction] {
        members.filter { progress.members[$0][keyPath: build].live == .begun }
            .map { .promote($0, side) }
    }

    private func building(
        _ members: [Int], _ side: RotationAction.Side,
        _ build: KeyPath<RotationProgress.Member, RotationProgress.Build>
    ) -> [RotationAction] {
        let room = Self.buildLimit - outstanding(members, build).count
        let unmade = members.filter { progress.members[$0][keyPath: build].create != .done }
        if room > 0, !unmade.isEmpty { return unmade.prefix(room).map { .deploy($0, side) } }
        return members.filter {
            let build = progress.members[$0][keyPath: build]
            return build.live == .done && build.evidence == .unknown
        }.map { .read($0, side) }
    }

    private func checking(
        _ members: [Int], _ side: RotationAction.Side,
        _ build: KeyPath<RotationProgress.Member, RotationProgress.Build>
    ) -> [RotationAction] {
        guard plan.commands.hasCheck else { return [] }
        return members.filter {
            let member = progress.members[$0]
            let build = member[keyPath: build]
            return (build.live == .done || side == .old && member.previous == .done)
                && build.check != .done
        }.map { .check($0, side) }
    }

    // MARK: What was begun

    /// Notes that an action is about to be done. Actions that only look change nothing.
    package mutating func begin(_ action: RotationAction, at time: UInt64) {
        switch action {
        case .apply: progress.apply = .begun
        case .push(let member): progress.members[member].push = .begun
        case .deploy(let member, .new): Self.begin(&progress.members[member].build, at: time)
        case .deploy(let member, .old): Self.begin(&progress.members[member].backBuild, at: time)
        case .check(let member, .new): progress.members[member].build.check = .begun
        case .check(let member, .old): progress.members[member].backBuild.check = .begun
        case .revoke: progress.revoke = .begun
        case .undo: progress.undo = .begun
        case .putBack(let member): progress.members[member].putBack = .begun
        case .restorePrevious(let member): progress.members[member].previous = .begun
        case .end(let outcome): progress.outcome = outcome
        case .follow, .promote, .read, .survey: break
        }
    }

    /// Takes back that an action was begun, which was not: what came of another one of its group made it
    /// needless.
    ///
    /// - Parameter before: How far the rotation was before the group was begun.
    package mutating func withdraw(_ action: RotationAction, asIn before: RotationProgress) {
        guard let member = action.member else { return }
        progress.members[member] = before.members[member]
        endUntouched()
    }

    private static func begin(_ build: inout RotationProgress.Build, at time: UInt64) {
        if build.create == .pending { build.begunAt = time }
        build.create = .begun
    }

    // MARK: What came of it

    /// Notes the result of the action that ``next`` named.
    package mutating func take(_ result: RotationResult, of action: RotationAction) {
        switch (action, result) {
        case (.apply, .done): progress.apply = .done
        case (.push(let member), .done): progress.members[member].push = .done
        case (.deploy(let member, .new), .created(let id)):
            progress.members[member].build.id = id
            progress.members[member].build.create = .done
        case (.deploy(let member, .old), .created(let id)):
            progress.members[member].backBuild.id = id
            progress.members[member].backBuild.create = .done
        case (.follow(_, .new), .live(let member)): progress.members[member].build.live = .done
        case (.follow(_, .old), .live(let member)): progress.members[member].backBuild.live = .done
        case (.follow(_, let side), .overtaken(let member, let id)):
            // From here on the rotation is about the one that serves.
            if side == .new {
                progress.members[member].build.id = id
                progress.members[member].build.live = .done
            } else {
                progress.members[member].backBuild.id = id
                progress.members[member].backBuild.live = .done
            }
        case (.follow(_, .new), .staged(let member)):
            progress.members[member].build.live = .begun
        case (.follow(_, .old), .staged(let member)):
            progress.members[member].backBuild.live = .begun
        case (.promote(let member, .new), .done): progress.members[member].build.live = .done
        case (.promote(let member, .old), .done): progress.members[member].backBuild.live = .done
        case (.follow(_, .new), .ended(let member, let failure)):
            progress.members[member].build.live = .failed
            fail(failure, in: member)
        case (.follow(_, .old), .ended(let member, _)): rebuildFailed(member)
        case (.read(let member, .new), .evidence(let evidence)): take(evidence, of: member)
        case (.read(let member, .old), .evidence(let evidence)):
            progress.members[member].backBuild.evidence = evidence
            if [.holdsNew, .holdsOther, .lacksIt].contains(evidence) { rebuildFailed(member) }
        case (.check(let member, .new), .done): progress.members[member].build.check = .done
        case (.check(let member, .old), .done): progress.members[member].backBuild.check = .done
        case (.revoke, .done): progress.revoke = .done
        case (.survey(let member), .surveyed(let isLive, let id)):
            progress.members[member].reach = isLive ? .live : .notLive
            if let id { progress.members[member].build.id = id }
        case (.undo, .done): progress.undo = .done
        case (.putBack(let member), .done): progress.members[member].putBack = .done
        case (.restorePrevious(let member), .done): progress.members[member].previous = .done
        case (.push(let member), .notBegun(let failure)):
            progress.members[member].push = .pending
            fail(failure, in: member)
            endUntouched()
        case (.revoke, .notBegun(let failure)):
            progress.revoke = .pending
            stop(failure, in: nil)
        case (.putBack(let member), .leftThere(let failure)):
            // A build that took somebody's third value along did not take the new one.
            if progress.members[member].build.evidence == .holdsOther {
                progress.members[member].reach = .notLive
            }
            // Where the new value serves, the old one cannot be built without its record.
            let isLive = progress.members[member].reach == .live
            progress.members[member].putBack = isLive ? .failed : .done
            progress.members[member].trouble = failure
        case (_, .failed(let failure)): failed(action, failure)
        default: preconditionFailure("no result of that action")
        }
    }

    private mutating func take(_ evidence: RotationProgress.Evidence, of member: Int) {
        let build = progress.members[member].build
        switch evidence {
        case .holdsOld where build.way == .redeploy && isGoingOn,
            .lacksIt where build.way == .redeploy && isGoingOn:
            // Some redeploys keep the variables of the deployment before: made anew for production,
            // the same source gets those of now.
            var again = RotationProgress.Build()
            again.way = .promotion
            again.attempt = build.attempt &+ 1
            progress.members[member].build = again
        case .holdsOld:
            progress.members[member].build.evidence = evidence
            fail(.init(.holdsOld, "\(build.id) was built with the old value"), in: member)
        case .lacksIt:
            progress.members[member].build.evidence = evidence
            fail(.init(.holdsOld, "\(build.id) was built without the variable"), in: member)
        case .holdsOther:
            progress.members[member].build.evidence = evidence
            fail(.init(.holdsOther, "\(build.id) was built with a third value"), in: member)
        case .unreadable where plan.commands.revoke != nil && !plan.commands.hasCheck:
            progress.members[member].build.evidence = evidence
            fail(
                .init(
                    .notProved,
                    "the platform does not show what \(build.id) was built with, and there is no "
                        + "check"), in: member)
        case .holdsNew, .unreadable, .unknown:
            progress.members[member].build.evidence = evidence
        }
    }

    /// Tells whether nothing in the group of this action has turned it round or stopped it.
    private var isGoingOn: Bool { progress.direction == .forward && progress.outcome == .none }

    private mutating func failed(
        _ action: RotationAction, _ failure: RotationProgress.Failure
    ) {
        switch action {
        case .apply:
            progress.apply = .failed
            fail(failure, in: nil)
        case .push(let member):
            progress.members[member].push = .failed
            fail(failure, in: member)
        case .deploy(let member, .new), .promote(let member, .new):
            progress.members[member].build.live = .failed
            fail(failure, in: member)
        case .read(let member, _) where failure.kind == .unavailable:
            // What is live cannot be known now: neither going on nor going back would be right.
            stop(failure, in: member)
        case .read(let member, .new): fail(failure, in: member)
        case .check(let member, .new):
            progress.members[member].build.check = .failed
            fail(failure, in: member)
        case .revoke:
            // The new value serves everywhere and is proved: nothing is gained by going back.
            progress.revoke = .failed
            stop(failure, in: nil)
        case .survey(let member): stop(failure, in: member)
        case .undo:
            progress.undo = .failed
            stop(failure, in: nil)
        case .putBack(let member):
            progress.members[member].putBack = .failed
            progress.members[member].trouble = failure
        case .deploy(let member, .old), .promote(let member, .old), .read(let member, .old):
            rebuildFailed(member)
        case .check(let member, .old):
            progress.members[member].backBuild.check = .failed
            // One that is known to hold the old value is not the cause.
            if progress.members[member].previous == .pending, plan.isProduction(member),
                progress.members[member].backBuild.evidence != .holdsOld
            {
                progress.members[member].previous = .begun
                progress.members[member].backBuild.check = .pending
            } else {
                progress.members[member].trouble = failure
            }
        case .restorePrevious(let member):
            progress.members[member].previous = .failed
            progress.members[member].trouble = failure
        case .follow(_, .new): stop(failure, in: nil)
        case .follow(_, .old): stop(failure, in: nil)
        case .end: break
        }
    }

    /// A deployment with the old value did not come about: the one of before takes its place.
    private mutating func rebuildFailed(_ member: Int) {
        progress.members[member].backBuild.live = .failed
        if plan.isProduction(member) {
            progress.members[member].previous = .begun
        } else {
            progress.members[member].trouble = .init(
                .build, "the deployment with the old value did not come about")
        }
    }

    /// Stops before the end, since what was pushed may not be there any more.
    package mutating func stopBeforeEnd(_ failure: RotationProgress.Failure) {
        stop(failure, in: nil)
    }

    /// A failure on the way forward, which turns it round or stops it.
    private mutating func fail(_ failure: RotationProgress.Failure, in member: Int?) {
        guard plan.failurePolicy == .rollback else { return stop(failure, in: member) }
        note(failure, in: member)
        progress.direction = .backward
    }

    /// Where nothing was done that anybody could have seen, nothing is left to keep open.
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

    /// Goes on after a stop: what failed is tried once more, in the direction it has.
    package mutating func resume() {
        progress.outcome = .none
        let wasUnproved = progress.failure?.kind == .notProved
        if progress.direction == .forward { (progress.failure, progress.failedMember) = (nil, nil) }
        func retried(_ step: RotationProgress.Step) -> RotationProgress.Step {
            step == .failed ? .begun : step
        }
        progress.apply = retried(progress.apply)
        progress.revoke = retried(progress.revoke)
        progress.undo = retried(progress.undo)
        for place in progress.members.indices {
            var member = progress.members[place]
            member.push = retried(member.push)
            member.build.check = retried(member.build.check)
            let didNotHold =
                [.holdsOld, .holdsOther, .lacksIt].contains(member.build.evidence)
            if progress.direction == .forward, member.build.live == .failed || didNotHold {
                var again = RotationProgress.Build()
                again.attempt = member.build.attempt &+ 1
                member.build = again
            }
            if wasUnproved, member.build.evidence == .unreadable {
                member.build.evidence = .unknown
            }
            if progress.direction == .backward, !member.isLeftThere {
                if member.trouble != nil || member.previous == .failed {
                    // Asked anew: somebody may have mended it meanwhile.
                    member.reach = .unknown
                    var again = RotationProgress.Build()
                    again.attempt = member.backBuild.attempt &+ 1
                    member.backBuild = again
                    member.previous = .pending
                    if member.putBack == .failed { member.putBack = .begun }
                }
                member.trouble = nil
            }
            progress.members[place] = member
        }
    }

    /// Tells whether the old value can still be brought back: not once it may be revoked and nothing
    /// would make it accepted again.
    package var canAbort: Bool {
        progress.direction == .backward || progress.revoke == .pending
            || plan.commands.apply != nil
    }

    /// Turns round.
    package mutating func abort() {
        guard progress.direction == .forward else { return resume() }
        progress.outcome = .none
        note(.init(.aborted, "it was aborted"), in: nil)
        progress.direction = .backward
    }
}

extension RotationPlan {
    /// Tells whether a project's deployment is its production.
    func isProduction(_ member: Int) -> Bool { members[member].target == "production" }
}
