import CommandLineKit

@testable import ZGEnvCommands

extension CommandTable {
    /// The words of every visible command, for tests that must cover all of them.
    static var paths: [[String]] {
        commands.map { $0.spec }.filter { !$0.isHidden }.map { $0.path }
    }
}
