internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// `deployment list`: the newest deployments of a project.
struct DeploymentList: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "list"], "List the deployments of a project", section: "Platform",
        discussion: """
            Newest first; the one that serves production is marked as live. What the platform said \
            within the last minute is shown without asking again, and what it said before where it \
            cannot be reached; then a warning says how old that is. --refresh asks in any case, and \
            --offline never.
            """,
        options: [
            OptionSpec(
                "target", short: "t", value: "TARGET",
                "Only those for this target or custom environment"),
            OptionSpec(
                "branch", short: "b", value: "NAME", "Only those built from this branch"),
            OptionSpec(
                "author", value: "NAME",
                "Only those of this author of the commit, or made by this user"),
            OptionSpec(
                "state", value: "STATE", "Only those in this state, such as READY or BUILDING"),
            OptionSpec(flag: "failed", "Only those that ended without being built"),
            OptionSpec(
                "limit", value: "N", "List this many at most: 20 by default",
                form: .integer(1...1_000)),
        ],
        exclusive: [["state", "failed"]],
        examples: [
            .init("zg-env deployment list -p web -t production", "what was deployed to production"),
            .init("zg-env deployment list -p web --failed --limit 5", "the last failures"),
            .init("zg-env deployment list -p web -b feature", "what was built of a branch"),
        ],
        exitCodes: ExitCode.ofPlatform, aliases: [["deployment", "ls"]])

    private let filter: DeploymentListFilter

    init(_ command: ParsedCommand) throws { filter = try DeploymentListFilter(command) }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (found, name) = try answer(workspace)
        let deployments = filter.applied(to: found.answer.deployments)
        let shortfall = filter.shortfall(
            found: deployments.count, of: found.answer.deployments.count)
        if let shortfall { workspace.context.warn("not-all", shortfall) }
        if deployments.isEmpty {
            workspace.note(
                filter.isOpen
                    ? "\(name) has no deployment." : "No deployment of \(name) matches.")
        }
        let look = OutputLook(workspace.context)
        let current = found.answer.current
        return CommandResult(
            json: [
                "project": .string(name), "asOf": .time(orNull: Int64(clamping: found.askedAt)),
                "deployments": .array(
                    deployments.map {
                        DeploymentListing.listed($0, current: $0.id == current)
                    }),
            ],
            text: DeploymentListing.table(
                deployments, current: current, now: workspace.context.now()
            ).text(width: look.width, style: look.style))
    }

    /// The answer, kept or of now, and what the project is called.
    private func answer(
        _ workspace: Workspace
    ) throws -> (PlatformAnswers.Timed<DeploymentsAnswer>, name: String) {
        let answers = try PlatformAnswers(workspace)
        guard let index = answers.index, let project = try known(index, workspace) else {
            let askedAt = workspace.context.now()
            let bound = try BoundProject.anywhere(workspace)
            let answer = try ask(bound.access.client, bound.platform)
            return (.init(answer: answer, askedAt: askedAt), bound.platform.name)
        }
        // Which of the platform's projects it is, only the platform can tell the first time.
        guard let binding = try project.binding ?? BoundProject.inVault(workspace).local?.binding
        else { throw ProjectResolver.notFound(project.name, in: index) }
        let found: PlatformAnswers.Timed<DeploymentsAnswer> = try answers.answer(
            to: .deployments(project: binding.projectID, filter: filter.text), binding
        ) { access in
            try BoundProject.check(
                binding, of: project.name, origin: access.client.origin, account: access.account,
                workspace)
            let platform = try access.client.project(binding.projectID)
            return try ask(access.client, platform)
        }
        return (found, project.name)
    }

    /// The vault's project; nil where the vault has none.
    private func known(
        _ index: VaultIndex, _ workspace: Workspace
    ) throws -> VaultProject? {
        do {
            return try ProjectResolver(workspace).existing(in: index)
        } catch let error as CommandError where error.code == .notFound {
            return nil
        }
    }

    private func ask(
        _ client: VercelClient, _ platform: Project
    ) throws -> DeploymentsAnswer {
        DeploymentsAnswer(
            current: platform.production?.id,
            deployments: try client.deployments(filter.request(project: platform.id)))
    }
}

/// Which deployments `deployment list` shows.
struct DeploymentListFilter {
    private let target: String?
    private let branch: String?
    private let author: String?
    private let states: [Deployment.State]
    private let limit: Int

    /// How many deployments are looked through for those of an author, whom the platform knows by
    /// an id only.
    private static let searched = 500

    private static let known: [Deployment.State] = [
        .queued, .initializing, .building, .ready, .error, .canceled, .blocked,
    ]

    /// - Throws: ``ExitCode/usage`` for a target that has no deployments, or no state.
    init(_ command: ParsedCommand) throws {
        target = command.value("target")
        if let target {
            try TargetName.check(target)
            guard target != "development" else {
                throw CommandError(
                    .usage, "There are no deployments for development.",
                    hint: "A deployment is for production, preview or one custom environment.")
            }
        }
        limit = command.integer("limit") ?? 20
        branch = command.value("branch")
        author = command.value("author")
        if command.has("failed") {
            states = [.error, .canceled, .blocked]
        } else if let word = command.value("state") {
            guard let state = Self.known.first(where: { $0.rawValue == word.uppercased() }) else {
                // Not repeated: what stands in the place of a setting may be a value gone astray.
                throw CommandError(
                    .usage, "That is no state of a deployment.",
                    hint: "The states are \(Self.known.map(\.rawValue).joined(separator: ", ")).")
            }
            states = [state]
        } else {
            states = []
        }
    }

    /// Tells whether it lets everything through.
    var isOpen: Bool { target == nil && states.isEmpty && branch == nil && author == nil }

    /// What is said where an author's deployments may go back further than was looked.
    func shortfall(found: Int, of looked: Int) -> String? {
        guard let author, looked >= Self.searched, found < limit else { return nil }
        return "Those of \(author) are from the newest \(Self.searched) deployments; "
            + "older ones were not looked at."
    }

    /// The filter as a part of an answer's address: other filters have other answers.
    var text: String {
        let parts = ["\(limit)", states.map(\.rawValue).joined(separator: ","), target ?? ""]
        guard branch != nil || author != nil else { return parts.joined(separator: " ") }
        // Names may hold blanks, and "none" is another filter than an empty name.
        return (parts + [branch.map { "b\($0)" } ?? "", author.map { "a\($0)" } ?? ""])
            .joined(separator: "\u{0}")
    }

    /// What to ask for.
    func request(project: String) -> DeploymentFilter {
        var filter = DeploymentFilter()
        filter.projectId = project
        filter.target = target
        filter.states = states
        filter.branch = branch
        filter.limit = author == nil ? limit : max(limit, Self.searched)
        return filter
    }

    /// What is left of an answer: the platform is not relied on to have filtered it.
    func applied(to deployments: [Deployment]) -> [Deployment] {
        Array(
            deployments.filter { deployment in
                (states.isEmpty || states.contains(deployment.state))
                    && (target == nil || DeploymentListing.target(of: deployment) == target)
                    && (branch == nil || deployment.branch == branch) && isByAuthor(deployment)
            }.prefix(limit))
    }

    private func isByAuthor(_ deployment: Deployment) -> Bool {
        guard let author = author?.lowercased() else { return true }
        return deployment.authorNames.contains { $0.lowercased() == author }
    }
}
