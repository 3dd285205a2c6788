import EnvOperations
import Testing
import Vault

/// Every state that a rotation can be in, and every outcome of its next action.
@Suite("The rotation state machine")
struct RotationMachineTests {
    private static func plan(
        members: Int = 2, apply: Bool = true, redeploys: Bool = true, promotes: Bool = false,
        check: Bool = true,
        revoke: Bool = true, policy: RotationPlan.FailurePolicy = .rollback,
        target: String? = "production"
    ) -> RotationPlan {
        var options = RotationPlan.Options()
        if apply { options.commands.apply = "apply" }
        if check { options.commands.check = "check" }
        if revoke { options.commands.revoke = "revoke" }
        (options.redeploys, options.promotes) = (redeploys, promotes)
        options.failurePolicy = policy
        return RotationPlan(
            key: "KEY", options: options,
            members: (0..<members).map { number in
                RotationPlan.Member(
                    project: .random(), name: "p\(number)", vercelProject: "prj_\(number)",
                    vercelName: "p\(number)", target: target, source: "dpl_\(number)",
                    newestAt: 1,
                    records: [.init(variable: .random(), oldVersion: 1, newVersion: 2)])
            })
    }

    private static let plans: [RotationPlan] = [
        plan(check: false, revoke: false), plan(members: 1), plan(members: 1, policy: .keep),
        plan(members: 1, apply: false), plan(members: 1, check: false),
        plan(members: 1, check: false, revoke: false),
        plan(members: 2, apply: false, redeploys: false, check: false, revoke: false),
        plan(members: 1, target: "preview"), plan(apply: false, check: false, policy: .keep),
        plan(members: 1, promotes: true, check: false, revoke: false),
    ]

    /// Every possible result of an action.
    private static func results(_ action: RotationAction) -> [RotationResult] {
        let failed = RotationResult.failed(.init(.unavailable, "failed"))
        let there = RotationProgress.Failure(.changedThere, "changed there")
        switch action {
        case .push: return [.done, failed, .notBegun(there)]
        case .stage, .promote, .check, .restorePrevious: return [.done, failed]
        case .restoreOriginal(let member): return [.done, failed, .keptOnVercel(member, there)]
        case .deploy(let member, let side):
            return [.created(member, side, id: "dpl_new"), failed]
        case .follow(let members, let side):
            return members.map { .live($0, side) }
                + members.map { .overtaken($0, side, by: "dpl_theirs") }
                + members.map { .staged($0, side) }
                + members.map { .ended($0, side, .init(.build, "ended")) }
        case .read(let member, let side):
            return [.holdsNew, .holdsOld, .holdsOther, .unreadable].map {
                .evidence(member, side, $0)
            } + [failed]
        case .survey(let member):
            return [
                .surveyed(member, isLive: true, id: "dpl_new"),
                .surveyed(member, isLive: false, id: nil), failed,
            ]
        case .end: return []
        }
    }

    /// Visits each reachable state, before its action begins.
    private static func explore(
        from starts: [RotationMachine],
        _ visit: (RotationMachine, RotationAction) throws -> Void
    ) throws {
        var seen: [RotationMachine.State: Bool] = [:]
        var open = starts
        while let machine = open.popLast() {
            guard seen.updateValue(true, forKey: machine.key) == nil else { continue }
            let action = machine.next
            try visit(machine, action)
            for result in results(action) {
                var next = machine
                next.begin(action, at: 7)
                next.take(result, of: action)
                // Something has changed, or it would never end.
                if next.progress == machine.progress { Issue.record("\(action) \(result)") }
                open.append(next)
            }
            // Several at once: one of them fails, the ones before it are done, and the rest is not
            // started, or is done anyway.
            let group = machine.group
            #expect(group[0] == action && Set(group).count == group.count)
            guard group.count > 1 else { continue }
            #expect(Set(group.map(\.member)).count == group.count)
            for place in group.indices {
                for (result, isEnded) in results(group[place]).flatMap({
                    [($0, true), ($0, false)]
                }) {
                    var next = machine
                    for one in group { next.begin(one, at: 7) }
                    for (number, one) in group.enumerated() {
                        if number == place {
                            next.take(result, of: one)
                        } else if number < place || !isEnded {
                            next.take(results(one)[0], of: one)
                        } else {
                            next.withdraw(one, asIn: machine.progress)
                        }
                    }
                    open.append(next)
                }
            }
        }
    }

    private static func begun(_ plan: RotationPlan) -> RotationMachine {
        RotationMachine(plan: plan, progress: RotationProgress(memberCount: plan.members.count))
    }

    @Test(arguments: plans.indices)
    func `each path ends, and each end is what it reports`(number: Int) throws {
        let plan = Self.plans[number]
        var ends: Set<RotationProgress.Outcome> = []
        var states = 0
        try Self.explore(from: [Self.begun(plan)]) { machine, action in
            states += 1
            let progress = machine.progress
            let members = progress.members
            switch action {
            case .stage(.apply), .push, .stage(.revoke), .deploy(_, .new), .promote(_, .new),
                .read(_, .new),
                .check(_, .new):
                #expect(progress.direction == .forward)
            case .survey, .stage(.undo), .restoreOriginal, .restorePrevious, .deploy(_, .old),
                .promote(_, .old),
                .read(_, .old), .check(_, .old):
                #expect(progress.direction == .backward)
                #expect(plan.failurePolicy == .rollback)
            case .follow, .end: break
            }
            switch action {
            case .push: #expect(plan.commands.apply == nil || progress[.apply] == .done)
            case .deploy(_, .new): #expect(members.allSatisfy { $0.push == .done })
            case .stage(.revoke):
                for member in members {
                    #expect(member.push == .done && member.build.live == .done)
                    let isProved =
                        member.build.check == .done || member.build.evidence == .holdsNew
                    #expect(isProved)
                    #expect(plan.commands.check == nil || member.build.check == .done)
                }
            case .stage(.undo): #expect(progress[.apply] != .pending)
            case .restoreOriginal(let member): #expect(members[member].push != .pending)
            case .deploy(let member, .old):
                #expect(members[member].reach == .live && members[member].restoreOriginal == .done)
            case .end(.done):
                for member in members {
                    #expect(member.push == .done)
                    #expect(
                        ![.holdsOld, .holdsOther].contains(member.build.evidence))
                    #expect(!plan.redeploys || member.build.live == .done)
                }
                #expect(plan.commands.revoke == nil || progress[.revoke] == .done)
            case .end(.rolledBack):
                #expect(plan.failurePolicy == .rollback || progress.isUntouched)
                #expect(plan.commands.apply == nil || progress[.undo] == .done)
                for member in members {
                    #expect(member.push == .pending || member.restoreOriginal == .done)
                    #expect(
                        member.reach != .live || member.previous == .done
                            || member.revertBuild.live == .done)
                    #expect(!member.isStuck)
                    #expect(!member.isKeptOnVercel || member.reach != .live)
                }
                #expect(progress.failure != nil)
            case .end(.needsAttention): #expect(progress.failure != nil)
            default: break
            }
            if case .end(let outcome) = action { ends.insert(outcome) }
        }
        let all: Set<RotationProgress.Outcome> = [.done, .rolledBack, .needsAttention]
        // Nothing is stored about what was not started.
        let mayBeUnused = plan.commands.apply == nil
        #expect(
            ends == (plan.failurePolicy == .keep && !mayBeUnused ? [.done, .needsAttention] : all))
        #expect(states > 5)
    }

    @Test(arguments: plans.indices)
    func `killed during an action, it repeats that action`(number: Int) throws {
        try Self.explore(from: [Self.begun(Self.plans[number])]) { machine, action in
            var killed = machine
            killed.begin(action, at: 7)
            let resumed = RotationMachine(plan: machine.plan, progress: killed.progress)
            #expect(resumed.next == action)
            if case .end = action { return }
            // What failed beside it is tried once more, and may come first.
            guard killed.progress.members.allSatisfy({ $0.trouble == nil }) else { return }
            var again = resumed
            again.resume()
            #expect(again.next == action)
        }
    }

    /// The end of a machine for which everything succeeds from now on.
    private static func end(of machine: RotationMachine) -> RotationProgress.Outcome {
        var machine = machine
        for _ in 0..<200 {
            let action = machine.next
            if case .end(let outcome) = action { return outcome }
            machine.begin(action, at: 7)
            let result: RotationResult =
                switch action {
                case .read(let member, let side):
                    .evidence(member, side, side == .old ? .holdsOld : .holdsNew)
                default: results(action)[0]
                }
            machine.take(result, of: action)
        }
        return .none
    }

    @Test(arguments: plans.indices)
    func `resumed without further failures, it ends in its direction`(number: Int) throws {
        try Self.explore(from: [Self.begun(Self.plans[number])]) { machine, action in
            var killed = machine
            killed.begin(action, at: 7)
            killed.resume()
            let isBack = killed.progress.direction == .backward
            if case .end(.done) = action { return }
            #expect(Self.end(of: killed) == (isBack ? .rolledBack : .done), "\(action)")
        }
    }

    @Test(arguments: plans.indices)
    func `aborted anywhere, the old value is restored`(number: Int) throws {
        try Self.explore(from: [Self.begun(Self.plans[number])]) { machine, action in
            if case .end(.done) = action { return }
            var killed = machine
            killed.begin(action, at: 7)
            guard killed.canAbort else {
                #expect(killed.progress[.revoke] != .pending && machine.plan.commands.apply == nil)
                return
            }
            killed.abort()
            #expect(Self.end(of: killed) == .rolledBack, "\(action)")
            // A revoked old value is made valid again before anything gets it.
            if killed.progress[.revoke] != .pending, killed.progress[.undo] != .done {
                #expect(killed.next == .stage(.undo))
            }
        }
    }

    @Test func `a redeploy with the old variables is repeated once in another way`() {
        var machine = Self.begun(Self.plan(members: 1, apply: false, check: false, revoke: false))
        var ways: [RotationProgress.Way] = []
        for _ in 0..<20 {
            let action = machine.next
            if case .survey = action { break }
            machine.begin(action, at: 7)
            if case .deploy(0, .new) = action { ways.append(machine.progress.members[0].build.way) }
            switch action {
            case .read(let member, let side):
                machine.take(.evidence(member, side, .holdsOld), of: action)
            default: machine.take(Self.results(action)[0], of: action)
            }
        }
        #expect(ways == [.redeploy, .promotion])
        #expect(machine.progress.failure?.kind == .holdsOld)
        #expect(machine.progress.direction == .backward)
    }

    @Test func `no more builds run than allowed, and one that is live makes room`() {
        let count = RotationMachine.buildLimit + 3
        var machine = Self.begun(
            Self.plan(members: count, apply: false, check: false, revoke: false))
        var (underWay, most) = (0, 0)
        while true {
            let action = machine.next
            if case .end(let outcome) = action {
                #expect(outcome == .done)
                break
            }
            machine.begin(action, at: 7)
            if case .deploy = action { underWay += 1 }
            most = max(most, underWay)
            if case .follow = action { underWay -= 1 }
            machine.take(Self.results(action)[0], of: action)
        }
        #expect(most == RotationMachine.buildLimit)
    }
}

extension RotationMachine {
    /// Distinguishes states: all of the progress but texts, which decide nothing.
    fileprivate typealias State = [UInt8]
    fileprivate var key: State {
        var key = [
            progress.direction.rawValue, progress.outcome.rawValue,
            progress.failure?.kind.rawValue ?? 0, UInt8(progress.failedMember ?? 255),
        ]
        key += RotationPlan.Stage.allCases.map { progress[$0].rawValue }
        for member in progress.members {
            key += [
                member.push.rawValue, member.reach.rawValue, member.restoreOriginal.rawValue,
                member.previous.rawValue, member.trouble?.kind.rawValue ?? 0,
            ]
            for build in [member.build, member.revertBuild] {
                key += [
                    build.create.rawValue, build.way.rawValue, build.attempt,
                    build.id.isEmpty ? 0 : 1, build.live.rawValue, build.evidence.rawValue,
                    build.check.rawValue,
                ]
            }
        }
        return key
    }
}
