internal import EnvOperations
internal import Vault

/// The platform's rule that a sensitive variable is never one of development.
enum SensitiveScope {
    /// Checks the record that would take `scope`, with the type it has or is given.
    ///
    /// - Parameters:
    ///   - kind: The type named; nil to keep that of the record.
    ///   - records: The key's records in use.
    /// - Throws: ``ExitCode/usage``.
    static func check(
        _ scope: Scope, _ kind: VariableAttributes.Kind?, among records: [Variable]
    ) throws {
        guard scope.targets.contains(.development) else { return }
        let holder = ScopeAssignment(of: scope, among: records).record
        let kept = records.first { $0.id == holder }?.attributes.kind
        guard (kind ?? kept) == .sensitive else { return }
        throw CommandError(
            .usage, "The platform takes no sensitive variable for development.",
            hint: kind == nil
                ? "The value there is sensitive. Name the targets with -t, or say --type encrypted."
                : "Nothing was changed. Name the targets: -t production,preview")
    }
}
