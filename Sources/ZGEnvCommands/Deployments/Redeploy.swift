internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `redeploy`: builds a deployment's source anew, so that it gets the variables of now.
struct Redeploy: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["redeploy"], "Build a deployment anew with the variables of now", section: "Platform",
        discussion: """
            Without an argument the newest deployment of the target, production by default. A fresh \
            build unless --with-cache. With --wait it ends when the deployment is built and, for \
            production, is the one that serves it. A deployment of uploaded files is built again from \
            those files; it has no newest commit.
            """,
        arguments: [
            ArgumentSpec(
                "DEPLOYMENT", .optional, "An id, a host name or a URL",
                completion: .dynamic(.deployment))
        ],
        options: [
            ScopeOptions.target,
            OptionSpec(flag: "with-cache", "Use what earlier builds kept"),
            OptionSpec(flag: "latest-commit", "Build the newest commit of the branch"),
        ] + DeploymentMaking.Following.options,
        examples: [
            .init("zg-env redeploy -p web --wait --yes", "redeploy production and wait for it"),
            .init("zg-env redeploy -p web --logs", "the same, with its build log"),
        ],
        exitCodes: [ExitCode.deploymentFailed.rawValue] + ExitCode.ofPlatform)

    private let deployment: String?
    private var targets: [String] = []
    private var isLatest = false
    private var usesCache = false
    private let following: DeploymentMaking.Following

    init(_ command: ParsedCommand) {
        deployment = command.argument("DEPLOYMENT")
        targets = command.values("target")
        isLatest = command.has("latest-commit")
        usesCache = command.has("with-cache")
        following = .init(command)
    }

    /// Rebuilds this deployment for its own target, and does not wait for it.
    init(_ deployment: String) { (self.deployment, following) = (deployment, .init()) }

    func run(in workspace: Workspace) throws -> CommandResult {
        try following.check(workspace.options)
        try following.checkLimit()
        let source = try RedeploySource(deployment, for: targets, workspace)
        let deployment = source.named.deployment
        if isLatest, !deployment.hasRepository {
            throw CommandError(
                .usage,
                "\(deployment.id) was made of uploaded files, so there is no newer commit to build.",
                hint: "Nothing was built. Leave --latest-commit out, or deploy the new files.")
        }
        let plan = [
            source.line + (isLatest ? ", from the newest commit" : "")
                + (usesCache ? ", with the build cache" : "")
        ]
        let pending = try source.pending(workspace)
        let lines = plan + (pending?.lines ?? [])
        if try !workspace.confirm(lines, "Redeploy it?") {
            let members = DeploymentListing.members(deployment, current: nil)
            return CommandResult(
                json: .object(members + Self.members(pending) + [.init("dryRun", true)]),
                text: DeploymentListing.would(lines))
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
    /// - Parameter asks: Whether to ask before; a no throws, and what was pushed stays.
    static func afterPush(_ workspace: Workspace, asks: Bool = false) throws -> CommandResult {
        let source = try RedeploySource(productionOf: workspace)
        if asks {
            _ = try workspace.confirm(
                [source.line] + (try source.pending(workspace)?.lines ?? []),
                "Redeploy it?")
        }
        let new = NewDeployment(
            sourceId: source.named.deployment.id, projectName: source.named.project.name,
            target: "production")
        return try make(new, source, .init(waits: true), workspace)
    }

    /// Makes a deployment of what was chosen, follows it as asked, and keeps what is live then.
    private static func make(
        _ new: NewDeployment, _ source: RedeploySource, _ following: DeploymentMaking.Following,
        _ workspace: Workspace
    ) throws -> CommandResult {
        let pending = try source.pending(workspace)
        return try DeploymentMaking(
            named: source.named, following: following, workspace: workspace,
            members: members(pending),
            keepLive: { made in
                // What was gone before this one was asked for is not in it, however close the times are.
                source.named.keepLive(workspace, looks: true) {
                    $0 == made ? pending?.removedRecords ?? [] : []
                }
            }
        ).make(new)
    }

    /// What production gets and loses with it, for scripts; null where the vault does not know.
    private static func members(_ pending: PendingChanges?) -> [JSONValue.Member] {
        [
            .init(
                "changedVariables",
                pending.map { .strings(PendingChanges.names($0.changed)) } ?? .null),
            .init(
                "removedVariables",
                pending.map { .strings(PendingChanges.names($0.removed)) } ?? .null),
        ]
    }
}
