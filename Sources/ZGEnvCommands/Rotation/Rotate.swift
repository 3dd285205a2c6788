internal import CommandLineKit

/// `rotate`: replaces a value everywhere it is used, and proves the new one or reverts.
struct Rotate: Command {
    static let vaultUse = VaultUse(changesRotated: true)
    static let spec = CommandSpec(
        ["rotate"], "Replace a value everywhere and verify that it is live",
        discussion: """
            Generates or reads the new value, installs it with --apply, pushes it to each project \
            and reads it back. Then, depending on the options, redeploys, waits until the new \
            value is live, checks it, and revokes the old value. If a step fails, the old value is restored. \
            Commands run in /bin/sh without a terminal. --apply and --check get the new value on \
            stdin and the old one on descriptor 3; --revoke gets the old value on stdin; on revert, all \
            three do. ZG_ENV_STEP, ZG_ENV_KEY and ZG_ENV_PROJECT are set, in --check also \
            ZG_ENV_DEPLOYMENT_ID and ZG_ENV_DEPLOYMENT_URL. Each step is recorded in the \
            vault before it runs: continue an interrupted rotation with --resume, or revert it \
            with --abort.

            Recipes for PostgreSQL, API keys and signing keys are in \(RecipeDirectory.location)
            """,
        arguments: [
            ArgumentSpec("KEY", .optional, "The variable", completion: .dynamic(.variable))
        ],
        options: RotationRequest.specs + [
            OptionSpec(
                flag: "check-schema",
                "Fail if the new value is invalid or a required variable is missing"),
            OptionSpec(
                "plan", value: "FILE", "Run the rotations listed in FILE, one after another",
                completion: .file),
            OptionSpec(
                "exposed-to", value: "WHO",
                "With --plan: rotate only what former member WHO could read; list what FILE does not cover"
            ),
            OptionSpec(
                "plan-skeleton", value: "NEW",
                "With --exposed-to: write only recipe templates, to be completed, for variables that the plan does not cover",
                completion: .file),
            OptionSpec(flag: "resume", "Resume an interrupted or stopped rotation"),
            OptionSpec(flag: "abort", "Restore the old value everywhere"),
            OptionSpec(flag: "status", "Show unfinished and past rotations"),
            OptionSpec(flag: "close", "Close an unfinished rotation and change nothing else"),
            OptionSpec(
                flag: "take-over", "End an abandoned rotation of KEY that a colleague started"),
        ] + ValueInput.options,
        exclusive: [
            ["from-file", "generate", "prompt", "from-command"],
            ["resume", "abort", "status", "close", "take-over", "plan"],
        ],
        examples: [
            .init(
                "zg-env rotate API_KEY -p web --generate hex:32 --redeploy",
                "replace API_KEY and wait until the new value is live"),
            .init("zg-env rotate --status", "list past and unfinished rotations"),
        ],
        exitCodes: [ExitCode.rolledBack.rawValue, ExitCode.needsAttention.rawValue]
            + ExitCode.ofVercel)
    static let fields = """
        \(RotationReport.fields); dryRun?: boolean
        With --dry-run, for a new rotation:
        key: string; projects: [{ \(RotationReport.projectFields) }]; outcome: null; dryRun: true
        With --plan:
        rotations: [{ \(PlannedRotations.fields) }]; exposedTo?: string (with --exposed-to)
        missing?: [{zg-env exposure, variables}] (what the plan does not cover)
        exposure?: null | {zg-env group exposure}
        With --plan-skeleton:
        path: string; rotations: number; dryRun: boolean
        With --status:
        rotations: [{zg-env rotate}]
        colleagues: [{ (who began to rotate a shared variable)
            key, project, author: string; startedAt: time
        }]
        With --take-over:
        key, project: string; authors: [string]; dryRun: boolean
        """

    private enum Action {
        case status, resume, abort, close, takeOver
        /// Runs the rotations of this file; the input options set the checks of their values.
        case plan(String, ValueInput, checksSchema: Bool, exposedTo: String?)
        /// Writes recipes for what somebody knows and a plan file lacks.
        case skeleton(String, plan: String?, exposedTo: String)
        case rotate(RotationRequest)
    }

    private let key: String?
    /// The targets of the open rotation that is meant.
    private let targets: ScopeOptions
    private let action: Action

    init(_ command: ParsedCommand) throws {
        try Self.checkOptions(command)
        key = command.argument("KEY")
        targets = ScopeOptions(targetsOf: command)
        if command.has("status") {
            action = .status
        } else if command.has("resume") {
            action = .resume
        } else if command.has("abort") {
            action = .abort
        } else if command.has("close") {
            action = .close
        } else if command.has("take-over") {
            action = .takeOver
        } else if let path = command.value("plan") ?? command.value("plan-skeleton") {
            guard key == nil else {
                throw CommandError(
                    .usage,
                    "KEY and --plan cannot be used together.",
                    hint: "The plan file lists the variables. Leave out KEY or --plan.")
            }
            action = try Self.plan(path, command)
        } else {
            if command.value("exposed-to") != nil {
                throw CommandError(.usage, "--exposed-to needs --plan FILE or --plan-skeleton NEW.")
            }
            action = .rotate(try RotationRequest(command))
        }
    }

    /// Refuses the options of a new rotation beside one that continues another or takes them from a file.
    private static func checkOptions(_ command: ParsedCommand) throws {
        let actions = ["resume", "abort", "status", "close", "take-over", "plan", "plan-skeleton"]
        guard let action = actions.first(where: { command.has($0) }) else { return }
        let allowed =
            switch action {
            case "plan": ["check-schema", "exposed-to", "strict"]
            case "plan-skeleton": ["exposed-to"]
            case "resume", "abort", "close": ["target"]
            default: [String]()
            }
        let options = RotationRequest.specs + ValueInput.options
        // A plan file has the project of each rotation.
        let names =
            options.map(\.name) + ["check-schema", "exposed-to"]
            + (action.hasPrefix("plan") ? ["project"] : [])
        if let name = names.first(where: { command.has($0) && !allowed.contains($0) }) {
            throw CommandError(
                .usage, "--\(name) cannot be used with --\(action).",
                hint: action == "plan" ? "Set it for each rotation in the plan file." : nil)
        }
    }

    private static func plan(_ path: String, _ command: ParsedCommand) throws -> Action {
        let who = command.value("exposed-to")
        guard let new = command.value("plan-skeleton") else {
            return .plan(
                path, ValueInput(command), checksSchema: command.has("check-schema"),
                exposedTo: who)
        }
        guard let who else {
            throw CommandError(.usage, "--plan-skeleton needs --exposed-to WHO.")
        }
        return .skeleton(new, plan: command.value("plan"), exposedTo: who)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let work = RotationWork(workspace: workspace)
        switch action {
        case .status: return try RotationStatus.result(key, workspace)
        case .resume: return try work.continueOpen(try work.open(key, targets), .resume)
        case .abort: return try work.continueOpen(try work.open(key, targets), .abort)
        case .close: return try RotationStatus.close(try work.open(key, targets), workspace)
        case .takeOver: return try RotationNotices(workspace).takeOver(key)
        case .plan(let path, let input, let checksSchema, let who):
            return try PlannedRotations(
                path, input, checksSchema: checksSchema,
                only: try who.map { try ExposedRotations($0, workspace) }, workspace
            ).result()
        case .skeleton(let new, let plan, let who):
            return try ExposedRotations(who, workspace).writeSkeleton(
                to: new, besides: try plan.map { try RotationPlanFile($0).requests } ?? [])
        case .rotate(let request): return try work.rotate(request)
        }
    }
}
