internal import DotEnv
internal import EnvOperations
internal import Vault

/// Old values that only the platform has: they are sealed in the vault before anything is changed, so
/// that there is something to go back to.
struct RotationOldValues {
    let request: RotationRequest
    let workspace: Workspace

    /// Takes in what the vault does not have and the platform shows. What it does not show stays missing.
    ///
    /// - Throws: ``ExitCode/conflict`` where more of the variable was changed on the platform than that.
    func take(_ missing: [RotationSelection.Found], _ platform: PlatformSession) throws {
        for place in missing where place.project.binding != nil {
            // Also what was sensitive when it was last seen: it may have become another one there.
            let wanted = Set(place.records.map(\.id))
            let bound = try BoundProject.inVault(place.project, platform, workspace)
            var rules = PullPlan.Rules()
            rules.keys = [request.key]
            let progress = WorkProgress(workspace)
            defer { progress.finish() }
            let work = try PullWork(workspace, bound, rules: rules, progress: progress)
            let finding = try work.look()
            let isAsWanted = finding.plan.steps.allSatisfy { step in
                step.action == .agree || step.variable.map { wanted.contains($0.id) } ?? false
            }
            guard isAsWanted, finding.plan.conflicts.isEmpty else {
                let (name, project) = (request.key, place.project.name)
                throw CommandError(
                    .conflict, "\(name) of \(project) is not in step with the platform.",
                    hint:
                        "Nothing was changed. Look with: zg-env diff --remote -p \(word: project), then: zg-env pull \(word: name) -p \(word: project)"
                )
            }
            // A value that nobody here can have seen is not replaced unasked.
            let isUnseen = finding.plan.steps.contains { step in
                guard let variable = step.variable, wanted.contains(variable.id),
                    variable.currentVersion == 0, let record = step.record
                else { return false }
                return record.attributes.kind == .sensitive
                    && record.updatedAt != variable.remote?.agreedUpdatedAt
            }
            if isUnseen {
                let project = place.project.name
                throw CommandError(
                    .conflict,
                    "\(request.key) of \(project) was changed on Vercel since this vault has seen it.",
                    hint:
                        "Nothing was changed. See it with: zg-env pull \(word: request.key) -p \(word: project), then rotate again."
                )
            }
            guard !workspace.options.dryRun else { continue }
            try work.apply(finding)
            workspace.note("\(place.project.name): took the old value from the platform.")
        }
    }
}
