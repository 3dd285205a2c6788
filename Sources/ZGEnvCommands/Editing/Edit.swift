internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Sealing
internal import SystemFiles
internal import Vault

/// `edit`: changes variables in the user's editor, with nothing on the disk.
struct Edit: Command {
    static let spec = CommandSpec(
        ["edit"], "Change variables in an editor", section: "Variables",
        discussion: """
            Opens the variables of the project and target as a .env text in $VISUAL or $EDITOR, or \
            one variable alone. The text is in memory; backups, swap and undo files of vim, nvim, \
            nano, emacs and micro are switched off, and of another editor zg-env says that it does \
            not know them. Then the changes are shown and sealed, all or none; where something would \
            be removed you are asked. A text that cannot be read, and one whose variables somebody \
            else changed meanwhile, can be edited again.

            Without -t a change is for all targets of a variable; with -t for the one named, and the \
            others keep their value. Asks for the passphrase unless the vault is unlocked.
            """,
        arguments: [
            ArgumentSpec(
                "KEY", .optional, "The variable; all of the target without",
                completion: .dynamic(.variable))
        ],
        options: [ScopeOptions.target, ScopeOptions.branch],
        examples: [
            .init("zg-env edit -p web", "edit the variables of development"),
            .init("zg-env edit TLS_KEY -p web -t production", "edit one of them"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let key: String?
    private let options: ScopeOptions

    init(_ command: ParsedCommand) throws {
        key = command.argument("KEY")
        if let key { try VariableName.check(key) }
        options = ScopeOptions(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        try checkTerminal()
        let editor = try Editor(workspace.context)
        var work = try EditWork(workspace, key: key, options)
        if !editor.isKnown {
            workspace.note(
                "zg-env does not know how to keep \(editor.name) from writing copies of what it edits."
            )
        }
        let file = try MemoryFile()
        try work.values.text().withBytes { try file.write($0) }
        try work.audit()
        while true {
            do {
                return try pass(editor, file, work, workspace)
            } catch let end as End {
                throw end.error
            } catch {
                guard mayGoOn(after: error) else { throw error }
                try offerAgain(error)
                try work.reopen(after: error)
            }
        }
    }

    private func checkTerminal() throws {
        do {
            _ = try TerminalDevice()
        } catch {
            throw CommandError(
                .usage, "edit needs a terminal, and there is none.",
                hint: "Change variables with zg-env set or zg-env import instead.")
        }
    }

    /// One run of the editor and what becomes of its text.
    private func pass(
        _ editor: Editor, _ file: MemoryFile, _ work: EditWork, _ workspace: Workspace
    ) throws -> CommandResult {
        let status = try editor.edit(file)
        Interrupts.endIfPending()
        guard status == 0 else {
            throw End(
                error: CommandError(
                    .failed, "\(editor.name) ended with status \(status).",
                    hint: "Nothing was changed."))
        }
        let text = try file.text(limit: DotEnvReader.maximumSize)
        let edited = try EditedText(text, onlyKey: work.values.onlyKey)
        let plan = work.values.plan(edited)
        let report = EditReport(plan, work.values)
        guard !plan.steps.isEmpty else {
            workspace.note("Nothing was changed: the variables are as they were.")
            return report.result(dryRun: workspace.options.dryRun)
        }
        let changed = Set(plan.steps.map(\.key))
        let removes = !plan.steps(.removed).isEmpty
        let asks = removes && !workspace.options.yes && !workspace.options.dryRun
        if asks && workspace.options.json {
            throw End(
                error: CommandError(
                    .usage, "Variables would be removed, and with --json nobody is asked.",
                    hint: "Nothing was changed. Say --yes, or leave out --json."))
        }
        // With --dry-run the plan is the result.
        if !asks && !workspace.options.dryRun {
            for line in report.lines { workspace.note("  \(line)") }
        }
        let question =
            plan.steps(.removed).count == 1
            ? "Seal this, and remove a variable?"
            : "Seal this, and remove \(plan.steps(.removed).count) variables?"
        let answer = try workspace.confirm(removes ? report.lines : [], question)
        if !answer { return report.result(dryRun: true) }
        try work.apply(plan, edited)
        for warning in edited.warnings(about: changed) {
            workspace.context.warn(warning.code, warning.message)
        }
        workspace.note(
            "Sealed \(plan.steps.count == 1 ? "one change" : "\(plan.steps.count) changes") in "
                + "\(work.values.project.name).")
        return report.result(dryRun: false)
    }

    /// An error after which the text is not offered again.
    private struct End: Error {
        let error: CommandError
    }

    /// Whether the text is worth keeping after an error, and another look at it may help.
    private func mayGoOn(after error: any Error) -> Bool {
        switch error {
        case is EditWork.Conflict, is DotEnvError, is ChildProcess.Failure: true
        case let error as VaultError: error.code != .notConfirmed && error.code != .damaged
        // Unreadable, too long, or a removal that was declined.
        case let error as CommandError: error.code == .usage || error.code == .failed
        default: false
        }
    }

    /// Says what kept the text from being sealed, and asks whether to go on.
    ///
    /// - Throws: `error` where the text is to be thrown away, or nobody can say.
    private func offerAgain(_ error: any Error) throws {
        let known = (error as? EditWork.Conflict)?.error ?? CommandError(mapping: error)
        let goesOn: Bool
        do {
            // Not going on is what has to be said: Enter must not lose what was typed.
            goesOn = try !TerminalDevice().confirm("\(known.message) Throw the text away?")
        } catch {
            throw known
        }
        guard goesOn else { throw known }
    }
}
