internal import CommandLineKit

/// `rotate`: a new value, everywhere it is used, redeployed, proved live, or put back.
struct Rotate: Command {
    static let spec = CommandSpec(
        ["rotate"], "Replace a secret everywhere, prove that it is live, or put the old one back",
        section: "Platform",
        discussion: """
            Makes or takes the new value, teaches it with --apply, pushes it to every project, reads \
            it back, redeploys, waits until it is live, proves it, and ends the old one with --revoke. \
            When a step fails the old value is put back. Commands are run by /bin/sh and get the \
            values on stdin and descriptor 3, never in their arguments or environment, and have no \
            terminal. Every step is in the vault before it is done: a rotation that was cut short goes on with --resume, or \
            back with --abort.
            """,
        arguments: [
            ArgumentSpec("KEY", .optional, "The variable", completion: .dynamic(.variable))
        ],
        options: [
            ScopeOptions.target,
            OptionSpec(
                "also-project", value: "P", "Rotate it in this project too", repeatable: true,
                commaSeparated: true, completion: .dynamic(.project)),
            OptionSpec(flag: "everywhere", "Rotate it in every project that has this value"),
            OptionSpec("from-command", value: "CMD", "Take what this command prints for the value"),
            OptionSpec(
                "apply", value: "CMD", "Have this command teach the new value, or the old one again"
            ),
            OptionSpec(flag: "redeploy", "Redeploy, and wait until it is live"),
            OptionSpec(
                flag: "promote", "With --redeploy: promote it where production is staged"),
            OptionSpec("check", value: "CMD", "Have this command prove each deployment"),
            OptionSpec(
                "check-url", value: "URL", "Prove each deployment by this address, or path of it"),
            OptionSpec(
                "check-status", value: "N", "The status that proves it: 200 by default",
                form: .integer(100...599)),
            OptionSpec("revoke", value: "CMD", "Have this command end the old value, at the end"),
            OptionSpec(
                "on-failure", value: "WHAT",
                "Put the old value back (default), or keep what is there",
                form: .oneOf(["rollback", "keep"])),
            OptionSpec(
                "timeout", value: "TIME",
                "Longest time of one deployment or command: 15m by default",
                form: .duration),
            OptionSpec(flag: "allow-missing", "Go on without an old value to go back to"),
            OptionSpec(
                "plan", value: "FILE", "Do the rotations of this file, one after the other",
                completion: .file),
            OptionSpec(flag: "resume", "Go on with a rotation that was cut short or stopped"),
            OptionSpec(flag: "abort", "Bring the old value back everywhere"),
            OptionSpec(flag: "status", "Show rotations, open and ended"),
            OptionSpec(flag: "close", "End an open rotation as it stands; changes nothing else"),
        ] + ValueInput.options,
        exclusive: [
            ["from-file", "generate", "prompt", "from-command"],
            ["resume", "abort", "status", "close", "plan"],
        ],
        examples: [
            .init(
                "zg-env rotate API_KEY -p web --generate hex:32 --redeploy",
                "replace it and wait until it is live"),
            .init("zg-env rotate --status", "see what was rotated, and what is open"),
        ],
        exitCodes: [ExitCode.rolledBack.rawValue, ExitCode.needsAttention.rawValue]
            + ExitCode.ofPlatform)

    private enum Action {
        case status, resume, abort, close
        /// The rotations of this file, and what is checked of their values.
        case plan(String, ValueInput)
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
        } else if let path = command.value("plan") {
            guard key == nil else {
                throw CommandError(
                    .usage,
                    "The plan's file names the variables; another one beside it is not rotated.",
                    hint: "Nothing was changed. Leave out KEY, or --plan.")
            }
            action = .plan(path, ValueInput(command))
        } else {
            action = .rotate(try RotationRequest(command))
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        workspace.session.isRotating = true
        let work = RotationWork(workspace: workspace)
        switch action {
        case .status: return try RotationStatus.result(key, workspace)
        case .resume: return try work.continueOpen(key, .resume)
        case .abort: return try work.continueOpen(key, .abort)
        case .close: return try RotationStatus.close(key, workspace)
        case .plan(let path, let input):
            return try PlannedRotations(path, input, workspace).result()
        case .rotate(let request): return try work.rotate(request)
        }
    }
}
