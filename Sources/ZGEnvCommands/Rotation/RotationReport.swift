internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Vault

/// A rotation in the forms of the contract, and what is to be done about it.
struct RotationReport {
    private let rotation: RotationEntry
    private var plan: RotationPlan { rotation.plan }
    private var progress: RotationProgress { rotation.progress }

    /// What ended the work on it before it came to an end of its own.
    private let stop: CommandError?

    init(_ rotation: RotationEntry, stoppedBy stop: CommandError? = nil) {
        self.rotation = rotation
        self.stop = stop
    }

    // MARK: Words

    /// Where a project stands.
    enum State: String {
        case pending, pushing, pushed, deploying, built, live
        case unchanged
        case rolledBack = "rolled_back"
        case needsAttention = "needs_attention"
    }

    func state(of place: Int) -> State {
        let member = progress.members[place]
        if member.trouble != nil { return .needsAttention }
        if progress.direction == .backward {
            if member.push == .pending { return .unchanged }
            let isBack =
                member.putBack == .done
                && (member.reach != .live || member.previous == .done
                    || member.backBuild.live == .done)
            return isBack ? .rolledBack : .needsAttention
        }
        if member.build.live == .done { return .live }
        if member.build.live == .failed { return .needsAttention }
        if member.build.create != .pending { return .deploying }
        switch member.push {
        case .pending: return .pending
        case .begun, .failed: return .pushing
        case .done: return .pushed
        }
    }

    /// What proves the value that a project has now: the strongest there is.
    func proof(of place: Int) -> String {
        let member = progress.members[place]
        let isBack = progress.direction == .backward
        let build = isBack ? member.backBuild : member.build
        if build.evidence == (isBack ? .holdsOld : .holdsNew) { return "deployment" }
        return build.check == .done ? "check" : "none"
    }

    /// The deployment that has the value which a project has now.
    func deployment(of place: Int) -> String? {
        let member = progress.members[place]
        if progress.direction == .backward {
            if member.previous == .done { return plan.members[place].source }
            if !member.backBuild.id.isEmpty { return member.backBuild.id }
            return member.reach == .live ? member.build.id : plan.members[place].source
        }
        return member.build.id.isEmpty ? nil : member.build.id
    }

    private var outcome: String? {
        switch progress.outcome {
        case .none: stop == nil ? nil : "needs_attention"
        case .done: "done"
        case .rolledBack: "rolled_back"
        case .needsAttention: "needs_attention"
        }
    }

    // MARK: JSON

    var members: [JSONValue.Member] {
        [
            .init("id", .string(rotation.id.hexadecimal)), .init("key", .string(plan.key)),
            .init("projects", .array(plan.members.indices.map { project($0) })),
            .init("outcome", .string(orNull: outcome)), .init("open", .bool(rotation.isOpen)),
            .init("revoked", .bool(progress.revoke == .done)),
            .init(
                "failure",
                .string(
                    orNull: progress.failure.map { DisplayText.safe($0.reason) } ?? stop?.message)),
            .init("startedAt", .time(orNull: Int64(clamping: rotation.createdAt))),
            .init(
                "endedAt",
                .time(orNull: rotation.isOpen ? nil : Int64(clamping: rotation.endedAt))),
        ]
    }

    private func project(_ place: Int) -> JSONValue {
        let member = plan.members[place]
        return [
            "project": .string(member.name), "deployment": .string(orNull: deployment(of: place)),
            "state": .string(state(of: place).rawValue), "proof": .string(proof(of: place)),
            "target": .string(orNull: member.target),
            "reason": .string(
                orNull: progress.members[place].trouble.map { DisplayText.safe($0.reason) }),
        ]
    }

    // MARK: Text

    /// The rotation for people, one line for it and one for each project.
    var text: String {
        let key = DisplayText.safe(plan.key)
        var lines = ["\(key): \(headline)"]
        for place in plan.members.indices {
            let name = DisplayText.safe(plan.members[place].name)
            var line = "  \(name)  \(Self.words(state(of: place)))"
            if let id = deployment(of: place) { line += "  \(DisplayText.safe(id))" }
            let proof = proof(of: place)
            if proof != "none" { line += "  proved by its \(proof)" }
            if let trouble = progress.members[place].trouble {
                line += "  \(DisplayText.safe(trouble.reason))"
            }
            lines.append(line)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private var headline: String {
        let began = TimeText.utc(Int64(clamping: rotation.createdAt))
        switch progress.outcome {
        case .done: return "rotated, begun \(began)"
        case .rolledBack: return "rolled back, begun \(began)"
        case .needsAttention: return "stopped, begun \(began)"
        case .none:
            return "\(stop == nil ? "under way or cut short" : "stopped"), begun \(began)"
        }
    }

    private static func words(_ state: State) -> String {
        switch state {
        case .pending: "not begun"
        case .pushing: "being pushed"
        case .pushed: "pushed"
        case .deploying: "being deployed"
        case .built, .live: state.rawValue
        case .unchanged: "not touched"
        case .rolledBack: "has the old value"
        case .needsAttention: "needs attention"
        }
    }

    // MARK: Failure

    /// What the exit code and the message are; nil where it was done.
    ///
    /// - Parameter wasAborted: The user asked for the old value.
    func failure(wasAborted: Bool) -> CommandError? {
        let key = DisplayText.safe(plan.key)
        if let stop {
            return CommandError(
                .needsAttention,
                "The rotation of \(key) stopped, and stays open. \(CommandError.ending(stop.message)) \(standing)",
                hint: "Mend the cause, then go on: \(ways)")
        }
        switch progress.outcome {
        case .done, .none: return nil
        case .rolledBack:
            if wasAborted { return nil }
            return CommandError(
                .rolledBack, "\(key) was not rotated: \(reason). The old value is back.",
                hint: "The new one stays in the history. Mend the cause, then rotate again.")
        case .needsAttention:
            return CommandError(
                .needsAttention, "The rotation of \(key) stopped: \(reason). \(standing)",
                hint:
                    "Go on with: \(ways). Where neither can succeed, leave it as it stands with: zg-env rotate \(word: key) --close"
            )
        }
    }

    /// The ways out of it.
    private var ways: String {
        let key = DisplayText.safe(plan.key)
        return "zg-env rotate \(word: key) --resume"
            + (canAbort ? ", or go back with: zg-env rotate \(word: key) --abort" : "")
    }

    private var canAbort: Bool {
        RotationMachine(plan: plan, progress: progress).canAbort
    }

    private var reason: String {
        guard let failure = progress.failure else { return "somebody has to look" }
        let place = progress.failedMember.map { " in \(plan.members[$0].name)" } ?? ""
        return DisplayText.safe(failure.reason + place)
    }

    /// What stands where.
    private var standing: String {
        var parts = plan.members.indices.map { place in
            let name = DisplayText.safe(plan.members[place].name)
            let member = progress.members[place]
            if progress.direction == .forward {
                if member.build.live == .done { return "\(name) is live with the new value" }
                return member.push == .done
                    ? "\(name) has the new value, not live"
                    : "\(name) is as it was, or being pushed"
            }
            let trouble = member.trouble.map { " (\(DisplayText.safe($0.reason)))" } ?? ""
            return "\(name) \(standingBack(of: member))\(trouble)"
        }
        if progress.direction == .forward, plan.commands.apply != nil, progress.apply != .pending {
            parts.append("--apply was told the new value")
        }
        if progress.undo == .failed { parts.append("--apply did not take the old value") }
        if progress.revoke == .failed { parts.append("the old value may still be valid") }
        return parts.joined(separator: "; ") + "."
    }

    /// What a project has on the way back.
    private func standingBack(of member: RotationProgress.Member) -> String {
        if member.push == .pending { return "was not touched" }
        guard member.putBack == .done else { return "may still have the new value" }
        let isBack =
            member.reach != .live || member.previous == .done || member.backBuild.live == .done
        return isBack ? "has the old value" : "has the old value, and the new one serves"
    }
}
