internal import CommandLineKit

/// Runs commands for the screen, and collects what they say as lines.
struct ScreenCommand {
    let workspace: Workspace
    /// The project's name in the vault, else on Vercel.
    let project: String?

    /// Runs a command on the terminal itself, where it asks as it always does. Its session has the
    /// keys that it has in a shell, not only the screen's index key.
    ///
    /// - Returns: Its name, and its notes, warnings and text, or why it failed.
    func onTerminal(_ action: VariableAction) -> (title: String, lines: [String]) {
        var title = "error"
        do {
            let command = try action.command()
            title = type(of: command).spec.name
            let context = workspace.context.forAnotherCommand()
            let interaction = NotedInteraction(TerminalInteraction(context, isQuiet: false))
            var inner = workspace.withOwnSession(
                title, options, context, type(of: command).vaultUse, interaction)
            inner.followUps = workspace.followUps.map { type(of: $0).init(nil) }
            let result = try inner.session.asking(for: action.purpose) {
                try command.runAndFollow(in: inner)
            }
            let said = try lines(result, interaction.notes, context)
            return (title, said + (result.failure.map(Self.lines) ?? []))
        } catch {
            return (title, Self.lines(of: error))
        }
    }

    /// Runs a command beside the screen's other threads.
    ///
    /// - Parameter ask: Shows a plan and a question on the screen.
    /// - Returns: Its notes, warnings and text.
    func onScreen(
        _ command: any Command, ask: @escaping (_ plan: [String], _ question: String) throws -> Bool
    ) throws -> [String] {
        let context = workspace.context.beside(workspace.session.turns)
        let interaction = ScreenInteraction(ask: ask)
        let result = try command.run(
            in: workspace.beside(type(of: command).spec.name, options, context, interaction))
        if let failure = result.failure { throw failure }
        return try lines(result, interaction.notes, context)
    }

    private var options: GlobalOptions { workspace.options.forNestedCommand(project: project) }

    private func lines(
        _ result: CommandResult, _ notes: [String], _ context: Context
    ) throws -> [String] {
        let text = try (result.shownText + result.text()).split(
            separator: "\n", omittingEmptySubsequences: false)
        var lines = notes + context.warnings.map(\.message) + text.map { String($0) }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    private static func lines(of error: any Error) -> [String] {
        let error = CommandError(mapping: error)
        return [error.message] + (error.hint.map { [$0] } ?? [])
    }
}
