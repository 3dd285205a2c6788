internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// Makes a deployment live without a build, by a promotion or a rollback, and waits until it ends.
struct ProductionSwitch {
    let named: NamedDeployment
    let kind: PromotionKind
    let workspace: Workspace
    /// The reason of a rollback, shown on Vercel.
    var reason: String?

    /// What a rollback means for later deployments.
    static let rolledBack =
        "Production is rolled back: new production deployments do not go live until you make one live with: zg-env promote ID"

    private var id: String { named.deployment.id }
    private var client: VercelClient { named.client }
    private var verb: String { kind == .rollback ? "roll back" : "promote" }

    private var noun: String { kind == .rollback ? "rollback" : "promotion" }
    private var motion: String { kind == .rollback ? "rollback to" : "promotion of" }

    /// Returns the progress note for a status of the request, in Vercel's words.
    private func progress(_ status: String) -> String {
        if status == "succeeded" { return kind == .rollback ? "Rolled back." : "Promoted." }
        return "\(kind == .rollback ? "Rolling back" : "Promoting") (\(status)) …"
    }

    // MARK: Plan

    /// Shows the plan, asks, and moves the domains.
    func run(_ question: String, limit: Duration) throws -> CommandResult {
        let older = try olderVariables()
        return try DeploymentPromote.confirmed(
            workspace, named, plan: plan(older), question: question, method: "domains",
            more: Self.members(older)
        ) {
            warn(older)
            return try apply(limit: limit, older)
        }
    }

    /// Returns the lines of the plan.
    private func plan(_ older: OlderVariables) -> [String] {
        let project = named.project
        let current = project.production?.id
        var lines = [
            kind == .rollback
                ? "roll \(project.name) back\(current.map { " from \($0)" } ?? "") to \(id) by moving the domains, without a build"
                : "promote \(id) of \(project.name)\(current.map { " in place of \($0)" } ?? "") by moving the domains, without a build"
        ]
        let commit = DeploymentListing.firstLine(named.deployment.commitMessage ?? "")
        if let age = DeploymentListing.age(of: named.deployment, now: workspace.context.now()) {
            lines.append("built \(age)" + (commit.isEmpty ? "" : ": \(commit)"))
        }
        return lines + Self.sentences(older)
    }

    private static func sentences(_ older: OlderVariables) -> [String] {
        PendingChanges.lines([
            ("different values for", older.changed), ("built without", older.missing),
            ("may still have variables that have since been removed", older.removed),
        ])
    }

    /// Finds the variables with older values, from Vercel's list, or from the vault if that cannot be
    /// read.
    private func olderVariables() throws -> OlderVariables {
        let list = try? client.environmentVariables(ofProject: named.project.id)
        var local: [Variable] = []
        if let project = named.local, let index = try workspace.session.indexWithoutPrompt() {
            local = index.variables.filter { $0.project == project.id }
        }
        if let list {
            HiddenProduction.warn(
                ListedRecords(list, environments: .init([])), of: named.project.name,
                workspace.context)
        } else {
            workspace.context.warn(
                "not-compared",
                named.local == nil
                    ? "Cannot list Vercel's variables, so the plan does not show which values differ."
                    : "Cannot list Vercel's variables, so only the differences that the vault knows about are shown."
            )
        }
        return OlderVariables(in: named.deployment, platform: list, local: local)
    }

    /// Warns about older values.
    private func warn(_ older: OlderVariables) {
        guard !older.isEmpty else { return }
        let lines = Self.sentences(older).joined(separator: "; ")
        workspace.context.warn(
            "older-values",
            "\(id) keeps the variables from its build (\(lines)). To use the current variables, redeploy: zg-env redeploy \(word: id)"
        )
    }

    // MARK: Request

    /// Requests the promotion or rollback, and waits until it ends.
    ///
    /// - Throws: ``ExitCode/conflict`` if the live deployment has changed since the plan was made.
    private func apply(limit: Duration, _ older: OlderVariables) throws -> CommandResult {
        let previous = named.project.production?.id
        let now = try client.project(named.project.id).production?.id
        guard now == previous else {
            func word(_ id: String?) -> String { id ?? "nothing" }
            throw CommandError(
                .conflict,
                "Production has changed since the plan was made: \(word(now)) is live now instead of \(word(previous)).",
                hint: "Nothing was moved. Run the command again to see the new plan.")
        }
        let before = named.project.lastAliasRequest
        var after: (deployment: Deployment, project: Project)?
        defer {
            if let after { named.keep(after.deployment, beside: after.project, workspace) }
        }
        return try named.change(workspace, failed: { $0.failure != nil }) {
            let outcome = try request(before, limit)
            // Without a response, the request is confirmed once Vercel shows it.
            var isKnown = outcome != nil
            setInterruptionMessage(isKnown: isKnown)
            let failure: CommandError?
            var isCurrent: Bool?
            var isAway = false
            do throws(VercelAPIError) {
                let end = try VercelWait(client, limit: limit, workspace).promotion(
                    of: id, project: named.project.id, before: before, outcome: outcome
                ) {
                    if !isKnown {
                        isKnown = true
                        setInterruptionMessage(isKnown: true)
                    }
                    // A closed stderr must not affect the result.
                    workspace.note(progress($0))
                }
                isCurrent = end == .live
                failure = self.failure(end, limit)
            } catch {
                var lost = CommandError(mapping: error)
                lost.message = "\(asked(isKnown: isKnown)). \(lost.message)"
                lost.hint = "Check the deployment with: zg-env deployment show \(word: id)"
                failure = lost
                isAway = error.isTemporary
            }
            // Does not wait again after Vercel has not responded for so long.
            let project = isAway ? nil : named.noteLive(workspace)
            if isCurrent == true, kind == .rollback {
                workspace.note(Self.rolledBack)
            }
            let seen = isAway ? nil : try? client.deployment(id)
            let deployment = seen ?? named.deployment
            if let project { after = (deployment, project) }
            return CommandResult(
                json: .object(
                    DeploymentListing.members(deployment, current: isCurrent) + [
                        .init("previous", .string(orNull: previous)),
                        .init("method", "domains"),
                    ] + Self.members(older)),
                text: DeploymentListing.line(of: deployment), failure: failure)
        }
    }

    /// Returns what is known of the request, without a full stop.
    private func asked(isKnown: Bool) -> String {
        isKnown
            ? "The \(motion) \(id) was requested"
            : "Vercel did not respond, so it is unknown whether the \(motion) \(id) has started"
    }

    private func setInterruptionMessage(isKnown: Bool) {
        workspace.interaction.setInterruptionMessage(
            "Stopped by a signal. \(asked(isKnown: isKnown))\(isKnown ? " and continues on Vercel" : "").",
            hint: "Check the deployment with: zg-env deployment show \(word: id)")
    }

    static let fields =
        "olderVariables?, missingVariables?, removedVariables?: [string] | null (null if unknown)"

    /// The variables with older values, for scripts.
    private static func members(_ older: OlderVariables) -> [JSONValue.Member] {
        [
            .init("olderVariables", older.isKnown ? .strings(older.changed) : .null),
            .init("missingVariables", older.isKnown ? .strings(older.missing) : .null),
            .init("removedVariables", older.isKnown ? .strings(older.removed) : .null),
        ]
    }

    /// Sends the request. Returns nil if the response is lost and the project cannot be read to see
    /// whether it arrived.
    func request(
        _ before: Project.AliasRequest?, _ limit: Duration
    ) throws -> PromotionOutcome? {
        do throws(VercelAPIError) {
            switch kind {
            case .promotion: return try client.promote(id, ofProject: named.project.id)
            case .rollback:
                return try client.rollBack(
                    to: id, ofProject: named.project.id, reason: reason)
            }
        } catch {
            let now = try? client.withoutRetries(within: limit)
                .project(named.project.id, withRollbackInfo: true)
            let asked = now?.lastAliasRequest.flatMap { $0 == before ? nil : $0 }
            switch error.code {
            case .outcomeUnknown:
                guard now != nil else { return nil }
                if asked?.toDeploymentId == id { return .accepted }
                throw notAsked
            case .conflict: throw conflict(error, asked ?? now?.lastAliasRequest)
            case .notPossible, .badRequest:
                throw CommandError(
                    .conflict,
                    "Vercel cannot \(verb) \(kind == .rollback ? "to " : "")\(id) without a build."
                        + error.saying,
                    hint:
                        "Nothing was moved. Redeploy with: zg-env redeploy \(word: id) -t production"
                )
            default: throw error
            }
        }
    }

    private var notAsked: CommandError {
        CommandError(
            .unavailable,
            "Vercel did not respond to the request, and a check found no \(motion) \(id).",
            hint: "Apparently nothing was moved. Run the command again.")
    }

    private func conflict(
        _ error: VercelAPIError, _ running: Project.AliasRequest?
    ) -> CommandError {
        let isRunning =
            running.map { [.pending, .inProgress].contains($0.jobStatus) } ?? false
        guard let running, isRunning else {
            return CommandError(
                .conflict,
                "Vercel refused to \(verb) \(kind == .rollback ? "to " : "")\(id)." + error.saying,
                hint: "Nothing was moved. Check with: zg-env deployment show \(word: id)"
            )
        }
        let word = running.type == "rollback" ? "A rollback" : "A promotion"
        let to = running.toDeploymentId.map { " to \($0)" } ?? ""
        return CommandError(
            .conflict, "\(word)\(to) is already in progress, and Vercel allows only one at a time.",
            hint:
                "Nothing was moved. Wait for the other change to finish, then run the command again."
        )
    }

    func failure(_ end: VercelWait.PromotionEnd, _ limit: Duration) -> CommandError? {
        let still = named.project.production.map { "\($0.id) is still live." }
        switch end {
        case .live: return nil
        case .failed(let domains):
            let names = domains.prefix(10).joined(separator: ", ")
            return CommandError(
                .deploymentFailed,
                "The \(motion) \(id) failed"
                    + (names.isEmpty ? "." : ": these domains did not move: \(names)."),
                hint: [still, "Check these domains on Vercel, then run the command again."]
                    .compactMap { $0 }.joined(separator: " "))
        case .notLive(let reason):
            return CommandError(
                .deploymentFailed, "\(id) is not live: \(CommandError.ending(reason))",
                hint: "Check with: zg-env deployment show \(word: id)")
        case .queued:
            return CommandError(
                .unavailable,
                "The \(motion) \(id) is waiting for the project's rolling release.",
                hint: "Complete or abort the rolling release on Vercel; the \(noun) then proceeds.")
        case .notAsked: return notAsked
        case .overtaken(let other):
            return CommandError(
                .conflict,
                "Someone has since asked Vercel to make \(other) live.",
                hint: "Check that deployment first: zg-env deployment show \(word: other)")
        case .timedOut(let status):
            return CommandError(
                .unavailable,
                "The \(motion) \(id) was still \(status) after \(DurationText.text(limit)).",
                hint:
                    "The \(noun) continues on Vercel. Check the deployment with: zg-env deployment show \(word: id)"
            )
        case .interrupted:
            return CommandError(
                .failed, "Stopped waiting for the \(noun), which continues on Vercel.")
        }
    }
}
