internal import CommandLineKit

/// The changes in the vault that no repository of a group was seen to hold, after the writes of one
/// command.
struct WaitingChanges: NewsPart {
    private(set) var count = 0

    /// The later count holds.
    mutating func add(_ other: WaitingChanges) { count = other.count }

    /// `1 unpublished change`.
    static func text(_ count: Int) -> String { DisplayText.count(count, "unpublished change") }

    /// The same with the command that publishes.
    static func advice(_ count: Int) -> String { "\(text(count)). Publish with: zg-env sync" }
}
