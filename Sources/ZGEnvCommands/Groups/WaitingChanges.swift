internal import CommandLineKit

/// What the writes of one command left for groups.
struct WaitingChanges {
    /// The changes in the vault that no place was seen to hold; 0 if no write recorded one.
    var count = 0
    /// Whether the command has told the user.
    var isReported = false

    var isEmpty: Bool { count == 0 }

    /// `1 unpublished change`.
    static func text(_ count: Int) -> String { DisplayText.count(count, "unpublished change") }

    /// The same with the command that publishes.
    static func advice(_ count: Int) -> String { "\(text(count)). Publish with: zg-env sync" }
}
