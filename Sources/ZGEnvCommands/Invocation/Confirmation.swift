internal import CommandLineKit

/// The question before something that cannot be taken back without work.
enum Confirmation {
    /// What the user, or an option, said.
    enum Answer {
        case goOn
        /// `--dry-run`: the plan is the result.
        case stopAfterPlan
    }

    /// Shows the plan and asks.
    ///
    /// - Parameters:
    ///   - plan: Lines that say what would be done. An empty plan asks nothing.
    ///   - question: Ends in a question mark.
    /// - Throws: ``ExitCode/usage`` when nobody can be asked, ``ExitCode/failed`` when the answer is no.
    static func ask(
        _ invocation: Invocation, plan: [String], question: String
    ) throws -> Answer {
        if invocation.options.dryRun { return .stopAfterPlan }
        if plan.isEmpty || invocation.options.yes { return .goOn }
        if let attendant = invocation.attendant {
            guard try attendant.confirm(plan, question) else {
                throw CommandError(.failed, "Nothing was changed.")
            }
            return .goOn
        }
        let unattended = CommandError(
            .usage, "This needs a confirmation, and there is nobody to ask.",
            hint: "Nothing was changed. Look at the plan with --dry-run, then answer with --yes.")
        guard !invocation.options.json else { throw unattended }
        let messages = invocation.context.messages
        for line in plan { try messages.write("  \(DisplayText.safe(line))\n") }
        try messages.flush()
        do {
            let terminal = try TerminalDevice()
            guard try terminal.confirm(question) else {
                throw CommandError(.failed, "Nothing was changed.")
            }
        } catch TerminalError.noTerminal {
            throw unattended
        }
        return .goOn
    }
}
