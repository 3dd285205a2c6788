internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Vault

struct List: Command {
    static let vaultUse = VaultUse(showsNamesOnly: true, picksProject: true)
    static let spec = CommandSpec(
        ["list"], "List variables, without their values",
        discussion: """
            Also lists the team's shared variables, as of the last refresh; zg-env cannot change \
            them. Only --refresh contacts Vercel. A removed variable is listed until production is \
            built without it.
            """,
        arguments: [
            ArgumentSpec(
                "PATTERN", .optional, "Only names that match, with * and ? as wildcards",
                completion: .dynamic(.variable))
        ],
        options: [
            OptionSpec(flag: "all-projects", "List the variables of every project"),
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "stale", value: "TIME",
                "List values older than TIME (such as 90d) or older than their rotation period",
                form: .duration),
            OptionSpec(flag: "deleted", "List removed variables, whose history is kept"),
        ],
        exclusive: [["project", "all-projects"]],
        examples: [
            .init("zg-env list", "list the variables of the linked project"),
            .init("zg-env list 'STRIPE_*' -p web -t production", "list the matching variables"),
        ],
        exitCodes: ExitCode.ofVercel, aliases: [["ls"]])
    static let fields = """
        \(VariableListing.fields)
        With --all-projects:
        projects: [{zg-env list}]
        """

    private let pattern: String?
    private let options: ScopeOptions
    private let allProjects: Bool
    /// Minimum age of the values to list, in milliseconds.
    private let stale: UInt64?
    private let deleted: Bool

    init(_ command: ParsedCommand) {
        pattern = command.argument("PATTERN")
        options = ScopeOptions(command)
        allProjects = command.has("all-projects")
        stale = command.duration("stale").map { UInt64($0.components.seconds) * 1_000 }
        deleted = command.has("deleted")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let hidden = allProjects ? try VercelRefresh.runForAllIfRequested(workspace) : [:]
        let ownHidden = allProjects ? nil : try VercelRefresh.runIfRequested(workspace)
        // The age of a value is stored with the current values.
        let extent = stale == nil ? VaultIndex.Extent.listing : .currentValues
        let resolver = ProjectResolver(workspace)
        let index =
            allProjects
            ? try workspace.session.indexAsSeen(extent)
            : try workspace.session.indexAsSeen(extent, of: resolver.existing(in:))
        if let problem = try workspace.session.cacheIndexKey() {
            workspace.detail("The index key was not cached: \(problem).")
        }
        let marks = try GroupMarks(in: index)
        let wanted = try options.scope()
        let now = workspace.context.now()
        let madeBefore = stale.map { now > $0 ? now - $0 : 0 }
        let due =
            madeBefore == nil
            ? [] : Set(RotationDue.records(in: index, now: now).map(\.id))
        func records(_ project: VaultProject) -> [Variable] {
            if deleted { return index.removedVariables(of: project.id) }
            let removed = stale == nil ? PendingChanges.removed(of: project, in: index).latest : []
            let live = index.variables(of: project.id)
            if removed.isEmpty { return live }
            return (live + removed).sorted {
                ($0.name, $0.attributes.scope.description)
                    < ($1.name, $1.attributes.scope.description)
            }
        }
        func listed(_ project: VaultProject) -> [Variable] {
            let records = records(project)
            if madeBefore == nil && wanted == nil && pattern == nil { return records }
            return records.filter { variable in
                if let madeBefore, !due.contains(variable.id) {
                    let madeAt = index.currentVersions[variable.id]?.createdAt
                    if madeAt ?? variable.updatedAt > madeBefore { return false }
                }
                let scope = variable.attributes.scope
                let inScope =
                    wanted.map { wanted in
                        (wanted.branch == nil || scope.branch == wanted.branch)
                            && (!scope.targets.isDisjoint(with: wanted.targets)
                                || !Set(scope.customEnvironments).isDisjoint(
                                    with: wanted.customEnvironments))
                    } ?? true
                return inScope && (pattern.map { matches(variable.name, $0) } ?? true)
            }
        }
        let listing = SharedVariableFilter(
            pattern: pattern, scope: wanted, madeBefore: madeBefore, isDeleted: deleted)
        let answers = try listing.answers(workspace, index)
        func labels(_ project: VaultProject) -> IntegrationLabels {
            IntegrationLabels(of: project, answers)
        }
        func shared(_ project: VaultProject) -> SharedListing {
            SharedListing(of: project, answers).filtered { listing.includes($0, matches) }
        }
        if allProjects {
            let projects = index.projects.sorted {
                $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
            }
            if isFiltered, projects.allSatisfy({ listed($0).isEmpty && shared($0).isEmpty }) {
                workspace.note("No variables match.")
            }
            return CommandResult(
                json: [
                    "projects": .array(
                        projects.map {
                            VariableListing.json(
                                listed($0), shared($0), of: $0, marks, labels($0),
                                hidden: hidden[$0.id])
                        })
                ],
                text: try text(
                    projects.map { ($0, listed($0), shared($0), labels($0)) }, marks, workspace,
                    now, titled: true))
        }
        let project = try resolver.existing(in: index)
        let (variables, others) = (listed(project), shared(project))
        if variables.isEmpty && others.isEmpty {
            workspace.note(
                pattern == nil && wanted == nil
                    ? "\(project.name) has no variables. Add one with: zg-env set KEY"
                    : "No variables in \(project.name) match.")
        }
        if pattern == nil, wanted == nil, !deleted, stale == nil,
            let count = try MissingVariables(
                of: project, in: index, targets: ["production"], workspace)?.count
        {
            workspace.note("\(count) (zg-env check).")
        }
        return CommandResult(
            json: VariableListing.json(
                variables, others, of: project, marks, labels(project), hidden: ownHidden),
            text: try text(
                [(project, variables, others, labels(project))], marks, workspace, now,
                titled: false))
    }

    private func text(
        _ projects: [(VaultProject, [Variable], SharedListing, IntegrationLabels)],
        _ marks: GroupMarks,
        _ workspace: Workspace, _ now: UInt64, titled: Bool
    ) throws -> String {
        let look = TerminalStyle(workspace.context)
        var text = ""
        for (project, variables, shared, labels) in projects {
            // Of a project without a match, not even the name.
            if titled, isFiltered, variables.isEmpty, shared.isEmpty { continue }
            if titled {
                text += text.isEmpty ? "" : "\n"
                text += look.style.text(DisplayText.safe(project.name), as: .heading) + "\n"
            }
            var table = VariableListing.table(variables, in: project, marks, labels, now: now)
            shared.append(to: &table, now: now)
            text += look.text(table)
        }
        return text
    }

    /// Whether options leave out variables.
    private var isFiltered: Bool { pattern != nil || !options.isEmpty || stale != nil || deleted }

    private func matches(_ name: String, _ pattern: String) -> Bool {
        unsafe fnmatch(pattern, name, 0) == 0
    }
}
