/// The vault, the user interaction and the environment of an operation.
///
/// An operation takes this and a request with typed fields; it never sees the command line.
package struct Workspace {
    /// The command's words, for the audit log.
    let command: String
    package let options: GlobalOptions
    package let context: Context
    /// The vault, opened at first use.
    package let session: VaultSession
    let interaction: any Interaction
    /// What goes on after the command's changes.
    var followUps: [any FollowUp] = []

    /// Returns the workspace with a project, as if it were given by the environment.
    func using(_ project: String) -> Workspace {
        var options = options
        options.project = project
        return beside(command, options, context, interaction)
    }

    /// Returns a workspace for another command, which opens the vault itself as from a shell.
    func withOwnSession(
        _ command: String, _ options: GlobalOptions, _ context: Context, _ use: VaultUse,
        _ interaction: any Interaction
    ) -> Workspace {
        Workspace(
            command: command, options: options, context: context,
            session: VaultSession(
                options: options, context: context, command: command, use: use,
                stages: session.stages),
            interaction: interaction)
    }

    /// Returns a workspace on the same vault for another command with its own interaction.
    func beside(
        _ command: String, _ options: GlobalOptions, _ context: Context,
        _ interaction: any Interaction
    ) -> Workspace {
        Workspace(
            command: command, options: options, context: context, session: session,
            interaction: interaction)
    }
}

extension Workspace {
    /// - Parameters:
    ///   - command: The command's words, for settings and the audit log.
    ///   - stages: The features that take part in each write.
    init(
        _ options: GlobalOptions, _ context: Context, command: String, _ use: VaultUse,
        stages: [any WriteStage]
    ) {
        self.init(
            command: command, options: options, context: context,
            session: VaultSession(
                options: options, context: context, command: command, use: use,
                stages: stages),
            interaction: options.json
                ? ScriptInteraction() : TerminalInteraction(context, isQuiet: options.quiet))
    }

    /// Shows a message at once, except with `--quiet` or `--json`.
    package func note(_ message: String) { interaction.note(message) }

    /// Shows a message with `--verbose`.
    package func detail(_ message: @autoclosure () -> String) {
        if options.verbose { note(message()) }
    }

    /// Shows a plan and asks, before something that cannot easily be undone.
    ///
    /// - Parameters:
    ///   - plan: One line for each action. An empty plan needs no question.
    ///   - question: Ends in a question mark.
    /// - Returns: False with `--dry-run`, where the plan is the result.
    /// - Throws: ``ExitCode/usage`` if nobody can be asked, ``ExitCode/failed`` if the answer is no.
    func confirm(_ plan: [String], _ question: String) throws -> Bool {
        if options.dryRun { return false }
        if plan.isEmpty || options.yes { return true }
        guard try interaction.confirm(nil, plan, question) else {
            throw CommandError(.failed, "Canceled.")
        }
        return true
    }
}
