internal import CommandLineKit

/// A feature that goes on after a command changed the vault, such as `--push`, without the command.
///
/// The features are registered once, in ``FollowUps``. They learn from ``VaultSession/told`` what
/// the command's writes reported.
protocol FollowUp {
    /// The options of a command whose changes it takes further.
    static var options: [OptionSpec] { get }

    /// - Parameter command: nil, or one without ``options``, if none were given.
    init(_ command: ParsedCommand?)

    /// Whether an option asks to take the new values elsewhere.
    var isRequested: Bool { get }

    /// What a question about the change adds, such as `, also on Vercel`; empty for nothing.
    var clause: String { get }

    /// Refuses, before the command does anything, what could not go on.
    func check(_ workspace: Workspace) throws

    /// Adds to the result of a dry run what would follow.
    func planned(after result: CommandResult, _ workspace: Workspace) throws -> CommandResult

    /// Goes on, and adds to the result. The command has done its work, so a failure is a member of
    /// the result.
    func run(after result: CommandResult, _ workspace: Workspace) -> CommandResult
}

extension FollowUp {
    static var options: [OptionSpec] { [] }
    var isRequested: Bool { false }
    var clause: String { "" }
    func check(_ workspace: Workspace) throws {}
    func planned(after result: CommandResult, _ workspace: Workspace) throws -> CommandResult {
        result
    }

    /// Whether the command has the options.
    static func isOffered(by command: ParsedCommand) -> Bool {
        options.allSatisfy { option in
            command.spec.options.contains { $0.name == option.name }
        }
    }
}

extension Workspace {
    /// Whether an option asks to take the new values elsewhere.
    var goesOn: Bool { followUps.contains(where: \.isRequested) }

    /// What a question about the command's change adds.
    var followingClause: String { followUps.map(\.clause).joined() }
}
