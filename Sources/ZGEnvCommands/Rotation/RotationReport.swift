internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// A rotation as JSON, text and error, with the next steps.
struct RotationReport {
    private let rotation: RotationEntry
    private var plan: RotationPlan { rotation.plan }
    private var progress: RotationProgress { rotation.progress }

    /// The error that stopped the work on an unfinished rotation.
    private let stop: CommandError?

    init(_ rotation: RotationEntry, stoppedBy stop: CommandError? = nil) {
        self.rotation = rotation
        self.stop = stop
    }

    // MARK: States

    /// The state of one project.
    enum State: String, CaseIterable {
        case pending, pushing, pushed, deploying, built, live
        case unchanged
        case changedElsewhere = "changed_elsewhere"
        case rolledBack = "rolled_back"
        case needsAttention = "needs_attention"
    }

    func state(of place: Int) -> State {
        let member = progress.members[place]
        if member.isKeptOnVercel { return .changedElsewhere }
        if member.trouble != nil { return .needsAttention }
        if progress.direction == .backward {
            if member.push == .pending { return .unchanged }
            let isBack =
                member.restoreOriginal == .done
                && (member.reach != .live || member.previous == .done
                    || member.revertBuild.live == .done)
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

    /// Returns the deployment with a project's current value.
    func deployment(of place: Int) -> String? {
        let member = progress.members[place]
        if progress.direction == .backward {
            if member.previous == .done { return plan.members[place].source }
            if !member.revertBuild.id.isEmpty { return member.revertBuild.id }
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

    static let fields = """
        id, key: string; projects: [{ \(projectFields); reason: string | null }]
        outcome: "done" | "unchanged" | "rolled_back" | "needs_attention" | "closed" | null
        open, revoked: boolean; failure: string | null; startedAt: time; endedAt: time | null
        """

    var members: [JSONValue.Member] {
        [
            .init("id", .string(rotation.id.hexadecimal)), .init("key", .string(plan.key)),
            .init("projects", .array(plan.members.indices.map { project($0) })),
            .init("outcome", .string(orNull: outcome)), .init("open", .bool(rotation.isOpen)),
            .init("revoked", .bool(progress[.revoke] == .done)),
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

    static let projectFields = """
        project: string; deployment: string | null (the one with the value in use)
        state: \(oneOf: State.self); proof: \(oneOf: RotationProof.self)
        target: string | null (the target that is deployed)
        """

    private func project(_ place: Int) -> JSONValue {
        let member = plan.members[place]
        return [
            "project": .string(member.name), "deployment": .string(orNull: deployment(of: place)),
            "state": .string(state(of: place).rawValue),
            "proof": .string(rotation.proof(of: place).rawValue),
            "target": .string(orNull: member.target),
            "reason": .string(
                orNull: progress.members[place].trouble?.reason),
        ]
    }

    // MARK: Text

    /// One line for the rotation, and one for each project.
    var text: String {
        let key = DisplayText.safe(plan.key)
        var lines = ["\(key): \(headline)"]
        for place in plan.members.indices {
            let name = DisplayText.safe(plan.members[place].name)
            var line = "  \(name)  \(Self.words(state(of: place)))"
            if let id = deployment(of: place) {
                line += "  \(DisplayText.safe(id))\(isAsBefore(place) ? ", as before" : "")"
            }
            let proof = rotation.proof(of: place)
            if proof != .none { line += "  proof: \(proof.rawValue)" }
            if let trouble = progress.members[place].trouble {
                line += "  \(DisplayText.safe(sentence: trouble.reason))"
            } else if failsWithOld(place) {
                line += "  the check fails with the old value too"
            }
            lines.append(line)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Whether the deployment of a reverted project was live before the rotation.
    private func isAsBefore(_ place: Int) -> Bool {
        progress.direction == .backward && progress.members[place].reach == .notLive
            && deployment(of: place) == plan.members[place].source
    }

    /// Whether the check failed with the restored old value.
    private func failsWithOld(_ place: Int) -> Bool {
        progress.direction == .backward && progress.members[place].revertBuild.check == .failed
    }

    private var headline: String {
        let began = TimeText.utc(Int64(clamping: rotation.createdAt))
        if rotation.isClosed { return "closed without finishing, started \(began)" }
        if rotation.isUnused { return "not rotated, nothing was changed, started \(began)" }
        switch progress.outcome {
        case .done: return "rotated, started \(began)"
        case .rolledBack: return "rolled back, started \(began)"
        case .needsAttention: return "stopped, started \(began)"
        case .none:
            return "\(stop == nil ? "running or interrupted" : "stopped"), started \(began)"
        }
    }

    private static func words(_ state: State) -> String {
        switch state {
        case .pending, .pushing, .pushed, .deploying, .built, .live, .unchanged: state.rawValue
        case .changedElsewhere: "has a value that was set directly on Vercel"
        case .rolledBack: "has the old value"
        case .needsAttention: "needs attention"
        }
    }

    // MARK: Failure

    /// Returns the result of the command.
    ///
    /// - Parameter wasAborted: Whether the user asked for the revert.
    func result(wasAborted: Bool) -> CommandResult {
        CommandResult(
            json: .object(members), text: text, failure: failure(wasAborted: wasAborted))
    }

    /// Returns the error for an unsuccessful rotation, or nil.
    private func failure(wasAborted: Bool) -> CommandError? {
        if let stop {
            return CommandError(
                .needsAttention,
                "The rotation of \(plan.key) stopped and is not finished. \(CommandError.ending(stop.message)) \(standing)",
                hint: "Fix the cause, then resume with: \(ways)")
        }
        switch progress.outcome {
        case .done, .none: return nil
        case .rolledBack: return rolledBack(wasAborted)
        case .needsAttention:
            return CommandError(
                .needsAttention, "The rotation of \(plan.key) stopped: \(reason). \(standing)",
                hint: isStoppedAtTheEnd
                    // The push does nothing where a project has the new value.
                    ? "Push the new value again with: \(pushes), then run: zg-env rotate \(word: plan.key) --resume. Or leave everything as it is with: zg-env rotate \(word: plan.key) --close"
                    : "\(progress.failure?.kind == .staged ? "The project stages production deployments; promote this deployment yourself, or revert and rotate with --promote. " : "")Resume with: \(ways). If both fail, leave everything as it is with: zg-env rotate \(word: plan.key) --close"
            )
        }
    }

    /// The commands that push the new value to each project.
    private var pushes: String {
        plan.members.map { "zg-env push \(word: plan.key) -p \(word: $0.name) --force" }
            .joined(separator: ", then: ")
    }

    /// Whether everything is live and proved, and only a change on Vercel prevented the end of the
    /// rotation or the revocation.
    private var isStoppedAtTheEnd: Bool {
        progress.direction == .forward && progress[.revoke] == .pending
            && progress.failure?.kind == .changedThere
            && progress.members.allSatisfy { $0.build.live == .done }
    }

    private func rolledBack(_ wasAborted: Bool) -> CommandError? {
        if rotation.isUnused {
            let name = plan.members[progress.failedMember ?? 0].name
            let isHere = progress.failure?.kind == .changedHere
            return CommandError(
                .conflict,
                "\(plan.key) was not rotated: \(reason).", effect: .nothing,
                hint: isHere
                    ? "Review the values with: zg-env history \(word: plan.key) -p \(word: name), then rotate again."
                    : "Pull Vercel's value with: zg-env pull \(word: plan.key) -p \(word: name), then rotate again."
            )
        }
        let left = progress.members.indices.filter { progress.members[$0].isKeptOnVercel }
        if left.isEmpty {
            if wasAborted { return nil }
            let unsent = progress.failure.map { failure in
                [.changedThere, .changedHere].contains(failure.kind)
                    && progress.failedMember.map { progress.members[$0].push == .pending } ?? false
            }
            let ending =
                unsent ?? false
                ? "Nothing was sent to \(plan.members[progress.failedMember ?? 0].name), and the changes elsewhere were reverted."
                : "The old value was restored."
            let failing = plan.members.indices.filter(failsWithOld)
            let check =
                failing.isEmpty
                ? "" : " The check fails with the old value too, in \(plan.names(of: failing))."
            return CommandError(
                .rolledBack, "\(plan.key) was not rotated: \(reason). \(ending)\(check)",
                hint: "The new value stays in the history. \(remedy)")
        }
        let reasons = Set(left.compactMap { progress.members[$0].trouble?.reason }).sorted()
        let rest =
            left.count < progress.members.count
            ? " The old value was restored in the other projects." : ""
        let name = plan.members[left[0]].name
        return CommandError(
            .rolledBack,
            "\(plan.key) was not rotated: \(reason). \(reasons.joined(separator: "; ")); in \(plan.names(of: left)), the value set directly on Vercel was left in place. Check which value production was built with, and redeploy if it is a different one.\(rest)",
            hint:
                "Pull Vercel's value with: zg-env pull \(word: plan.key) -p \(word: name) --force, or push the old value with: zg-env push \(word: plan.key) -p \(word: name) --force"
        )
    }

    /// What to do before the next attempt.
    private var remedy: String {
        progress.failure?.kind == .staged
            ? "The project stages production deployments: rotate again with --redeploy --promote."
            : "Fix the cause, then rotate again."
    }

    /// The commands that resume or revert the rotation.
    private var ways: String {
        let canAbort = RotationMachine(plan: plan, progress: progress).canAbort
        return "zg-env rotate \(word: plan.key) --resume"
            + (canAbort ? ", or revert with: zg-env rotate \(word: plan.key) --abort" : "")
    }

    private var reason: String {
        guard let failure = progress.failure else { return "it needs attention" }
        let place = progress.failedMember.map { " in \(plan.members[$0].name)" } ?? ""
        return failure.reason + place
    }

    /// Each project's state, as a sentence.
    private var standing: String {
        var parts = plan.members.indices.map { place in
            let name = plan.members[place].name
            let member = progress.members[place]
            if progress.direction == .forward {
                if member.build.live == .done { return "\(name) is live with the new value" }
                return member.push == .done
                    ? "\(name) has the new value, but is not live"
                    : "\(name) is unchanged or partly pushed"
            }
            // The message has the reason of the rotation already.
            let trouble =
                member.trouble?.reason == progress.failure?.reason
                ? "" : member.trouble.map { " (\($0.reason))" } ?? ""
            return "\(name) \(revertState(of: member))\(trouble)"
        }
        if progress.direction == .forward, plan.commands.apply != nil, progress[.apply] != .pending
        {
            parts.append("--apply was run with the new value")
        }
        if progress[.undo] == .failed { parts.append("--apply failed with the old value") }
        switch progress[.revoke] {
        case .begun: parts.append("--revoke was started and may have taken effect")
        case .failed: parts.append("the old value may still be valid")
        case .pending, .done: break
        }
        return parts.joined(separator: "; ") + "."
    }

    /// Returns the state of a project during or after a revert.
    private func revertState(of member: RotationProgress.Member) -> String {
        if member.push == .pending { return "is unchanged" }
        guard member.restoreOriginal == .done else {
            return member.reach == .live
                ? "is still live with the new value" : "may still have the new value"
        }
        let isBack =
            member.reach != .live || member.previous == .done || member.revertBuild.live == .done
        guard isBack else { return "has the old value, but the new value is still live" }
        return member.revertBuild.check == .failed
            ? "has the old value, but the check fails with it too" : "has the old value"
    }
}
