internal import CommandLineKit

extension CommandTable {
    /// The words that name each command people use, for tests that must leave none out.
    static var paths: [[String]] {
        commands.map { $0.spec }.filter { !$0.isHidden }.map { $0.path }
    }
}
