internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `redeploy`: builds a deployment's source again with the current variables.
struct Redeploy: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["redeploy"], "Rebuild a deployment with the current variables",
        discussion: """
            Without an argument, redeploys the newest deployment of the target (default \
            production). The build cache is used only with --with-cache. With --wait, the command \
            ends when the deployment is built and, for production, live. A deployment of uploaded \
            files is built from the same files, so --latest-commit cannot be used.
            """,
        arguments: [
            NamedDeployment.optionalArgument
        ],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "with-cache", "Use the build cache"),
            OptionSpec(flag: "latest-commit", "Build the newest commit of the branch"),
        ] + DeploymentCreator.Following.options(),
        examples: [
            .init(
                "zg-env redeploy -p web --wait --yes",
                "redeploy production and wait until the deployment is live"),
            .init("zg-env redeploy -p web --logs", "redeploy, wait, and show the build log"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofVercel)
    static let fields = "\(madeFields); dryRun?: true"

    private let deployment: String?
    private var targets: [String] = []
    private var isLatest = false
    private var usesCache = false
    private let following: DeploymentCreator.Following

    init(_ command: ParsedCommand) {
        deployment = command.argument("DEPLOYMENT")
        targets = command.values("target")
        isLatest = command.has("latest-commit")
        usesCache = command.has("with-cache")
        following = .init(command)
    }

    /// Redeploys a deployment for its own target without waiting.
    init(_ deployment: String) { (self.deployment, following) = (deployment, .init()) }

    func run(in workspace: Workspace) throws -> CommandResult {
        try following.check(workspace.options)
        try following.checkLimit()
        let source = try RedeploySource(deployment, for: targets, workspace)
        let deployment = source.named.deployment
        if isLatest, !deployment.hasRepository {
            throw CommandError(
                .usage,
                "\(deployment.id) was built from uploaded files, so there is no newer commit to build.",
                hint: "Leave out --latest-commit, or deploy the new files.")
        }
        let plan = [
            source.line + (isLatest ? ", from the newest commit" : "")
                + (usesCache ? ", with the build cache" : "")
        ]
        let pending = try source.pending(workspace)
        let notPushed = try source.notPushed(workspace)
        let notice = RedeploySource.notice(of: notPushed, in: source.named.local)
        let lines =
            plan + (pending?.lines ?? []) + (try source.notices(pending).map(\.message))
            + (notice.map { [$0.message] } ?? [])
        if try !workspace.confirm(lines, "Redeploy this deployment?") {
            let members = DeploymentListing.members(deployment, current: nil)
            return CommandResult(
                json: .object(
                    members + Self.members(pending, notPushed) + [.init("dryRun", true)]),
                text: DeploymentListing.would(lines))
        }
        if let notice, workspace.options.yes {
            workspace.context.warn(notice.code, notice.message)
        }
        var new = NewDeployment(
            sourceId: deployment.id, projectName: source.named.project.name,
            target: source.apiTarget)
        new.customEnvironment = source.customEnvironment
        new.usesCache = usesCache
        new.usesLatestCommit = isLatest
        return try Self.make(new, source, following, workspace)
    }

    /// Redeploys production after a push, and waits for it.
    ///
    /// - Parameter confirmed: What was asked about before the push. Asks again if somebody has
    ///   deployed something else since. Nil if no question is needed.
    static func afterPush(
        _ workspace: Workspace, confirmed: RedeploySource? = nil
    ) throws -> CommandResult {
        let source = try RedeploySource(productionOf: workspace)
        if let confirmed, confirmed.named.deployment.id != source.named.deployment.id {
            _ = try workspace.confirm(
                try source.plan(workspace), "Production has a newer deployment. Redeploy that one?")
        }
        let new = NewDeployment(
            sourceId: source.named.deployment.id, projectName: source.named.project.name,
            target: "production")
        return try make(new, source, .init(waits: true), workspace)
    }

    /// Creates the deployment, follows it, and notes what is live.
    private static func make(
        _ new: NewDeployment, _ source: RedeploySource, _ following: DeploymentCreator.Following,
        _ workspace: Workspace
    ) throws -> CommandResult {
        let pending = try source.pending(workspace)
        try source.warn(pending, workspace)
        var deployment: String?
        let result = try DeploymentCreator(
            named: source.named, following: following, workspace: workspace,
            members: members(pending, try source.notPushed(workspace)),
            noteLive: { made in
                deployment = made
                // It was built without the records removed before the request, however close the times.
                return source.named.noteLive(workspace, looks: true) {
                    $0 == made ? pending?.removedRecords ?? [] : []
                }
            }
        ).make(new)
        guard following.waits, result.failure == nil, let deployment,
            let declared = DeclaredAndLive(
                deployment, for: source.targetName, of: source.named, workspace)
        else { return result }
        workspace.note(declared.line)
        return result.with("declared", declared.json)
    }

    static let madeFields = """
        \(DeploymentListing.fields); previous?: string | null (the deployment that was live)
        changedVariables, removedVariables, notPushed: [string] | null (null if unknown)
        declared?: \(DeclaredAndLive.fields)
        """

    /// The changes that production gets, and what it does not get, for scripts; null if the vault does
    /// not know them.
    private static func members(
        _ pending: PendingChanges?, _ notPushed: [String]?
    ) -> [JSONValue.Member] {
        [
            .init(
                "changedVariables",
                pending.map { .strings(PendingChanges.names($0.changed)) } ?? .null),
            .init(
                "removedVariables",
                pending.map { .strings(PendingChanges.names($0.removed)) } ?? .null),
            .init("notPushed", notPushed.map { .strings($0) } ?? .null),
        ]
    }
}
