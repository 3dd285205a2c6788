internal import CommandLineKit

/// `rotate`: replaces a value everywhere it is used, and proves the new one or reverts.
struct Rotate: Command {
    static let spec = CommandSpec(
        ["rotate"], "Replace a value everywhere and verify that it is live",
        discussion: """
            Generates or reads the new value, installs it with --apply, pushes it to each project \
            and reads it back. Then, depending on the options, redeploys, waits until the new \
            value is live, checks it, and revokes the old value. If a step fails, the old value is restored. \
            Commands run in /bin/sh without a terminal. --apply and --check get the new value on \
            stdin and the old one on descriptor 3; --revoke, and both during a revert, get the old \
            one on stdin. ZG_ENV_STEP, ZG_ENV_KEY and ZG_ENV_PROJECT are set, in --check also \
            ZG_ENV_DEPLOYMENT_ID and ZG_ENV_DEPLOYMENT_URL. Each step is recorded in the \
            vault before it runs: continue an interrupted rotation with --resume, or revert it \
            with --abort.
            """,
        arguments: [
            ArgumentSpec("KEY", .optional, "The variable", completion: .dynamic(.variable))
        ],
        options: [
            ScopeOptions.target,
            OptionSpec(
                "also-project", value: "P", "Also rotate the variable in project P",
                repeatable: true, commaSeparated: true, completion: .dynamic(.project)),
            OptionSpec(
                flag: "everywhere", "Rotate the variable in every project where it has this value"),
            OptionSpec("from-command", value: "CMD", "Use the output of CMD as the new value"),
            OptionSpec(
                "apply", value: "CMD", "Run CMD to install the new value, or the old one on revert"),
            OptionSpec(flag: "redeploy", "Redeploy, and wait until the value is live"),
            OptionSpec(
                flag: "promote", "With --redeploy: promote staged production deployments"),
            OptionSpec(
                "check", value: "CMD", "Run CMD to check each deployment, also after a revert"),
            OptionSpec(
                "check-url", value: "URL", "Check each deployment by requesting this URL or path"),
            OptionSpec(
                "check-status", value: "N", "HTTP status that --check-url expects (default 200)",
                form: .integer(100...599)),
            OptionSpec("revoke", value: "CMD", "Run CMD to revoke the old value at the end"),
            OptionSpec(
                "on-failure", value: "WHAT",
                "Roll back or keep the changes if a step fails (default rollback)",
                form: .oneOf(["rollback", "keep"])),
            OptionSpec(
                "timeout", value: "TIME",
                "Give up on a deployment or command after TIME (default 15m)",
                form: .duration),
            OptionSpec(
                flag: "allow-missing", "Rotate even if the vault has no old value to restore"),
            OptionSpec(
                flag: "check-schema",
                "Fail if the new value is invalid or a required variable is missing"),
            OptionSpec(
                "plan", value: "FILE", "Run the rotations listed in FILE, one after another",
                completion: .file),
            OptionSpec(
                "exposed-to", value: "WHO",
                "With --plan: only what WHO, who left a group, knows; show what FILE lacks"),
            OptionSpec(
                "plan-skeleton", value: "NEW",
                "With --exposed-to: only write recipes to complete for what the plan lacks",
                completion: .file),
            OptionSpec(flag: "resume", "Resume an interrupted or stopped rotation"),
            OptionSpec(flag: "abort", "Restore the old value everywhere"),
            OptionSpec(flag: "status", "Show unfinished and past rotations"),
            OptionSpec(flag: "close", "Close an unfinished rotation and change nothing else"),
            OptionSpec(
                flag: "take-over", "End a colleague's rotation of KEY that was given up"),
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

    private enum Action {
        case status, resume, abort, close, takeOver
        /// Runs the rotations of this file; the input options set the checks of their values.
        case plan(String, ValueInput, checksSchema: Bool, exposedTo: String?)
        /// Writes recipes for what somebody knows and a plan file lacks.
        case skeleton(String, plan: String?, exposedTo: String)
        case rotate(RotationRequest)
    }

    private let key: String?
    private let action: Action

    init(_ command: ParsedCommand) throws {
        key = command.argument("KEY")
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
        workspace.session.isRotating = true
        let work = RotationWork(workspace: workspace)
        switch action {
        case .status: return try RotationStatus.result(key, workspace)
        case .resume: return try work.continueOpen(key, .resume)
        case .abort: return try work.continueOpen(key, .abort)
        case .close: return try RotationStatus.close(key, workspace)
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
