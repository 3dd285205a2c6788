internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// Pulls old values that only Vercel has into the vault before any change, so that the rotation can be
/// reverted.
struct OldValuePull {
    let request: RotationRequest
    let workspace: Workspace

    /// Pulls the missing values that Vercel shows. Sensitive values stay missing.
    ///
    /// - Throws: ``ExitCode/conflict`` if the variable has other changes on Vercel.
    func take(_ missing: [RotationSelection.Found], _ platform: VercelSession) throws {
        for place in missing where place.project.binding != nil {
            // Includes variables last seen as sensitive: their type may have changed since.
            let wanted = Set(place.records.map(\.id))
            let bound = try LinkedProject.inVault(place.project, platform, workspace)
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
                    .conflict, "\(name) in \(project) is not in sync with Vercel.",
                    hint:
                        "Compare with: zg-env diff --remote -p \(word: project), then run: zg-env pull \(word: name) -p \(word: project)"
                )
            }
            // Does not replace a value that this vault has never seen.
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
                    "\(request.key) in \(project) has changed on Vercel since the last pull.",
                    hint:
                        "Review and pull the change with: zg-env pull \(word: request.key) -p \(word: project), then rotate again."
                )
            }
            guard !workspace.options.dryRun else { continue }
            try work.apply(finding)
            let hasArrived = finding.plan.steps.contains { step in
                step.record.map { (finding.values[$0.id]?.count ?? 0) > 0 } ?? false
            }
            if hasArrived {
                workspace.note("\(place.project.name): pulled the old value from Vercel.")
            }
        }
    }
}
