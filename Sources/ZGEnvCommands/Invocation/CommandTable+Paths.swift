internal import CommandLineKit

extension CommandTable {
    /// The words that name each command, for tests that must leave none out.
    static var paths: [[String]] { commands.map { $0.spec.path } }
}
