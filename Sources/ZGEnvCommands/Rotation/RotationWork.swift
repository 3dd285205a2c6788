internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// Runs one rotation, from its current state to the end.
struct RotationWork {
    let workspace: Workspace

    /// Starts and runs a rotation after the user has confirmed the plan.
    func rotate(_ request: RotationRequest) throws -> CommandResult {
        let notices = RotationNotices(workspace)
        if !workspace.options.dryRun { try notices.exchange(about: request.key) }
        var whole = request
        whole.includesOverlapping = true
        var preparation = try RotationSetup(whole, workspace)
        let split = request.scope.map {
            RotationSplit(
                key: request.key, scope: $0, preparation: preparation, workspace: workspace)
        }
        let needed = split?.isNeeded == true ? split : nil
        let lines = (needed?.lines ?? []) + preparation.lines
        // The plan contains these warnings, unless it is not shown.
        let isUnseen = workspace.options.json || workspace.options.yes
        if let warning = preparation.blindCheckWarning, isUnseen {
            workspace.context.warn("check-alone", warning)
        }
        if let warning = preparation.stagedWarning, isUnseen {
            workspace.context.warn("staged", warning)
        }
        let answer = try workspace.confirm(lines, "Rotate \(request.key)?")
        guard answer else { return dryRun(request, preparation, lines) }
        // Before the split: a rejected value or a failed command must not change anything.
        let value = try preparation.newValue()
        if let needed {
            try needed.apply()
            preparation = try RotationSetup(request, workspace)
        }
        let (rotation, lock) = try preparation.begin(with: value)
        let shared = Set(preparation.places.map(\.project.id))
        // The first one publishes; what others published before that shows in the second.
        for _ in 0..<2 { notices.exchange(about: shared) }
        try withdraw(rotation, ifNoticed: notices)
        defer { notices.exchange(about: shared) }
        // Readings from before a question or a command are out of date.
        let isFresh = workspace.options.yes && request.commands.apply == nil
        return try run(
            rotation, lock, projects: preparation.places.map(\.bound),
            readings: isFresh ? preparation.places.map(\.reading) : [])
    }

    /// Ends a rotation that has changed nothing yet if a colleague began one at the same time.
    private func withdraw(_ rotation: RotationEntry, ifNoticed notices: RotationNotices) throws {
        let records = rotation.plan.members.flatMap(\.records).map(\.variable)
        do {
            try RotationNoticeGate.check(
                Set(records), in: try workspace.session.index(.everything))
        } catch {
            var ended = rotation
            ended.progress.failure = .init(.changedHere, "a colleague is rotating it too")
            ended.endedAt = max(workspace.context.now(), 1)
            try VaultRotationStore(workspace: workspace).keep(ended)
            notices.exchange(about: rotation)
            throw error
        }
    }

    private func dryRun(
        _ request: RotationRequest, _ preparation: RotationSetup, _ lines: [String]
    ) -> CommandResult {
        // The text output has these as lines of the plan.
        if request.commands.revoke != nil, workspace.options.json {
            for place in preparation.places {
                warn(leftovers: preparation.leftovers(of: place), of: place.project.name)
            }
            warn(copies: preparation.copies)
        }
        let projects = preparation.places.map { place -> JSONValue in
            [
                "project": .string(place.project.name), "deployment": .null, "state": "pending",
                "proof": "none", "target": .string(orNull: place.deployment.target),
            ]
        }
        return CommandResult(
            json: [
                "key": .string(request.key), "projects": .array(projects), "outcome": .null,
                "dryRun": true,
            ],
            text: DisplayText.lines(lines, after: "Would "))
    }

    /// How to continue an open rotation.
    enum ResumeMode {
        case resume
        case abort
    }

    /// Resumes or reverts an open rotation.
    func continueOpen(_ found: RotationEntry, _ wish: ResumeMode) throws -> CommandResult {
        let machine = RotationMachine(plan: found.plan, progress: found.progress)
        if wish == .abort, !machine.canAbort {
            throw CommandError(
                .conflict,
                "The old value of \(found.plan.key) may already be revoked, so it cannot be restored.",
                hint:
                    "Finish with: zg-env rotate \(word: found.plan.key) --resume"
            )
        }
        let question =
            wish == .abort
            ? "Restore the old value of \(found.plan.key)?"
            : "Resume the rotation of \(found.plan.key)?"
        let lines =
            found.plan.members.map { "\(found.plan.key) in \($0.name)" }
            + found.plan.commands.lines
        guard try workspace.confirm(lines, question) else {
            let report = RotationReport(found)
            return CommandResult(
                json: .object(report.members + [.init("dryRun", true)]), text: report.text
            ).folded(workspace)
        }
        let lock = try RotationLock(found, workspace)
        let notices = RotationNotices(workspace)
        // Announces it, too, if it was killed before it did.
        for _ in 0..<2 { notices.exchange(about: found) }
        try notices.checkNotTakenOver(found)
        let rotation = try authentic(found)
        let platform = try VercelSession(workspace)
        let index = try workspace.session.index(.listing)
        let projects = try rotation.plan.members.map { member in
            guard let project = index.project(member.project) else {
                throw cannotContinue(
                    rotation, "The vault no longer has the project \(member.name)")
            }
            let bound = try LinkedProject.inVault(project, platform, workspace)
            guard bound.platform.id == member.vercelProject else {
                throw cannotContinue(
                    rotation,
                    "\(member.name) is now linked to another Vercel project")
            }
            return bound
        }
        defer { notices.exchange(about: rotation) }
        return try run(rotation, lock, projects: projects, readings: [], wish)
    }

    /// Returns the error for a rotation that can neither be resumed nor reverted, with each project's state.
    private func cannotContinue(_ rotation: RotationEntry, _ reason: String) -> CommandError {
        let report = RotationReport(rotation)
        let states = rotation.plan.members.indices.map {
            "\(rotation.plan.members[$0].name) is \(report.state(of: $0).rawValue)"
        }
        return CommandError(
            .needsAttention,
            "\(reason), so the rotation of \(rotation.plan.key) can neither be resumed nor reverted: \(states.joined(separator: ", ")).",
            hint:
                "Both values are in the vault's history. Fix the cause manually, then run: zg-env rotate \(word: rotation.plan.key) --close"
        )
    }

    /// Returns the open rotation of a key, or the only open one.
    func open(_ key: String?, _ targets: ScopeOptions) throws -> RotationEntry {
        let index = try workspace.session.index(.everything, with: .values)
        let isNamed = workspace.options.namesProject
        let project = try ProjectResolver(workspace).existingIfGiven(in: index)
        var open = try index.rotations().filter { rotation in
            rotation.isOpen && (key == nil || rotation.plan.key == key)
        }
        if isNamed || open.count > 1, let project {
            open = open.filter { $0.plan.members.contains { $0.project == project.id } }
        }
        if let scope = try targets.scope() {
            let fitting = Set(
                index.variables.filter { $0.attributes.scope.overlaps(scope) }.map(\.id))
            open = open.filter {
                $0.plan.members.flatMap(\.records).contains { fitting.contains($0.variable) }
            }
        }
        guard let only = open.first else {
            throw CommandError(
                .notFound,
                key.map { "There is no unfinished rotation of \($0)." }
                    ?? "There are no unfinished rotations.",
                hint: try Self.unfinishedPush(of: key, in: index)
                    ?? "See past rotations with: zg-env rotate --status")
        }
        guard open.count == 1 else {
            let names = open.map { $0.plan.key }.joined(separator: ", ")
            throw CommandError(
                .usage, "Several rotations are unfinished: \(names).",
                hint: "Specify the variable, the project with -p, and the target with -t.")
        }
        return only
    }

    /// Returns how to finish an interrupted push, such as one that splits a variable before its rotation
    /// begins; nil without one.
    private static func unfinishedPush(of key: String?, in index: VaultIndex) throws -> String? {
        let unknown = Set(try index.sends().compactMap(\.variable))
        let unfinished = index.variables.first { variable in
            (key.map { $0 == variable.name } ?? true)
                && (unknown.contains(variable.id)
                    || key != nil && variable.isLive
                        && [.local, .ahead, .diverged].contains(SyncState(of: variable)))
        }
        guard let unfinished, let project = index.project(unfinished.project) else { return nil }
        return
            "\(unfinished.name) has changes that were not pushed, for example because a rotation with -t was interrupted. Push them with: zg-env push \(word: unfinished.name) -p \(word: project.name)"
    }

    /// Returns the current state of a locked rotation.
    private func authentic(_ found: RotationEntry) throws -> RotationEntry {
        workspace.session.closeVault()
        let rotation = try workspace.session.index(.everything, with: .values)
            .rotations().first { $0.id == found.id }
        guard let rotation, rotation.isOpen else {
            throw CommandError(
                .conflict,
                "The rotation of \(found.plan.key) has already ended.",
                hint: "See it with: zg-env rotate --status")
        }
        return rotation
    }

    /// Warns about deployments and records that still have the revoked value.
    private func warnOfLeftovers(_ rotation: RotationEntry) {
        guard rotation.progress[.revoke] == .done else { return }
        do {
            let session = workspace.session
            let keys = try session.keys(.values)
            let vault = try session.opened()
            let index = try vault.index(with: keys, extent: .everything)
            for member in rotation.plan.members {
                let ids = Set(member.records.map(\.variable))
                let scopes = index.variables.filter { ids.contains($0.id) }.map(\.attributes.scope)
                warn(
                    leftovers: RotationLeftovers.targets(of: scopes, deployed: member.target),
                    of: member.name)
            }
            guard let old = try RotationValues(session, rotation.plan).value(.old),
                let reader = try ValueReader(vault: vault, index: index, keys: keys)
            else { return }
            let rotated = rotation.plan.members.flatMap { $0.records.map(\.variable) }
            warn(
                copies: try RotationLeftovers.copies(
                    of: old, besides: Set(rotated), in: index, reader))
        } catch {
            // This does not change the outcome of the rotation.
            workspace.context.warn(
                "not-compared",
                "Could not check whether anything else has the revoked value. \(CommandError(mapping: error).message)"
            )
        }
    }

    private func warn(leftovers: [String], of project: String) {
        guard !leftovers.isEmpty else { return }
        let names = leftovers.joined(separator: ", ")
        workspace.context.warn(
            "revoked-elsewhere",
            "The deployments of \(project) for \(names) have the old value, which --revoke invalidates. \(RotationLeftovers.remedy(leftovers, project: project))"
        )
    }

    private func warn(copies: [String]) {
        guard !copies.isEmpty else { return }
        workspace.context.warn(
            "revoked-copies",
            "The old value, which --revoke invalidates, is still used by: \(RotationLeftovers.list(copies)). Set these to the new value, and push them."
        )
    }

    /// The JSON error object for a rotation that a signal ends with `--json`.
    private static let interrupted =
        #"{"error":{"code":"interrupted","message":"A signal interrupted the rotation, which is "#
        + #"not finished.","hint":"Resume it with: zg-env rotate --resume, or revert it with: "#
        + #"zg-env rotate --abort"}}"# + "\n"

    private func run(
        _ rotation: RotationEntry, _ lock: RotationLock, projects: [LinkedProject],
        readings: [VercelReading?], _ wish: ResumeMode? = nil
    ) throws -> CommandResult {
        let values = RotationValues(workspace.session, rotation.plan)
        let platform = LiveRotationRemote(
            workspace, rotation, values, projects: projects, readings: readings)
        let commands = ShellRotationCommands(
            workspace: workspace, plan: rotation.plan, values: values, lock: lock,
            address: platform.host)
        let progress = RotationProgressLines(workspace: workspace, plan: rotation.plan)
        let application = RotationApplication(
            rotation, keeper: VaultRotationStore(workspace: workspace), platform: platform,
            commands: commands, workers: workspace.session.turns,
            clock: SystemRotationClock(context: workspace.context),
            tell: { progress.tell($0, $1) })
        let metadata = try workspace.session.index(.listing).metadata
        do {
            _ = try workspace.audited(
                [rotation.plan.key],
                project: rotation.plan.members.map(\.name).joined(separator: ", "),
                seen: metadata, durably: true
            ) {
                try workspace.withDeploymentChange(
                    ofProjects: projects.map { ($0.platform.id, $0.access.client.origin) }
                ) {
                    try Interrupts.deferred {
                        try application.run { machine in
                            switch wish {
                            case .resume: machine.resume()
                            case .abort: machine.abort()
                            case nil: break
                            }
                        }
                    }
                }
            } failed: {
                $0 != .done
            }
        } catch is RotationInterrupted {
            let stopped =
                "The rotation of \(rotation.plan.key) was interrupted and is not finished."
            let hint =
                "Resume it with: zg-env rotate \(word: rotation.plan.key) --resume, or revert it with: zg-env rotate \(word: rotation.plan.key) --abort"
            // The signal ends the program, so the error is printed here.
            if Interrupts.pending != nil {
                if workspace.options.json {
                    Interrupts.setInterruptionMessage(Self.interrupted)
                } else {
                    workspace.note("\(stopped)\n\(hint)")
                }
            }
            Interrupts.endIfPending()
            throw CommandError(.failed, stopped, hint: hint)
        } catch {
            // The vault, the audit log or a command's pipe failed, which leaves the rotation undecided.
            guard application.rotation.isOpen else { throw error }
            let report = RotationReport(
                application.rotation, stoppedBy: CommandError(mapping: error))
            return report.result(wasAborted: false).folded(workspace)
        }
        Interrupts.endIfPending()
        let isDone = application.rotation.progress.outcome == .done
        noteLive(projects, seen: isDone ? platform.seen : [:])
        return result(application.rotation, wasAborted: wish == .abort)
    }

    /// Notes the live deployments for lists. Failures are ignored, because they do not affect the
    /// rotation.
    ///
    /// - Parameter seen: The live deployments seen while waiting, by project; the others are read
    ///   from Vercel.
    private func noteLive(
        _ projects: [LinkedProject],
        seen: [Int: (live: VaultProject.LiveDeployment?, time: UInt64)]
    ) {
        var found = seen
        let rest = projects.indices.filter { seen[$0] == nil }
        workspace.session.turns.run(rest.count, limit: RotationMachine.buildLimit) { number in
            let project = projects[rest[number]]
            if let now = try? project.access.client.project(project.platform.id) {
                found[rest[number]] = (now.liveDeployment, workspace.context.now())
            }
            return true
        }
        for (place, (live, time)) in found {
            guard let local = projects[place].local else { continue }
            _ = try? workspace.session.note(live: live, at: time, of: local.id)
        }
    }

    private func result(_ rotation: RotationEntry, wasAborted: Bool) -> CommandResult {
        let report = RotationReport(rotation)
        if rotation.progress.outcome == .done {
            if !rotation.plan.redeploys {
                workspace.context.warn(
                    "not-live",
                    "\(rotation.plan.key) is not live yet: existing deployments keep the value they were built with. Redeploy with: zg-env redeploy --wait"
                )
            } else {
                let unproved = rotation.plan.members.indices.filter {
                    rotation.proof(of: $0) == .none
                }
                if !unproved.isEmpty {
                    workspace.context.warn(
                        "not-proved",
                        "The new value in \(rotation.plan.names(of: unproved)) was not verified: the deployment is live, but nothing checked the value it was built with."
                    )
                }
            }
        }
        warnOfLeftovers(rotation)
        let held = rotation.progress.members.indices.filter {
            rotation.progress.members[$0].previous == .done
        }
        if !held.isEmpty {
            workspace.context.warn(
                "rolled-back-there",
                "Vercel rolled back \(rotation.plan.names(of: held)): new deployments do not get the production domains until you promote one."
            )
        }
        return report.result(wasAborted: wasAborted).folded(workspace)
    }
}

extension RotationPlan {
    /// Returns the names of some projects, by their places in the plan.
    func names(of places: [Int]) -> String {
        places.map { members[$0].name }.joined(separator: ", ")
    }
}

extension RotationPlan.Commands {
    /// The lines that show the commands to the user before they run.
    var lines: [String] {
        [("--apply", apply), ("--check", check), ("--check-url", checkURL), ("--revoke", revoke)]
            .compactMap { name, text in text.map { "\(name): \($0)" } }
    }
}
