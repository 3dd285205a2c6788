internal import CommandLineKit
internal import Vault

/// Checks names of targets and custom environments on the command line.
enum TargetName {
    /// Checks one name of a target or a custom environment.
    ///
    /// - Throws: ``ExitCode/usage`` for an invalid name or a likely typo.
    static func check(_ name: String) throws {
        guard Scope.Targets(name: name) == nil else { return }
        guard !name.isEmpty, name.utf8.count <= VaultFormat.nameLimit, !name.contains(",") else {
            throw CommandError(
                .usage, "Not a valid target name.", hint: "Specify one target, without commas.")
        }
        try checkCustom(name)
    }

    /// Refuses the name of a custom environment that is nearly a fixed target: it is likely a typo.
    static func checkCustom(_ name: String) throws {
        let fixed = Scope.Targets.all.names
        let short = ["prod", "dev", "prev"].first {
            $0 == name || Suggestion.isTypo($0, for: name, shortest: 3)
        }
        let near =
            Suggestion.nearest(to: name, among: fixed)
            ?? short.flatMap { short in fixed.first { $0.hasPrefix(short) } }
        if let near {
            throw CommandError(
                .usage, "\(name) is not a target.", hint: "Did you mean \(near)?")
        }
    }
}
