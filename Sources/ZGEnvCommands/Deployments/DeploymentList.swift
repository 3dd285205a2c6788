internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// `deployment list`: lists the newest deployments of a project.
struct DeploymentList: Command {
    static let vaultUse = VaultUse(need: .withoutToken, picksProject: true)
    static let spec = CommandSpec(
        ["deployment", "list"], "List the deployments of a project",
        discussion: """
            Lists the newest deployments first and marks the live deployment. A response from \
            Vercel is reused for a minute. If Vercel cannot be reached, an older response is used, \
            with a warning. --refresh always asks Vercel; --offline never does.
            """,
        options: [
            OptionSpec(
                "target", short: "t", value: "TARGET",
                "Only deployments for TARGET, which may be a custom environment"),
            OptionSpec(
                "branch", short: "b", value: "NAME", "Only deployments built from git branch NAME"),
            OptionSpec(
                "author", value: "NAME",
                "Only deployments with this commit author or creator"),
            OptionSpec(
                "state", value: "STATE", "Only deployments in STATE, such as READY or BUILDING"),
            OptionSpec(flag: "failed", "Only failed, canceled and blocked deployments"),
            OptionSpec(
                "limit", value: "N", "List at most N (default 20)",
                form: .integer(1...1_000)),
        ],
        exclusive: [["state", "failed"]],
        examples: [
            .init("zg-env deployment list -p web -t production", "list production deployments"),
            .init("zg-env deployment list -p web --failed --limit 5", "list the last failures"),
            .init("zg-env deployment list -p web -b feature", "list the deployments of a branch"),
        ],
        exitCodes: ExitCode.ofVercel, aliases: [["deployments"], ["deployment", "ls"]])
    static let fields =
        "project: string; asOf: time; deployments: [{ \(DeploymentListing.listedFields) }]"

    private let filter: DeploymentListFilter

    init(_ command: ParsedCommand) throws { filter = try DeploymentListFilter(command) }

    func run(in workspace: Workspace) throws -> CommandResult {
        let begun = workspace.context.now()
        let (found, name) = try answer(workspace)
        let deployments = filter.applied(to: found.answer.deployments)
        let truncationWarning = filter.truncationWarning(
            found: deployments.count, of: found.answer.deployments.count)
        if let truncationWarning { workspace.context.warn("not-all", truncationWarning) }
        if deployments.isEmpty {
            workspace.note(
                filter.isOpen
                    ? "\(name) has no deployments." : "No deployment of \(name) matches.")
        }
        noteAge(of: found, since: begun, workspace)
        if found.answer.isRolledBack == true {
            workspace.note(ProductionSwitch.rolledBack)
        }
        let look = TerminalStyle(workspace.context)
        let current = found.answer.current
        return CommandResult(
            json: [
                "project": .string(name), "asOf": .time(orNull: Int64(clamping: found.askedAt)),
                "deployments": .array(
                    deployments.map {
                        .object(DeploymentListing.listed($0, current: $0.id == current))
                    }),
            ],
            text: DeploymentListing.table(
                deployments, current: current, now: workspace.context.now()
            ).text(width: look.width, style: look.style))
    }

    /// Says how old a cached response is, unless a warning has said so.
    private func noteAge(
        of found: VercelResponses.Timed<DeploymentsResponse>, since begun: UInt64,
        _ workspace: Workspace
    ) {
        guard found.askedAt < begun,
            !workspace.context.warnings.contains(where: { $0.code == "stale-answer" })
        else { return }
        let age = TimeText.age(of: Int64(clamping: found.askedAt), at: Int64(clamping: begun))
        workspace.note("Cached response (\(age)). To ask Vercel again, add --refresh.")
    }

    /// Returns the cached or current response, and the project's name.
    private func answer(
        _ workspace: Workspace
    ) throws -> (VercelResponses.Timed<DeploymentsResponse>, name: String) {
        let answers = try VercelResponses(workspace)
        guard let index = answers.index, let project = try known(index, workspace) else {
            let askedAt = workspace.context.now()
            let bound = try LinkedProject.anywhere(workspace)
            let platform = bound.platform
            let answer = try ask(
                bound.access.client, platform.id,
                knowing: platform.assignsDomains == true ? platform : nil)
            return (.init(answer: answer, askedAt: askedAt), bound.platform.name)
        }
        // An unbound project must first be found on Vercel.
        guard let binding = try project.binding ?? LinkedProject.inVault(workspace).local?.binding
        else { throw ProjectResolver.notFound(project.name, in: index) }
        let found: VercelResponses.Timed<DeploymentsResponse> = try answers.answer(
            to: .deployments(project: binding.projectID, filter: filter.text), binding
        ) { access in
            try LinkedProject.check(
                binding, of: project.name, origin: access.client.origin, account: access.account,
                workspace)
            return try ask(access.client, binding.projectID)
        }
        return (found, project.name)
    }

    /// Returns the project from the vault, or nil if it has none.
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
        _ client: VercelClient, _ id: String, knowing known: Project? = nil
    ) throws -> DeploymentsResponse {
        let platform = try known ?? client.project(id, withRollbackInfo: true)
        return DeploymentsResponse(
            current: platform.production?.id,
            deployments: try client.deployments(filter.request(project: id)),
            isRolledBack: platform.isRolledBack)
    }
}

/// The filter of `deployment list`.
struct DeploymentListFilter {
    private let target: String?
    private let branch: String?
    private let author: String?
    private let states: [Deployment.State]
    private let limit: Int

    /// The number of deployments searched for an author, whom Vercel's API can only filter by id.
    private static let searched = 500

    private static let known: [Deployment.State] = [
        .queued, .initializing, .building, .ready, .error, .canceled, .blocked,
    ]

    /// Throws ``ExitCode/usage`` for an invalid target or state.
    init(_ command: ParsedCommand) throws {
        target = command.value("target")
        if let target {
            try TargetName.check(target)
            guard target != "development" else {
                throw CommandError(
                    .usage, "There are no deployments for development.",
                    hint: "Use -t with production, preview or a custom environment.")
            }
        }
        limit = command.integer("limit") ?? 20
        branch = command.value("branch")
        author = command.value("author")
        if command.has("failed") {
            states = [.error, .canceled, .blocked]
        } else if let word = command.value("state") {
            guard let state = Self.known.first(where: { $0.rawValue == word.uppercased() }) else {
                // Does not repeat the text, which may be a value typed in the wrong place.
                throw CommandError(
                    .usage, "Not a valid deployment state.",
                    hint: "The states are \(Self.known.map(\.rawValue).joined(separator: ", ")).")
            }
            states = [state]
        } else {
            states = []
        }
    }

    /// Whether nothing is filtered.
    var isOpen: Bool { target == nil && states.isEmpty && branch == nil && author == nil }

    /// Returns the warning that older deployments of an author may exist, or nil.
    func truncationWarning(found: Int, of searched: Int) -> String? {
        guard let author, searched >= Self.searched, found < limit else { return nil }
        return "Searched only the newest \(Self.searched) deployments for those by \(author)."
    }

    /// The filter as part of a cache key.
    var text: String {
        let parts = ["\(limit)", states.map(\.rawValue).joined(separator: ","), target ?? ""]
        guard branch != nil || author != nil else { return parts.joined(separator: " ") }
        // Names may contain spaces, and no filter differs from an empty name.
        return (parts + [branch.map { "b\($0)" } ?? "", author.map { "a\($0)" } ?? ""])
            .joined(separator: "\u{0}")
    }

    /// Returns the filter of the API request.
    func request(project: String) -> DeploymentFilter {
        var filter = DeploymentFilter(
            project: project, target: target,
            limit: author == nil ? limit : max(limit, Self.searched))
        filter.states = states
        filter.branch = branch
        return filter
    }

    /// Filters a response, without relying on Vercel's own filtering.
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
