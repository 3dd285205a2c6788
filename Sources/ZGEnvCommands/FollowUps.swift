internal import CommandLineKit

/// The features that go on after a command changed the vault, in the order in which they do.
enum FollowUps {
    private static var all: [any FollowUp.Type] {
        [PushOption.self, GroupPublication.self, LinkOffer.self]
    }

    /// The options of commands that change variables.
    static var options: [OptionSpec] { all.flatMap { $0.options } }

    static func of(_ command: ParsedCommand) -> [any FollowUp] {
        all.map { $0.init($0.isOffered(by: command) ? command : nil) }
    }
}
