internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `pull`: takes changes from Vercel into the vault.
struct Pull: Command {
    static let spec = CommandSpec(
        ["pull"], "Pull changes from Vercel into the vault",
        discussion: """
            Adds, changes and removes variables to match Vercel. A \
            variable with a conflict is left unchanged; on a terminal, you choose a side for each. \
            Asks for confirmation only if a value in the \
            vault would change or be removed; the history keeps that value. If Vercel does not \
            show a value, the vault keeps its own, and the variable stays out of sync until a push \
            with --force. If the project is not in the vault, it is created there.
            """,
        arguments: [RecordChoice.argument(to: "pull")],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "all-projects", "Pull every project linked through the account"),
            OptionSpec(
                flag: "force", "In a conflict, or where variables overlap, take Vercel's version"),
        ],
        exclusive: [["project", "all-projects"]],
        examples: [
            .init("zg-env pull -p web", "pull changes from Vercel"),
            .init("zg-env pull --all-projects --yes --json", "pull all projects in a script"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        \(PullReport.fields)
        With --all-projects:
        projects: [{zg-env pull} | { project: string; error: { code, message: string } }]
        """

    private var rules = PullPlan.Rules()
    private let allProjects: Bool

    /// Pulls everything into one project.
    init() { allProjects = false }

    init(_ command: ParsedCommand) throws {
        rules.force = command.has("force")
        let choice = try RecordChoice(command)
        (rules.keys, rules.places) = (choice.keys, choice.places)
        allProjects = command.has("all-projects")
        guard !allProjects || choice.keys == nil else {
            throw CommandError(.usage, "Variables and --all-projects cannot be used together.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try workspace.session.keysForWriting()
        if allProjects { return try PullAll(workspace, rules: rules).run() }
        let progress = WorkProgress(workspace)
        let (bound, isNew) = try PullProjects.named(workspace)
        let work = try PullWork(workspace, bound, isNew: isNew, rules: rules, progress: progress)
        var finding = try work.look()
        progress.finish()
        try checkKeys(finding, work.project)
        let choices = try ConflictQuestions(workspace, work).decide(&finding)
        var report = PullReport(work, finding)
        report.isDryRun = workspace.options.dryRun
        try report.warn(workspace)
        if try PullProjects.confirmIfNeeded(
            [report], "Pull \(work.project.name)?", after: choices, workspace)
        {
            try work.apply(finding)
        }
        return CommandResult(
            json: .object(report.members), text: report.text, failure: report.failure
        ).folded(workspace)
    }

    /// Rejects keys that neither side has.
    private func checkKeys(_ finding: PullWork.Finding, _ project: VaultProject) throws {
        guard let keys = rules.keys else { return }
        let known = finding.keys
        for key in keys.sorted() where !known.contains(key) {
            throw CommandError(
                .notFound,
                "Neither the vault nor Vercel has a variable \(key) in \(project.name).")
        }
    }
}

/// Finds the projects of a pull.
enum PullProjects {
    /// Returns the project of the options or the directory. `isNew` means that it is created from the
    /// project on Vercel and not yet in the vault.
    static func named(_ workspace: Workspace) throws -> (bound: LinkedProject, isNew: Bool) {
        let session = try VercelSession(workspace)
        let index = try workspace.session.index(.listing)
        let resolver = ProjectResolver(workspace)
        guard case .named(let name) = try resolver.reference(), index.project(named: name) == nil
        else {
            let project = try resolver.existing(in: index)
            let bound = try LinkedProject.inVault(
                project, session, workspace, readsLists: true)
            return (bound, false)
        }
        let access = try session.access()
        let platform = try LinkedProject.find(name, access, workspace)
        let binding = try LinkedProject.binding(to: platform, access, workspace)
        if let other = index.owner(of: binding) {
            throw CommandError(
                .conflict,
                "The Vercel project \(name) is named \(other.name) in the vault.",
                hint: "Pull it with: zg-env pull -p \(word: other.name)")
        }
        var project = VaultProject(name: name, createdAt: workspace.context.now())
        project.binding = binding
        return (LinkedProject(access: access, platform: platform, local: project), true)
    }

    /// Asks for confirmation if values in the vault would change or be removed.
    ///
    /// - Parameter choices: How many sides of conflicts were chosen, which a no drops.
    /// - Returns: False for a dry run.
    static func confirmIfNeeded(
        _ reports: [PullReport], _ question: String, after choices: Int, _ workspace: Workspace
    ) throws -> Bool {
        if workspace.options.dryRun { return false }
        guard reports.contains(where: \.needsAnswer) else { return true }
        do {
            return try workspace.confirm(reports.flatMap(\.planLines), question)
        } catch let error as CommandError where choices > 0 {
            throw error.adding(ConflictQuestions.dropped(choices))
        }
    }
}
