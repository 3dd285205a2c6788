internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import JSON
internal import Vault
internal import VercelAPI

/// `pull --all-projects`: pulls every project bound through the account. One failure does not stop
/// the others.
struct PullAll {
    private let workspace: Workspace
    private let rules: PullPlan.Rules

    /// The finding or the error of one project.
    private struct Part {
        let project: String
        var look: (work: PullWork, finding: PullWork.Finding)?
        var report: PullReport?
        var error: CommandError?
    }

    init(_ workspace: Workspace, rules: PullPlan.Rules) {
        self.workspace = workspace
        self.rules = rules
    }

    func run() throws -> CommandResult {
        let session = try VercelSession(workspace)
        let projects = try boundProjects(session)
        let progress = WorkProgress(workspace)
        var parts: [Part] = []
        for project in projects {
            var part = Part(project: project.name)
            do {
                let bound = try LinkedProject.inVault(
                    project, session, workspace, readsLists: true)
                let work = try PullWork(workspace, bound, rules: rules, progress: progress)
                part.look = (work, try work.look())
            } catch let error as VercelAPIError {
                part.error = CommandError(mapping: error)
            } catch let error as CommandError where error.code != .locked {
                part.error = error
            }
            parts.append(part)
        }
        progress.finish()
        var choices = 0
        for place in parts.indices {
            guard var look = parts[place].look else { continue }
            choices = try ConflictQuestions(workspace, look.work).decide(
                &look.finding, after: choices)
            parts[place].look = look
            parts[place].report = PullReport(look.work, look.finding)
            parts[place].report?.isDryRun = workspace.options.dryRun
        }
        let reports = parts.compactMap(\.report)
        for report in reports { try report.warn(workspace) }
        if try PullProjects.confirmIfNeeded(
            reports, "Pull these changes?", after: choices, workspace)
        {
            for place in parts.indices {
                guard let look = parts[place].look else { continue }
                do {
                    try look.work.apply(look.finding)
                } catch let error as CommandError where error.code == .conflict {
                    parts[place].report = nil
                    parts[place].error = error
                }
            }
        }
        return result(parts)
    }

    /// Returns the projects bound through the account in use, and warns about each of the others.
    private func boundProjects(_ session: VercelSession) throws -> [VaultProject] {
        let access = try session.access()
        let userID = try access.account?.userID ?? access.client.user().id
        let only = access.account?.onlyProjectID
        let origin = access.client.origin.description
        let all = try workspace.session.index(.listing).projects.filter { $0.binding != nil }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return all.filter { project in
            guard let binding = project.binding else { return false }
            let isOwn = only.map { $0 == binding.projectID } ?? (binding.accountID == userID)
            if isOwn && binding.origin == origin { return true }
            workspace.context.warn(
                "other-account",
                "Skipped \(project.name): it belongs to another account.")
            return false
        }
    }

    private func result(_ parts: [Part]) -> CommandResult {
        let look = TerminalStyle(workspace.context)
        let text = parts.map { part in
            look.style.text(DisplayText.safe(part.project), as: .heading) + "\n"
                + (part.report?.text ?? part.error.map {
                    "failed     \(DisplayText.safe(sentence: $0.message))\n"
                } ?? "")
        }.joined(separator: "\n")
        return CommandResult(
            json: ["projects": .array(parts.map(Self.json))],
            text: parts.isEmpty
                ? "No project in the vault is linked through this account.\n" : text,
            failure: failure(parts))
    }

    private static func json(_ part: Part) -> JSONValue {
        if let report = part.report { return .object(report.members) }
        return [
            "project": .string(part.project),
            "error": [
                "code": .string(orNull: part.error?.code.name),
                "message": .string(part.error?.message ?? ""),
            ],
        ]
    }

    /// Returns the only failure, or a summary with the common exit code.
    private func failure(_ parts: [Part]) -> CommandError? {
        let failures = parts.compactMap { part in
            (part.error ?? part.report?.failure).map { (part.project, $0) }
        }
        guard let (name, first) = failures.first else { return nil }
        let codes = Set(failures.map(\.1.code))
        guard failures.count > 1 else {
            return CommandError(
                first.code, "\(name): \(first.message)",
                hint: workspace.options.dryRun
                    ? first.hint : "The other projects were pulled. \(first.hint ?? "")")
        }
        return CommandError(
            codes.count == 1 ? first.code : .failed,
            "\(failures.count) of \(parts.count) projects failed. \(name): \(first.message)",
            hint:
                "Pull them one by one, starting with: zg-env pull -p \(word: name)"
        )
    }
}
