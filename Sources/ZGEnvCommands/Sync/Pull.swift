internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Vault

/// `pull`: brings the vault to what the platform has.
struct Pull: Command {
    static let spec = CommandSpec(
        ["pull"], "Bring the vault to what the platform has", section: "Platform",
        discussion: """
            Takes in what is new, changed or removed there, and works while values are locked. What \
            was changed on both sides stops it before anything is changed. It asks only where a value \
            of the vault would change or go; the history keeps it. A value that the platform does not \
            show never replaces one of the vault: the variable stays behind until a push with --force. A \
            project that the vault does not have yet is made.
            """,
        arguments: [RecordChoice.argument(to: "pull")],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "all-projects", "Pull every project of the account that is bound"),
            OptionSpec(
                flag: "force",
                "Take what the platform has where both sides changed, or records of both overlap"),
        ],
        exclusive: [["project", "all-projects"]],
        examples: [
            .init("zg-env pull -p web", "take in what changed on the platform"),
            .init("zg-env pull --all-projects --yes --json", "all projects, from a script"),
        ],
        exitCodes: ExitCode.ofPlatform)

    private var rules = PullPlan.Rules()
    private let allProjects: Bool

    init(_ command: ParsedCommand) throws {
        rules.force = command.has("force")
        let choice = try RecordChoice(command)
        (rules.keys, rules.places) = (choice.keys, choice.places)
        allProjects = command.has("all-projects")
        guard !allProjects || choice.keys == nil else {
            throw CommandError(.usage, "Name variables, or say --all-projects, not both.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        if allProjects { return try PullAll(workspace, rules: rules).run() }
        let progress = WorkProgress(workspace)
        let (bound, isNew) = try PullProjects.named(workspace)
        let work = try PullWork(workspace, bound, isNew: isNew, rules: rules, progress: progress)
        let finding = try work.look()
        progress.finish()
        try checkKeys(finding, work.project)
        var report = PullReport(work, finding)
        report.isDryRun = workspace.options.dryRun
        try report.warn(workspace)
        if try PullProjects.mayGoOn([report], "Pull \(work.project.name)?", workspace) {
            try work.apply(finding)
        }
        return CommandResult(
            json: .object(report.members), text: report.text, failure: report.failure)
    }

    /// A key that neither side has is a slip.
    private func checkKeys(_ finding: PullWork.Finding, _ project: VaultProject) throws {
        guard let keys = rules.keys else { return }
        let known = finding.keys
        for key in keys.sorted() where !known.contains(key) {
            throw CommandError(
                .notFound,
                "Neither the vault nor the platform has a variable \(key) in \(project.name).",
                hint: "Nothing was changed.")
        }
    }
}

/// Which projects a pull is about.
enum PullProjects {
    /// The project that the workspace names. One that the vault does not have is made of the
    /// platform's; it is not in the vault yet.
    static func named(_ workspace: Workspace) throws -> (bound: BoundProject, isNew: Bool) {
        let session = try PlatformSession(workspace)
        let index = try workspace.session.index(.listing)
        let resolver = ProjectResolver(workspace)
        guard case .named(let name) = try resolver.reference(), index.project(named: name) == nil
        else {
            let project = try resolver.existing(in: index)
            let bound = try BoundProject.inVault(
                project, session, workspace, readsLists: true)
            return (bound, false)
        }
        let access = try session.access()
        let platform = try BoundProject.find(name, access, workspace)
        let binding = try BoundProject.binding(to: platform, access, workspace)
        if let other = index.owner(of: binding) {
            throw CommandError(
                .conflict,
                "The vault has the platform's \(name) as \(other.name).",
                hint: "Nothing was changed. Pull it with: zg-env pull -p \(word: other.name)")
        }
        var project = VaultProject(name: name, createdAt: workspace.context.now())
        project.binding = binding
        return (BoundProject(access: access, platform: platform, local: project), true)
    }

    /// Asks where values of the vault would change or go.
    ///
    /// - Returns: False for a dry run.
    static func mayGoOn(
        _ reports: [PullReport], _ question: String, _ workspace: Workspace
    ) throws -> Bool {
        if workspace.options.dryRun { return false }
        guard reports.contains(where: \.needsAnswer) else { return true }
        return try workspace.confirm(reports.flatMap(\.planLines), question)
    }
}
