internal import CommandLineKit
internal import Vault

/// Names of targets and custom environments, as they are typed.
enum TargetName {
    /// Checks one name of a target or a custom environment.
    ///
    /// - Throws: ``ExitCode/usage`` for a slip.
    static func check(_ name: String) throws {
        guard Scope.Targets(name: name) == nil else { return }
        guard !name.isEmpty, name.utf8.count <= VaultFormat.nameLimit, !name.contains(",") else {
            throw CommandError(.usage, "That is no name of one target.")
        }
        try checkCustom(name)
    }

    /// A word that is nearly a fixed target is a slip rather than a custom environment.
    static func checkCustom(_ name: String) throws {
        let fixed = Scope.Targets.all.names
        let short = ["prod", "dev", "prev"].first {
            $0 == name || Suggestion.isSlip($0, for: name, shortest: 3)
        }
        let near =
            Suggestion.nearest(to: name, among: fixed)
            ?? short.flatMap { short in fixed.first { $0.hasPrefix(short) } }
        if let near {
            throw CommandError(
                .usage, "\(name) is no target.", hint: "Did you mean \(near)?")
        }
    }
}
