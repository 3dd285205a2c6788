package import CommandLineKit
internal import JSON

/// A command of zg-env.
package protocol Command: SendableMetatype {
    /// The description for the parser, help, man page and completions.
    static var spec: CommandSpec { get }

    /// The members of the output with `--json`, in the notation that `docs/commands/README.md`
    /// explains; empty for an internal command. Their encoders have theirs beside them.
    static var fields: String { get }

    static var vaultUse: VaultUse { get }

    /// Whether options take the command's change of variables further, such as `--push`.
    static var changesVariables: Bool { get }

    /// Reads the options and arguments.
    init(_ command: ParsedCommand) throws

    /// Does the work and returns the result to show.
    func run(in workspace: Workspace) throws -> CommandResult
}

extension Command {
    package static var vaultUse: VaultUse { VaultUse() }
    package static var fields: String { "" }
    package static var changesVariables: Bool { false }

    /// Does the work, and what follows it.
    func runAndFollow(in workspace: Workspace) throws -> CommandResult {
        for followUp in workspace.followUps { try followUp.check(workspace) }
        var result = try run(in: workspace)
        for followUp in workspace.followUps {
            result =
                workspace.options.dryRun
                ? try followUp.planned(after: result, workspace)
                : followUp.run(after: result, workspace)
        }
        return result
    }
}

extension CommandResult {
    /// Returns the result with its long lines broken at blanks, on a terminal.
    func folded(_ workspace: Workspace) -> CommandResult {
        guard let width = TerminalStyle(workspace.context).width else { return self }
        var result = self
        let text = text
        result.text = { DisplayText.folded(try text(), to: width) }
        return result
    }

    /// Adds a note that nothing was changed to a dry run without other text.
    mutating func noteDryRun(_ workspace: Workspace) throws {
        guard !workspace.options.json, secretWriter == nil, failure == nil else { return }
        let shown = try text()
        text = { shown }
        if shown.isEmpty { workspace.note("Dry run: nothing was changed.") }
    }
}

extension DefaultStringInterpolation {
    /// Appends the type of a member that has one of these words.
    mutating func appendInterpolation(oneOf words: [String]) {
        appendLiteral(words.map { "\"\($0)\"" }.joined(separator: " | "))
    }

    /// Appends the type of a member that has one of the raw values.
    mutating func appendInterpolation<Word: CaseIterable & RawRepresentable<String>>(
        oneOf type: Word.Type
    ) {
        appendInterpolation(oneOf: type.allCases.map(\.rawValue))
    }
}
