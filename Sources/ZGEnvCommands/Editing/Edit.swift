internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import SystemFiles
internal import Vault

struct Edit: Command {
    static let vaultUse = VaultUse(picksProject: true)
    static let spec = CommandSpec(
        ["edit"], "Change variables in an editor",
        discussion: """
            Opens the variables of a project or of a target (-t), or a single variable, as .env \
            text in $VISUAL or $EDITOR. The text stays in memory and is never written to disk. The \
            backup, swap and undo files of vim, nvim, nano, emacs and micro are disabled; zg-env \
            warns about other editors. The changes are then shown, and either all or none of them \
            are saved; removals need confirmation. If the text has errors, or someone else has \
            since changed the variables, you can edit the text again.

            Without -t, shows the variables that have a single value for all their targets; a \
            change applies to all of these targets. With -t, a change applies only to that target. \
            A value that does not fit on a .env line is edited on its own. Asks for the passphrase unless the \
            vault is unlocked.
            """,
        arguments: [
            ArgumentSpec(
                "KEY", .optional, "The variable (default: all variables)",
                completion: .dynamic(.variable))
        ],
        options: [ScopeOptions.target, ScopeOptions.branch],
        examples: [
            .init("zg-env edit -p web", "edit the variables of a project"),
            .init("zg-env edit TLS_KEY -p web -t production", "edit one production variable"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict, .unauthorized))
    static let fields = """
        project: string; place: string (the targets)
        created, updated, removed: [{ \(JSONValue.entryFields) }]; unchanged: [string]
        dryRun?: true
        """

    private let key: String?
    private let options: ScopeOptions

    /// Edits one variable in all of a scope.
    init(_ key: String, in scope: Scope) {
        self.key = key
        options = ScopeOptions(scope)
    }

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
                "zg-env does not know how to stop \(editor.name) from writing backup or swap files."
            )
        }
        let advice = try work.advice()
        if let key, let remark = advice?.items[key]?.remark {
            workspace.note("\(key): \(remark)")
        }
        if work.values.isRaw, let key {
            workspace.note(
                "\(key) does not fit on a .env line, so the editor shows only its value.")
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
                guard mayRetry(after: error) else { throw error }
                try offerRetry(error)
                try work.reopen(after: error)
            }
        }
    }

    private func checkTerminal() throws {
        do {
            _ = try TerminalDevice()
        } catch {
            throw CommandError(
                .usage, "edit needs a terminal.", hint: "Use zg-env set or zg-env import instead.")
        }
    }

    /// Runs the editor once and saves the changes.
    private func pass(
        _ editor: Editor, _ file: MemoryFile, _ work: EditWork, _ workspace: Workspace
    ) throws -> CommandResult {
        let status: Int32
        do {
            status = try editor.edit(file, named: work.values.fileName)
        } catch let error as CommandError {
            // The edits are gone, so there is no text to offer again.
            throw End(error: error)
        }
        Interrupts.endIfPending()
        guard status == 0 else {
            throw End(
                error: CommandError(
                    .failed, "\(editor.name) exited with code \(status).",
                    hint: "Your edits were not saved."))
        }
        let text = try file.text(limit: DotEnvReader.maximumSize)
        let edited = try work.values.edited(text, workspace)
        let plan = work.values.plan(edited)
        let report = EditReport(plan: plan, values: work.values)
        guard !plan.steps.isEmpty else {
            workspace.note("No changes.")
            return report.result(dryRun: workspace.options.dryRun)
        }
        let changed = Set(plan.steps.map(\.key))
        let removed = plan.steps(.removed).count
        let asks = removed > 0 && !workspace.options.yes && !workspace.options.dryRun
        if asks && workspace.options.json {
            throw End(
                error: CommandError(
                    .usage, "Variables would be removed, and --json cannot ask for confirmation.",
                    hint: "Your edits were not saved. Add --yes, or leave out --json."))
        }
        // With --dry-run, the plan is the result.
        if !asks && !workspace.options.dryRun {
            for line in report.lines { workspace.note("  \(line)") }
        }
        let answer = try workspace.confirm(
            removed > 0 ? report.lines : [],
            "Save these changes and remove \(DisplayText.count(removed, "variable"))?")
        if !answer { return report.result(dryRun: true) }
        try work.apply(plan, edited)
        for warning in edited.warnings(about: changed) {
            workspace.context.warn(warning.code, warning.message)
        }
        let advice = try work.advice()
        for key in changed.sorted() {
            if let value = edited.value(of: key) { try advice?.check(value, of: key, workspace) }
        }
        workspace.note(
            "Saved \(DisplayText.count(plan.steps.count, "change")) to "
                + "\(work.values.project.name).")
        return report.result(dryRun: false)
    }

    /// An error after which the text is not offered again.
    private struct End: Error {
        let error: CommandError
    }

    /// Returns whether editing the same text again may fix an error.
    private func mayRetry(after error: any Error) -> Bool {
        switch error {
        case is EditWork.Conflict, is DotEnvError, is ChildProcess.Failure: true
        case let error as VaultError: error.code != .notConfirmed && error.code != .damaged
        // A text that cannot be parsed or is too long, or a declined removal.
        case let error as CommandError: error.code == .usage || error.code == .failed
        default: false
        }
    }

    /// Reports an error and asks whether to discard the text.
    ///
    /// - Throws: `error` if the user discards the text, or cannot be asked.
    private func offerRetry(_ error: any Error) throws {
        var known = (error as? EditWork.Conflict)?.error ?? CommandError(mapping: error)
        // Asks whether to discard, not whether to continue: Enter must not lose the edits.
        let discards = try? TerminalDevice().answer("\(known.message) Discard your edits?")
        if discards == false { return }
        if discards == nil { known.hint = "No one answered, so your edits were discarded." }
        throw known
    }
}
