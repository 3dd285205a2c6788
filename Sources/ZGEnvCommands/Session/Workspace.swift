/// What every operation works with: the vault, whom it tells and asks, and the outside.
///
/// An operation takes this and a request with typed fields; it knows nothing of the words that were typed.
package struct Workspace {
    /// The words that name the command, for the audit log.
    let command: String
    /// The global options.
    package let options: GlobalOptions
    /// The outside: environment, clock, files, network, streams.
    package let context: Context
    /// The vault, opened when it is asked for.
    package let session: VaultSession
    /// Who is told and asked.
    let interaction: any Interaction

    /// - Parameter command: The words that name the command, for settings and the audit log.
    package init(
        _ options: GlobalOptions, _ context: Context, command: String, _ use: VaultUse
    ) {
        self.init(
            command, options, context,
            VaultSession(options: options, context: context, command: command, use: use),
            options.json
                ? ScriptInteraction() : TerminalInteraction(context, isQuiet: options.quiet))
    }

    private init(
        _ command: String, _ options: GlobalOptions, _ context: Context, _ session: VaultSession,
        _ interaction: any Interaction
    ) {
        self.command = command
        self.options = options
        self.context = context
        self.session = session
        self.interaction = interaction
    }

    /// The same vault for another command beside this one, which tells and asks somebody else.
    func beside(
        _ command: String, _ options: GlobalOptions, _ context: Context,
        _ interaction: any Interaction
    ) -> Workspace {
        Workspace(command, options, context, session, interaction)
    }
}

extension Workspace {
    /// Tells people something at once; nothing with `--quiet` or `--json`.
    package func note(_ message: String) { interaction.note(message) }

    /// Tells people something with `--verbose` only.
    package func detail(_ message: @autoclosure () -> String) {
        if options.verbose { note(message()) }
    }

    /// Shows a plan and asks, before something that cannot be taken back without work.
    ///
    /// - Parameters:
    ///   - plan: Lines that say what would be done. An empty plan asks nothing.
    ///   - question: Ends in a question mark.
    /// - Returns: False with `--dry-run`, where the plan is the result.
    /// - Throws: ``ExitCode/usage`` when nobody can be asked, ``ExitCode/failed`` when the answer is no.
    func confirm(_ plan: [String], _ question: String) throws -> Bool {
        if options.dryRun { return false }
        if plan.isEmpty || options.yes { return true }
        guard try interaction.confirm(nil, plan, question) else {
            throw CommandError(.failed, "Nothing was changed.")
        }
        return true
    }
}
