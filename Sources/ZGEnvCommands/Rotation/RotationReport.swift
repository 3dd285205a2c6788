internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
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
        case changedElsewhere = "changed_elsewhere"
        case rolledBack = "rolled_back"
        case needsAttention = "needs_attention"
    }

    func state(of place: Int) -> State {
        let member = progress.members[place]
        if member.isLeftThere { return .changedElsewhere }
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
        if member.build.live == .begun { return .built }
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
        if rotation.isClosed { return "closed" }
        if rotation.isUnused { return "unchanged" }
        switch progress.outcome {
        case .none: return stop == nil ? nil : "needs_attention"
        case .done: return "done"
        case .rolledBack: return "rolled_back"
        case .needsAttention: return "needs_attention"
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
                    orNull: progress.failure?.reason ?? stop?.message)),
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
                orNull: progress.members[place].trouble?.reason),
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
                line += "  \(DisplayText.safe(sentence: trouble.reason))"
            }
            lines.append(line)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private var headline: String {
        let began = TimeText.utc(Int64(clamping: rotation.createdAt))
        if rotation.isClosed { return "closed as it stood, begun \(began)" }
        if rotation.isUnused { return "not rotated, nothing was changed, begun \(began)" }
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
        case .changedElsewhere: "has a value that was set on Vercel"
        case .rolledBack: "has the old value"
        case .needsAttention: "needs attention"
        }
    }

    // MARK: Failure

    /// What the exit code and the message are; nil where it was done.
    ///
    /// - Parameter wasAborted: The user asked for the old value.
    func failure(wasAborted: Bool) -> CommandError? {
        if let stop {
            return CommandError(
                .needsAttention,
                "The rotation of \(plan.key) stopped, and stays open. \(CommandError.ending(stop.message)) \(standing)",
                hint: "Mend the cause, then go on: \(ways)")
        }
        switch progress.outcome {
        case .done, .none: return nil
        case .rolledBack: return rolledBack(wasAborted)
        case .needsAttention where isHeldAtTheEnd:
            // Where a project has the new value its push has nothing to do.
            let pushes = plan.members.map {
                "zg-env push \(word: plan.key) -p \(word: $0.name) --force"
            }.joined(separator: ", then: ")
            return CommandError(
                .needsAttention, "The rotation of \(plan.key) stopped: \(reason). \(standing)",
                hint:
                    "Put the new value back with: \(pushes), then: zg-env rotate \(word: plan.key) --resume. Or leave everything as it stands with: zg-env rotate \(word: plan.key) --close"
            )
        case .needsAttention:
            return CommandError(
                .needsAttention, "The rotation of \(plan.key) stopped: \(reason). \(standing)",
                hint:
                    "\(progress.failure?.kind == .staged ? "The project keeps production deployments staged; promote it yourself, or go back and rotate with --promote. " : "")Go on with: \(ways). Where neither can succeed, leave it as it stands with: zg-env rotate \(word: plan.key) --close"
            )
        }
    }

    /// Tells whether everything is live and proved, and something found on Vercel kept the rotation from its
    /// end, or the old value from being revoked.
    private var isHeldAtTheEnd: Bool {
        progress.direction == .forward && progress.revoke == .pending
            && progress.failure?.kind == .changedThere
            && progress.members.allSatisfy { $0.build.live == .done }
    }

    private func rolledBack(_ wasAborted: Bool) -> CommandError? {
        let names = { (places: [Int]) in
            places.map { plan.members[$0].name }.joined(separator: ", ")
        }
        if rotation.isUnused {
            let name = plan.members[progress.failedMember ?? 0].name
            let isHere = progress.failure?.kind == .changedHere
            return CommandError(
                .conflict,
                "\(plan.key) was not rotated: \(reason). Nothing was sent, and nothing was changed.",
                hint: isHere
                    ? "Look at it with: zg-env history \(word: plan.key) -p \(word: name), then rotate again."
                    : "Take what Vercel has with: zg-env pull \(word: plan.key) -p \(word: name), then rotate again."
            )
        }
        let left = progress.members.indices.filter { progress.members[$0].isLeftThere }
        if left.isEmpty {
            if wasAborted { return nil }
            let unsent = progress.failure.map { failure in
                [.changedThere, .changedHere].contains(failure.kind)
                    && progress.failedMember.map { progress.members[$0].push == .pending } ?? false
            }
            let ending =
                unsent ?? false
                ? "Nothing was sent to \(names([progress.failedMember ?? 0])), and what was done elsewhere is undone."
                : "The old value is back."
            return CommandError(
                .rolledBack, "\(plan.key) was not rotated: \(reason). \(ending)",
                hint: "The new one stays in the history. \(remedy)")
        }
        let reasons = Set(left.compactMap { progress.members[$0].trouble?.reason }).sorted()
        let rest =
            left.count < progress.members.count
            ? " The old value is back in the other projects." : ""
        let name = plan.members[left[0]].name
        return CommandError(
            .rolledBack,
            "\(plan.key) was not rotated: \(reason). \(reasons.joined(separator: "; ")): that stays on Vercel in \(names(left)). Check what production was built with, and redeploy if it lacks the value.\(rest)",
            hint:
                "Take what Vercel has with: zg-env pull \(word: plan.key) -p \(word: name) --force, or bring the old value there with: zg-env push \(word: plan.key) -p \(word: name) --force"
        )
    }

    /// What to do before the next attempt.
    private var remedy: String {
        progress.failure?.kind == .staged
            ? "The project keeps production deployments staged: rotate again with --redeploy --promote, which promotes what it built."
            : "Mend the cause, then rotate again."
    }

    /// The ways out of it.
    private var ways: String {
        return "zg-env rotate \(word: plan.key) --resume"
            + (canAbort ? ", or go back with: zg-env rotate \(word: plan.key) --abort" : "")
    }

    private var canAbort: Bool {
        RotationMachine(plan: plan, progress: progress).canAbort
    }

    private var reason: String {
        guard let failure = progress.failure else { return "somebody has to look" }
        let place = progress.failedMember.map { " in \(plan.members[$0].name)" } ?? ""
        return failure.reason + place
    }

    /// What stands where.
    private var standing: String {
        var parts = plan.members.indices.map { place in
            let name = plan.members[place].name
            let member = progress.members[place]
            if progress.direction == .forward {
                if member.build.live == .done { return "\(name) is live with the new value" }
                return member.push == .done
                    ? "\(name) has the new value, not live"
                    : "\(name) is as it was, or being pushed"
            }
            let trouble = member.trouble.map { " (\($0.reason))" } ?? ""
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
        guard member.putBack == .done else {
            return member.reach == .live
                ? "still serves the new value" : "may still have the new value"
        }
        let isBack =
            member.reach != .live || member.previous == .done || member.backBuild.live == .done
        return isBack ? "has the old value" : "has the old value, and the new one serves"
    }
}
