internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// One rotation, from where it stands to its end.
struct RotationWork {
    let workspace: Workspace

    /// Begins a rotation, after the plan was agreed to, and does it.
    func rotate(_ request: RotationRequest) throws -> CommandResult {
        var whole = request
        whole.takesHolders = true
        var preparation = try RotationPreparation(whole, workspace)
        let split = request.scope.map {
            RotationSplit(
                key: request.key, scope: $0, preparation: preparation, workspace: workspace)
        }
        let parting = split?.isNeeded == true ? split : nil
        let lines = (parting?.lines ?? []) + preparation.lines
        // People see it in the plan, unless that is not shown.
        let isUnseen = workspace.options.json || workspace.options.yes
        if let warning = preparation.blindCheck, isUnseen {
            workspace.context.warn("check-alone", warning)
        }
        if let warning = preparation.stagedWarning, isUnseen {
            workspace.context.warn("staged", warning)
        }
        let answer = try workspace.confirm(lines, "Rotate \(request.key)?")
        guard answer else { return dryRun(request, preparation, lines) }
        // Before the records are parted: a value that is refused, or a command that fails, changes nothing.
        let value = try preparation.newValue()
        if let parting {
            try parting.apply()
            preparation = try RotationPreparation(request, workspace)
        }
        let (rotation, lock) = try preparation.begin(with: value) { rotation in
            try self.lock(rotation)
        }
        // What was read before a question or a command is not of now.
        let isFresh = workspace.options.yes && request.commands.apply == nil
        return try run(
            rotation, lock, projects: preparation.places.map(\.bound),
            readings: isFresh ? preparation.places.map(\.reading) : [])
    }

    private func dryRun(
        _ request: RotationRequest, _ preparation: RotationPreparation, _ lines: [String]
    ) -> CommandResult {
        // For people these are lines of the plan.
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
            text: lines.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
    }

    /// What is asked of an open rotation.
    enum Wish {
        case resume
        case abort
    }

    /// Goes on with an open rotation, or back.
    func continueOpen(_ key: String?, _ wish: Wish) throws -> CommandResult {
        let found = try open(key)
        let machine = RotationMachine(plan: found.plan, progress: found.progress)
        if wish == .abort, !machine.canAbort {
            throw CommandError(
                .conflict,
                "Revoking the old value of \(found.plan.key) has begun, so it may not be valid any more.",
                hint:
                    "Nothing was changed. Finish with: zg-env rotate \(word: found.plan.key) --resume"
            )
        }
        let question =
            wish == .abort
            ? "Bring the old value of \(found.plan.key) back?"
            : "Go on with the rotation of \(found.plan.key)?"
        let lines =
            found.plan.members.map { "\(found.plan.key) of \($0.name)" }
            + found.plan.commands.lines
        guard try workspace.confirm(lines, question) else {
            let report = RotationReport(found)
            return CommandResult(
                json: .object(report.members + [.init("dryRun", true)]), text: report.text)
        }
        let lock = try lock(found)
        let rotation = try authentic(found)
        let platform = try PlatformSession(workspace)
        let index = try workspace.session.index(.listing)
        let projects = try rotation.plan.members.map { member in
            guard let project = index.project(member.project) else {
                throw cannotGoOn(
                    rotation, "The vault has no project \(member.name) any more")
            }
            let bound = try BoundProject.inVault(project, platform, workspace)
            guard bound.platform.id == member.platformProject else {
                throw cannotGoOn(
                    rotation,
                    "\(member.name) was bound to another project meanwhile")
            }
            return bound
        }
        return try run(rotation, lock, projects: projects, readings: [], wish)
    }

    /// Why neither way is left, with what stands where.
    private func cannotGoOn(_ rotation: RotationEntry, _ reason: String) -> CommandError {
        let report = RotationReport(rotation)
        let states = rotation.plan.members.indices.map {
            "\(rotation.plan.members[$0].name) is \(report.state(of: $0).rawValue)"
        }
        return CommandError(
            .needsAttention,
            "\(reason), so the rotation of \(rotation.plan.key) goes neither on nor back: \(states.joined(separator: ", ")).",
            hint:
                "Both values are in the vault's history. Put it right by hand, then: zg-env rotate \(word: rotation.plan.key) --close"
        )
    }

    /// The open rotation that is meant.
    func open(_ key: String?) throws -> RotationEntry {
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        let project = try? ProjectResolver(workspace).existing(in: index)
        var open = try index.rotations().filter { rotation in
            rotation.isOpen && (key == nil || rotation.plan.key == key)
        }
        if open.count > 1, let project {
            open = open.filter { $0.plan.members.contains { $0.project == project.id } }
        }
        guard let only = open.first else {
            throw CommandError(
                .notFound,
                key.map { "No rotation of \($0) is open." }
                    ?? "No rotation is open.",
                hint: "See what was done with: zg-env rotate --status")
        }
        guard open.count == 1 else {
            let names = open.map { $0.plan.key }.joined(separator: ", ")
            throw CommandError(
                .usage, "Several rotations are open: \(names).",
                hint: "Name the variable, and the project with -p.")
        }
        return only
    }

    /// The rotation as it stands now that nobody else works on it, made by somebody with the root.
    private func authentic(_ found: RotationEntry) throws -> RotationEntry {
        workspace.session.forgetVault()
        let rotation = try workspace.session.update(with: try workspace.session.keys(.values)) {
            try $0.rotation(found.id)
        }
        guard let rotation, rotation.isOpen else {
            throw CommandError(
                .conflict,
                "The rotation of \(found.plan.key) has ended meanwhile.",
                hint: "Look at it with: zg-env rotate --status")
        }
        return rotation
    }

    private func lock(_ rotation: RotationEntry) throws -> RotationLock {
        try RotationLock(
            rotation.id, key: rotation.plan.key, besides: workspace.session.path)
    }

    /// Once the old value is revoked, what else has it does not work any more.
    private func warnOfLeftovers(_ rotation: RotationEntry) {
        guard rotation.progress.revoke == .done else { return }
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
            // The rotation is done, and stays so.
            workspace.context.warn(
                "not-compared",
                "Whether anything else holds the old value, which --revoke ended, is not known. \(CommandError(mapping: error).message)"
            )
        }
    }

    private func warn(leftovers: [String], of project: String) {
        guard !leftovers.isEmpty else { return }
        let names = leftovers.joined(separator: ", ")
        workspace.context.warn(
            "revoked-elsewhere",
            "What is deployed for \(names) of \(project) has the old value, which --revoke ends. \(RotationLeftovers.remedy(leftovers, project: project))"
        )
    }

    private func warn(copies: [String]) {
        guard !copies.isEmpty else { return }
        workspace.context.warn(
            "revoked-copies",
            "The old value, which --revoke ends, is still that of: \(RotationLeftovers.list(copies)). Set these to the new one, and push them."
        )
    }

    /// The one object on stderr where a signal ends a rotation with `--json`.
    private static let interrupted =
        #"{"error":{"code":"interrupted","message":"The rotation was interrupted by a signal, and "#
        + #"stays open.","hint":"Go on with: zg-env rotate --resume, or go back with: "#
        + #"zg-env rotate --abort"}}"# + "\n"

    private func run(
        _ rotation: RotationEntry, _ lock: RotationLock, projects: [BoundProject],
        readings: [PlatformReading?] = [], _ wish: Wish? = nil
    ) throws -> CommandResult {
        let values = RotationValues(workspace.session, rotation.plan)
        let platform = LiveRotationPlatform(
            workspace, rotation, values, projects: projects, readings: readings)
        let commands = ShellRotationCommands(
            workspace: workspace, plan: rotation.plan, values: values, lock: lock,
            address: { try platform.host($0, $1) })
        let progress = RotationProgressLines(workspace: workspace, plan: rotation.plan)
        let application = RotationApplication(
            rotation, keeper: VaultRotationKeeper(workspace: workspace), platform: platform,
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
                try workspace.changingDeployments(
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
            let stopped = "The rotation of \(rotation.plan.key) was interrupted, and stays open."
            let hint =
                "Go on with: zg-env rotate \(word: rotation.plan.key) --resume, or go back with: zg-env rotate \(word: rotation.plan.key) --abort"
            // A signal ends the program: whoever sent it is told here.
            if Interrupts.pending != nil {
                if workspace.options.json {
                    Interrupts.setLastWords(Self.interrupted)
                } else {
                    workspace.note("\(stopped)\n\(hint)")
                }
            }
            Interrupts.endIfPending()
            throw CommandError(.failed, stopped, hint: hint)
        } catch {
            // The vault, the audit log or a command's pipe failed: nothing was decided by that.
            guard application.rotation.isOpen else { throw error }
            let report = RotationReport(
                application.rotation, stoppedBy: CommandError(mapping: error))
            return CommandResult(
                json: .object(report.members), text: report.text,
                failure: report.failure(wasAborted: false))
        }
        Interrupts.endIfPending()
        let isDone = application.rotation.progress.outcome == .done
        keepLive(projects, seen: isDone ? platform.seen : [:])
        return result(application.rotation, wasAborted: wish == .abort)
    }

    /// Keeps which deployments serve now. That it cannot be known changes nothing of the rotation.
    ///
    /// - Parameter seen: What was seen to serve while it was waited for, by project; the others are asked.
    private func keepLive(
        _ projects: [BoundProject],
        seen: [Int: (live: VaultProject.LiveDeployment?, time: UInt64)]
    ) {
        guard let keys = try? workspace.session.keys(.index) else { return }
        var found = seen
        let rest = projects.indices.filter { seen[$0] == nil }
        workspace.session.turns.run(rest.count, limit: RotationMachine.buildLimit) { number in
            let project = projects[rest[number]]
            if let now = try? project.access.client.project(project.platform.id) {
                found[rest[number]] = (now.liveDeployment, workspace.context.now())
            }
            return true
        }
        _ = try? workspace.session.update(with: keys) { transaction in
            for (place, (live, time)) in found {
                guard let local = projects[place].local else { continue }
                transaction.see(live: live, of: local.id, time: time)
            }
        }
    }

    private func result(_ rotation: RotationEntry, wasAborted: Bool) -> CommandResult {
        let report = RotationReport(rotation)
        if rotation.progress.outcome == .done {
            if !rotation.plan.redeploys {
                workspace.context.warn(
                    "not-live",
                    "\(rotation.plan.key) is not live yet: deployments keep the value they were built with. Redeploy with: zg-env redeploy --wait"
                )
            } else {
                let unproved = rotation.plan.members.indices.filter {
                    report.proof(of: $0) == "none"
                }.map { rotation.plan.members[$0].name }
                if !unproved.isEmpty {
                    workspace.context.warn(
                        "not-proved",
                        "Nothing proved the new value in \(unproved.joined(separator: ", ")): it is built and live, and that is all that is known."
                    )
                }
            }
        }
        warnOfLeftovers(rotation)
        let held = rotation.progress.members.indices.filter {
            rotation.progress.members[$0].previous == .done
        }.map { rotation.plan.members[$0].name }
        if !held.isEmpty {
            workspace.context.warn(
                "rolled-back-there",
                "The platform was rolled back for \(held.joined(separator: ", ")): new deployments do not get its domains until one is promoted."
            )
        }
        return CommandResult(
            json: .object(report.members), text: report.text,
            failure: report.failure(wasAborted: wasAborted))
    }
}

extension RotationPlan.Commands {
    /// The commands for people, who agree to them before they are run.
    var lines: [String] {
        [("--apply", apply), ("--check", check), ("--check-url", checkURL), ("--revoke", revoke)]
            .compactMap { name, text in text.map { "\(name): \($0)" } }
    }
}
