internal import CommandLineKit
internal import JSON
internal import SystemFiles

/// `try`: shows the main commands on made-up data.
struct Try: Command {
    static let vaultUse = VaultUse(need: .never)
    static let spec = CommandSpec(
        ["try"], "Demonstrate the main commands with made-up data",
        discussion: """
            Runs the main commands in a temporary directory, with zg-env-sandbox, a local server \
            that behaves like Vercel's API. Needs no account, and does not use your vault, keyring \
            or settings. With --shell, prepares the same vault and server, starts your shell, and \
            returns its exit code. Everything is removed at the end, unless the program is \
            killed with SIGKILL.
            """,
        options: [
            OptionSpec(flag: "shell", "Start a shell instead, to try commands yourself")
        ],
        examples: [
            .init("zg-env try", "create a vault, push, and rotate a secret that fails its check"),
            .init("zg-env try --shell", "try commands in a shell"),
        ])
    static let fields = """
        commands: [{ command: string; exitCode: number }]
        With --dry-run:
        commands: [string]; dryRun: true
        """

    private let startsShell: Bool

    init(_ command: ParsedCommand) { startsShell = command.has("shell") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (options, context) = (workspace.options, workspace.context)
        let steps = TrialStep.preparation + (startsShell ? [] : TrialStep.tour)
        if options.dryRun {
            return CommandResult(
                json: ["commands": .strings(steps.map(\.command)), "dryRun": true],
                text: steps.map { "\($0.command)\n" }.joined())
        }
        if startsShell, options.json {
            throw CommandError(.usage, "--shell and --json cannot be used together.")
        }
        // A signal waits until everything is removed.
        let result = Interrupts.deferred {
            Result {
                let trial = try Trial(context)
                let result = Result { try perform(steps, in: trial, workspace) }
                do {
                    try trial.end()
                    if startsShell || Interrupts.pending != nil {
                        workspace.note("The trial is over, and its files are removed.")
                    }
                } catch {
                    context.warn("not-removed", CommandError(mapping: error).message)
                }
                return try result.get()
            }
        }
        Interrupts.endIfPending()
        return try result.get()
    }

    private static func ending(_ count: Int) -> String {
        """

        All \(count) steps passed. Removed the temporary files. Next:
          zg-env try --shell    try commands yourself
          zg-env init           create your own vault

        """
    }

    private func perform(
        _ steps: [TrialStep], in trial: Trial, _ workspace: Workspace
    ) throws -> CommandResult {
        let (options, context) = (workspace.options, workspace.context)
        let isShown = !options.json && !options.quiet && !startsShell
        let look = TerminalStyle(context)
        if isShown {
            try context.output.write(
                sentence:
                    "This demo uses made-up variables in \(trial.directory.path), and a local server in place of Vercel."
            )
        }
        for (index, step) in steps.enumerated() {
            if isShown {
                try context.output.write("\n")
                let title = "\(index + 1). \(step.title)"
                for line in DisplayText.wrapped(title, to: look.width ?? .max) {
                    try context.output.write(look.style.text(line, as: .heading) + "\n")
                }
                try context.output.write("$ \(step.commandLines(width: look.width))\n")
                try context.output.flush()
            }
            // nil after a signal, which ends the process after the clean-up.
            guard let code = try trial.run(step, isShown: isShown) else {
                return CommandResult(json: .null)
            }
            guard code == step.exitCode.rawValue else {
                throw CommandError(
                    .failed,
                    "Step \(index + 1) failed: \(step.command) ended with exit code \(code) instead of \(step.exitCode.rawValue).",
                    hint: "Check this machine with: zg-env doctor --offline")
            }
            if isShown, let remark = step.remark {
                try context.output.write(sentence: "(exit code \(code): \(remark))")
            }
        }
        if startsShell {
            workspace.note(
                "This shell uses a made-up vault with the project web, and a local server in place of Vercel. Start with: zg-env list -p web. End with: exit"
            )
            var result = CommandResult(json: .null)
            result.status = try trial.runShell(context)
            return result
        }
        return CommandResult(
            json: [
                "commands": .array(
                    steps.map {
                        [
                            "command": .string($0.command),
                            "exitCode": .integer(Int64($0.exitCode.rawValue)),
                        ]
                    })
            ],
            text: isShown ? Self.ending(steps.count) : "")
    }
}
