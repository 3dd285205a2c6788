internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// Makes a deployment the one that serves production without a build: a promotion or a rollback,
/// followed to its end.
struct ProductionMove {
    let named: NamedDeployment
    let kind: PromotionKind
    let workspace: Workspace
    /// Shown on the platform's pages; for rollbacks.
    var reason: String?

    private var id: String { named.deployment.id }
    private var client: VercelClient { named.client }
    private var verb: String { kind == .rollback ? "roll back" : "promote" }

    /// What follows the question, in the words of people.
    private var noun: String { kind == .rollback ? "rollback" : "promotion" }

    // MARK: What is said beforehand

    /// Lines of the plan.
    func plan(_ older: OlderVariables) -> [String] {
        let project = named.project
        let from = project.production.map { ", from \($0.id)" } ?? ""
        var lines = [
            kind == .rollback
                ? "roll \(project.name) back to \(id)\(from): its domains move, nothing is built"
                : "promote \(id) of \(project.name)\(from): its domains move, nothing is built"
        ]
        let commit = DeploymentListing.firstLine(named.deployment.commitMessage ?? "")
        if let created = named.deployment.createdAt {
            let age = TimeText.age(
                of: created.milliseconds, at: Int64(clamping: workspace.context.now()))
            lines.append("built \(age)" + (commit.isEmpty ? "" : ": \(commit)"))
        }
        return lines + Self.sentences(older)
    }

    private static func sentences(_ older: OlderVariables) -> [String] {
        PendingChanges.lines([
            ("it has other values of", older.changed), ("it was built without", older.missing),
            ("it may still have, though removed since", older.removed),
        ])
    }

    /// Which variables go back to older values. The platform's own list tells; where it cannot be
    /// read, what the vault has seen of it.
    func olderVariables() throws -> OlderVariables {
        let platform = try? client.environmentVariables(ofProject: named.project.id)
        var local: [Variable] = []
        if let project = named.local, let index = try workspace.session.indexAtHand() {
            local = index.variables.filter { $0.project == project.id }
        }
        if platform == nil {
            workspace.context.warn(
                "not-compared",
                named.local == nil
                    ? "The platform's variables cannot be listed: which of them go back to older values is not known."
                    : "The platform's variables cannot be listed: what is said of older values is what the vault has seen."
            )
        }
        return OlderVariables(in: named.deployment, platform: platform, local: local)
    }

    /// Warns of older values: people before they are asked, scripts in the result.
    func warn(_ older: OlderVariables) {
        guard !older.isEmpty else { return }
        let lines = Self.sentences(older).joined(separator: "; ")
        workspace.context.warn(
            "older-values",
            "\(id) runs with the variables it was built with: \(lines). To keep today's, build it anew: zg-env redeploy \(word: id)"
        )
    }

    // MARK: Doing it

    /// Asks the platform for it, and follows it.
    ///
    /// - Throws: ``ExitCode/conflict`` where something else serves production by now than when the plan was
    ///   made: the question may have waited long.
    func apply(limit: Duration, _ older: OlderVariables) throws -> CommandResult {
        let previous = named.project.production?.id
        let now = try client.project(named.project.id).production?.id
        guard now == previous else {
            func word(_ id: String?) -> String { id ?? "nothing" }
            throw CommandError(
                .conflict,
                "Production was changed meanwhile: \(word(now)) serves it now, and \(word(previous)) did when the plan was made.",
                hint: "Nothing was moved. Look at the plan again by running the same command.")
        }
        let before = named.project.lastAliasRequest
        return try workspace.changingDeployments(
            ofProject: named.project.id, at: client.origin
        ) {
            let outcome = try request(before, limit)
            // Without an answer it is known once the platform shows it.
            var isKnown = outcome != nil
            setLastWords(isKnown: isKnown)
            let failure: CommandError?
            var isCurrent: Bool?
            var isAway = false
            do throws(VercelAPIError) {
                let end = try PlatformWait(client, limit: limit, workspace).promotion(
                    of: id, project: named.project.id, before: before, outcome: outcome
                ) {
                    if !isKnown {
                        isKnown = true
                        setLastWords(isKnown: true)
                    }
                    // Progress is no result: a stderr that is gone changes nothing.
                    workspace.note("The \(noun) is \($0).")
                }
                isCurrent = end == .live
                failure = self.failure(end, limit)
            } catch {
                var lost = CommandError(mapping: error)
                lost.message = "\(asked(isKnown: isKnown)). \(lost.message)"
                lost.hint = "See what became of it: zg-env deployment show \(word: id)"
                failure = lost
                isAway = error.isPassing
            }
            // Whoever did not answer for so long is not waited for a second and third time.
            if !isAway { named.keepLive(workspace) }
            if isCurrent == true, kind == .rollback {
                workspace.note(
                    "New production deployments do not go live by themselves from now on. Make one live with: zg-env deployment promote ID"
                )
            }
            let seen = isAway ? nil : try? client.deployment(id)
            let deployment = seen ?? named.deployment
            return CommandResult(
                json: .object(
                    DeploymentListing.members(deployment, current: isCurrent) + [
                        .init("previous", .string(orNull: previous)),
                        .init("method", "domains"),
                    ] + Self.members(older)),
                text: DeploymentListing.line(of: deployment), failure: failure)
        }
    }

    /// What is known of the request where nothing more was seen; without a full stop.
    private func asked(isKnown: Bool) -> String {
        isKnown
            ? "The \(noun) to \(id) was asked for"
            : "The platform did not answer: whether it began the \(noun) to \(id) cannot be seen"
    }

    private func setLastWords(isKnown: Bool) {
        workspace.interaction.setLastWords(
            "Stopped by a signal. \(asked(isKnown: isKnown))\(isKnown ? ", and goes on" : "").",
            hint: "See what became of it: zg-env deployment show \(word: id)")
    }

    /// The variables whose values go back, for scripts.
    static func members(_ older: OlderVariables) -> [JSONValue.Member] {
        [
            .init("olderVariables", older.isKnown ? .strings(older.changed) : .null),
            .init("missingVariables", older.isKnown ? .strings(older.missing) : .null),
            .init("removedVariables", older.isKnown ? .strings(older.removed) : .null),
        ]
    }

    /// Sends the request. Where the answer is lost, and the project cannot be asked whether it arrived, nobody
    /// knows: nil.
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
            let now = try? client.unrepeated(within: limit)
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
                    "The platform cannot \(verb) \(kind == .rollback ? "to " : "")\(id) without a build."
                        + error.saying,
                    hint:
                        "Nothing was moved. Build it anew: zg-env redeploy \(word: id) -t production"
                )
            default: throw error
            }
        }
    }

    private var notAsked: CommandError {
        CommandError(
            .unavailable, "The platform did not answer, and shows no \(noun) to \(id).",
            hint: "Nothing was moved as far as can be seen; run it again.")
    }

    private func conflict(
        _ error: VercelAPIError, _ running: Project.AliasRequest?
    ) -> CommandError {
        let isRunning =
            running.map { [.pending, .inProgress].contains($0.jobStatus) } ?? false
        guard let running, isRunning else {
            return CommandError(
                .conflict,
                "The platform does not \(verb) \(id) now."
                    + error.saying,
                hint:
                    "Nothing was moved. See what serves production: zg-env deployment show \(word: id)"
            )
        }
        let word = running.type == "rollback" ? "A rollback" : "A promotion"
        let to = running.toDeploymentId.map { " to \($0)" } ?? ""
        return CommandError(
            .conflict, "\(word)\(to) is under way, and the platform does one at a time.",
            hint: "Nothing was moved. Wait until it is done, then run this again.")
    }

    func failure(_ end: PlatformWait.PromotionEnd, _ limit: Duration) -> CommandError? {
        let still = named.project.production.map { "\($0.id) still serves production." }
        switch end {
        case .live: return nil
        case .failed(let domains):
            let names = domains.prefix(10).joined(separator: ", ")
            return CommandError(
                .deploymentFailed,
                "The \(noun) to \(id) failed"
                    + (names.isEmpty ? "." : ": these domains stayed where they were: \(names)."),
                hint: [still, "Look at these domains on the platform, then run it again."]
                    .compactMap { $0 }.joined(separator: " "))
        case .notLive(let reason):
            return CommandError(
                .deploymentFailed, "\(id) is not live: \(CommandError.ending(reason))",
                hint: "See what serves production: zg-env deployment show \(word: id)")
        case .queued:
            return CommandError(
                .unavailable,
                "The \(noun) to \(id) waits for the project's gradual release.",
                hint: "Go on with, or end, the release on the platform; it follows by itself.")
        case .notAsked: return notAsked
        case .overtaken(let other):
            return CommandError(
                .conflict,
                "Somebody has asked for \(other) to serve production meanwhile.",
                hint: "Look first: zg-env deployment show \(word: other)")
        case .timedOut(let status):
            return CommandError(
                .unavailable,
                "The \(noun) to \(id) was still \(status) after \(DurationText.text(limit)).",
                hint:
                    "It goes on by itself. See what became of it: zg-env deployment show \(word: id)"
            )
        case .interrupted:
            return CommandError(.failed, "Stopped waiting for the \(noun), which goes on.")
        }
    }
}
